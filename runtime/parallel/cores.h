// The cores that this process may use: by its affinity mask and the quotas of its control groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

struct Cores {
    std::vector<int> allowed;  // numbers of processors, by the affinity mask at the start
    int online = 1;  // processors of the machine
    int quota = 0;  // processors whose time the control groups grant, 0: all

    /// At least 1.
    int count() const;
    /// Whether nothing keeps this process from any processor of the machine.
    bool whole_machine() const;
};

/// Those of this process when it is first called, whatever a thread is bound to since.
const Cores& cores();

/// The processors that a quota grants, rounded up; 0 where there is none. `quota` and `period` are
/// in microseconds: `max` or -1 is no quota.
int processors_of_quota(std::string_view quota, std::string_view period);

/// The least quota of the control groups in `groups`, the text of /proc/self/cgroup, and of those
/// that they are in, by the files under `mount` (/sys/fs/cgroup); 0 where there is none.
int quota_of_groups(const std::string& groups, const std::string& mount);

}  // namespace fovea::runtime
