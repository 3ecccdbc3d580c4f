// Instruction sets, cores, memory, folders.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "codegen/base/error.h"
#include "runtime/isa.h"
#include "runtime/parallel/cores.h"
#include "tools/fovea/doctor/findings.h"
#include "tools/fovea/files/cache.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;
using State = Finding::State;

/// What the compiler takes for one file of a large model, about.
constexpr double kLeastMemory = 1.0, kLeastRoom = 0.2;  // GiB

Finding instruction_sets() {
    std::string all;
    for (std::string_view isa : runtime::isa_names())
        if (runtime::machine_has(isa)) all += (all.empty() ? "" : ", ") + std::string(isa);
    const char* chosen = std::getenv("FOVEA_ISA");
    if (chosen && *chosen) all += fmt::format("; FOVEA_ISA={} chooses", chosen);
    return {"instruction sets", State::ok, all, {}};
}

Finding usable_cores() {
    const runtime::Cores& cores = runtime::cores();
    std::string text = fmt::format("{} of {}", cores.count(), cores.online);
    if (cores.quota > 0) text += fmt::format(", by a quota of {}", cores.quota);
    return {"cores", State::ok, text, {}};
}

/// A line of /proc/meminfo, in GiB.
std::optional<double> memory_line(const std::string& name) {
    std::ifstream file("/proc/meminfo");
    for (std::string word; file >> word;) {
        double kilobytes = 0;
        if (word == name + ":" && file >> kilobytes) return kilobytes / 1024 / 1024;
    }
    return std::nullopt;
}

/// What this process's control group grants, in GiB; nothing where it grants all.
std::optional<double> memory_of_group() {
    std::ifstream file("/sys/fs/cgroup/memory.max");
    double bytes = 0;
    return file >> bytes ? std::optional(bytes / (1 << 30)) : std::nullopt;
}

Finding memory() {
    auto total = memory_line("MemTotal"), available = memory_line("MemAvailable");
    if (!total || !available)
        return {"memory", State::ok, "/proc/meminfo does not say how much there is", {}};
    total = std::min(*total, memory_of_group().value_or(*total));
    available = std::min(*available, *total);
    const std::string text = fmt::format("{:.1f} of {:.1f} GiB are free", *available, *total);
    if (*available >= kLeastMemory) return {"memory", State::ok, text, {}};
    return {"memory", State::absent, text,
            "large models take the compiler 1 GiB for each core: end other programs"};
}

std::optional<double> room_in(const fs::path& folder) {
    struct statvfs status{};
    if (statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return double(status.f_bavail) * double(status.f_frsize) / (1 << 30);
}

Finding temporary_files() {
    const char* advice = "set TMPDIR to a folder that can be written, with room";
    try {
        const TemporaryFolder folder;
        const auto room = room_in(folder.path());
        const std::string text = fmt::format("{}, with room for {:.1f} GiB",
                                             temporary_base().string(), room.value_or(0));
        if (room && *room < kLeastRoom) return {"temporary files", State::missing, text, advice};
        return {"temporary files", State::ok, text, {}};
    } catch (const UserError& error) {
        return {"temporary files", State::missing, error.what(), advice};
    }
}

std::string contents_of(const fs::path& folder) {
    std::uintmax_t files = 0, bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        std::error_code gone;
        const std::uintmax_t size = entry.file_size(gone);
        if (gone) continue;
        ++files;
        bytes += size;
    }
    return fmt::format("{} models in {:.1f} MiB", files, double(bytes) / (1 << 20));
}

Finding cache() {
    const std::string named = cache_path().string();
    if (const fs::path folder = cache_folder(); !folder.empty())
        return {"cache", State::ok, fmt::format("{}: {}", named, contents_of(folder)), {}};
    return {"cache", State::absent,
            named.empty() ? "neither XDG_CACHE_HOME nor HOME is set"
                          : fmt::format("'{}' cannot be written", named),
            "models are compiled at each call: set XDG_CACHE_HOME to a folder that can be written"};
}

}  // namespace

void find_machine(std::vector<Finding>& findings) {
    for (const auto look : {instruction_sets, usable_cores, memory, temporary_files, cache})
        findings.push_back(look());
}

}  // namespace fovea::tool
