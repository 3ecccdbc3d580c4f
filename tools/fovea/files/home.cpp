#include "tools/fovea/files/home.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstdlib>

#include "codegen/base/error.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

/// What every model includes.
constexpr const char* kLanguage = "dsl/fovea.h";

}  // namespace

Home find_home() {
    const char* chosen = std::getenv("FOVEA_HOME");
    if (chosen && *chosen) {
        const fs::path home = chosen;
        if (!fs::exists(home / kLanguage))
            throw UserError(fmt::format("FOVEA_HOME is '{}', which has no {}", chosen, kLanguage));
        return {home, home / "build/libfovea_runtime.a", home / "build/precompiled/model_entry.h"};
    }
    const fs::path command = command_file(), folder = command.parent_path();
    Home home;
    if (const fs::path link = folder / "fovea_sources"; fs::is_symlink(link)) {
        home = {fs::read_symlink(link), folder / "libfovea_runtime.a",
                folder / "precompiled/model_entry.h"};
    } else {
        home = {(folder / FOVEA_FROM_COMMAND_TO_SOURCES).lexically_normal(),
                (folder / FOVEA_FROM_COMMAND_TO_ARCHIVES / "libfovea_runtime.a").lexically_normal(),
                {}};
    }
    if (!fs::exists(home.sources / kLanguage))
        throw UserError(
            fmt::format("'{}' has no {}, which '{}' needs: install fovea again, or set "
                        "FOVEA_HOME to its sources",
                        home.sources.string(), kLanguage, command.string()));
    return home;
}

fs::path command_file() {
    std::error_code no_proc;  // as in a bare chroot
    fs::path file = fs::read_symlink("/proc/self/exe", no_proc);
    return no_proc ? fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN))) : file;
}

}  // namespace fovea::tool
