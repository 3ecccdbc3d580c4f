// What Linux says of affinity and control groups, versions 1 and 2.
#include "cores.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <thread>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

namespace fovea::runtime {
namespace {

/// The start of a file, of up to 64 KiB; empty where it cannot be read. Without streams, which are
/// some kilobytes of code in a program that has no others.
std::string start_of_file(const std::string& path) {
    std::string text;
    if (std::FILE* const file = std::fopen(path.c_str(), "re")) {
        text.resize(std::size_t{1} << 16);
        text.resize(std::fread(text.data(), 1, text.size(), file));
        std::fclose(file);
    }
    return text;
}

/// The first word of a text, which is left without it and what divides it from the next.
std::string_view take_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

int quota_of_folder(const std::string& folder) {
    const std::string both = start_of_file(folder + "/cpu.max");
    std::string_view quota = both, period;
    if (const std::string_view first = take_word(quota); !first.empty() && !quota.empty())
        return processors_of_quota(first, take_word(quota));
    const std::string of_quota = start_of_file(folder + "/cpu.cfs_quota_us");
    const std::string of_period = start_of_file(folder + "/cpu.cfs_period_us");
    quota = of_quota, period = of_period;
    return processors_of_quota(take_word(quota), take_word(period));
}

/// Of two quotas the smaller, where 0 is none.
int least(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// The least quota of the group `path` and those that it is in, under `mount`.
int quota_of_path(const std::string& mount, std::string path) {
    int quota = quota_of_folder(mount);
    while (path.size() > 1) {
        quota = least(quota, quota_of_folder(mount + path));
        path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    return quota;
}

bool holds_cpu(const std::string& controllers) {
    return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

Cores cores_at_start() {
    Cores cores;
#ifdef __linux__
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &mask)) cores.allowed.push_back(i);
    }
    cores.online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    cores.quota = quota_of_groups(start_of_file("/proc/self/cgroup"), "/sys/fs/cgroup");
#else
    cores.online = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
    return cores;
}

}  // namespace

int Cores::count() const {
    const int processors = allowed.empty() ? online : static_cast<int>(allowed.size());
    return std::max(1, least(processors, quota));
}

bool Cores::whole_machine() const { return count() >= online; }

const Cores& cores() {
    const static Cores at_start = cores_at_start();
    return at_start;
}

int processors_of_quota(std::string_view quota, std::string_view period) {
    const auto number = [](std::string_view text) {
        long long value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size() ? value : 0;
    };
    const long long time = number(quota), of = number(period);
    if (time <= 0 || of <= 0) return 0;
    return static_cast<int>(std::min(time / of + (time % of != 0), 1LL << 20));
}

int quota_of_groups(const std::string& groups, const std::string& mount) {
    int quota = 0;
    for (std::string_view rest = groups; !rest.empty();) {  // number:controllers:path
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (controllers.empty()) quota = least(quota, quota_of_path(mount, path));
        if (!holds_cpu(controllers)) continue;
        for (const std::string& folder : {"/" + controllers, std::string("/cpu")})
            quota = least(quota, quota_of_path(mount + folder, path));
    }
    return quota;
}

}  // namespace fovea::runtime
