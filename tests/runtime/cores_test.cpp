// The cores that a process may use, by quotas of control groups as Linux writes them.
#include "runtime/parallel/cores.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace fovea::runtime;

namespace {

namespace fs = std::filesystem;

/// A folder in the place of /sys/fs/cgroup.
class Groups {
  public:
    Groups() : path_(fs::temp_directory_path() / "fovea_cores_test") { fs::remove_all(path_); }
    ~Groups() { fs::remove_all(path_); }
    Groups& file(const std::string& name, const std::string& text) {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text << '\n';
        return *this;
    }
    int quota(const std::string& groups) const { return quota_of_groups(groups, path_.string()); }

  private:
    fs::path path_;
};

}  // namespace

TEST_CASE("cores: a quota of processor time is rounded up to cores") {
    CHECK(processors_of_quota("max", "100000") == 0);
    CHECK(processors_of_quota("-1", "100000") == 0);
    CHECK(processors_of_quota("100000", "100000") == 1);
    CHECK(processors_of_quota("100001", "100000") == 2);
    CHECK(processors_of_quota("50000", "100000") == 1);
    CHECK(processors_of_quota("1600000", "100000") == 16);
    CHECK(processors_of_quota("100000", "0") == 0);
    CHECK(processors_of_quota("", "") == 0);
    CHECK(processors_of_quota("100000x", "100000") == 0);
}

TEST_CASE("cores: of nested groups the least quota holds") {
    Groups second;
    second.file("cpu.max", "max 100000")
        .file("box/cpu.max", "300000 100000")
        .file("box/inner/cpu.max", "max 100000")
        .file("box/small/cpu.max", "150000 100000");
    CHECK(second.quota("0::/\n") == 0);
    CHECK(second.quota("0::/box/inner\n") == 3);
    CHECK(second.quota("0::/box/small\n") == 2);
    CHECK(second.quota("0::/elsewhere\n") == 0);
    CHECK(second.quota("") == 0);
}

TEST_CASE("cores: control groups of version 1, under the names of their controllers") {
    Groups first;
    first.file("cpu,cpuacct/job/cpu.cfs_quota_us", "250000")
        .file("cpu,cpuacct/job/cpu.cfs_period_us", "100000")
        .file("cpu/free/cpu.cfs_quota_us", "-1")
        .file("cpu/free/cpu.cfs_period_us", "100000")
        .file("cpuset/job/cpu.cfs_quota_us", "100000")
        .file("cpuset/job/cpu.cfs_period_us", "100000");
    CHECK(first.quota("3:cpuset:/job\n2:cpu,cpuacct:/job\n0::/\n") == 3);
    CHECK(first.quota("1:cpu:/free\n") == 0);
    CHECK(first.quota("3:cpuset:/job\n") == 0);
}

TEST_CASE("cores: a mask and a quota bound each other") {
    const Cores all{{0, 1, 2, 3}, 4, 0}, masked{{1, 3}, 4, 0}, granted{{0, 1, 2, 3}, 4, 3};
    CHECK(all.count() == 4);
    CHECK(all.whole_machine());
    CHECK(masked.count() == 2);
    CHECK(!masked.whole_machine());
    CHECK(granted.count() == 3);
    CHECK(!granted.whole_machine());
    CHECK(Cores{}.count() == 1);
    CHECK(cores().count() >= 1);
    CHECK(cores().count() <= cores().online);
}
