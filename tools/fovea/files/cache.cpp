// Finding the folder of the cache.
#include "tools/fovea/files/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/fovea/interrupts.h"

namespace fovea::tool {

namespace fs = std::filesystem;

fs::path cache_path() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (cache && *cache) return fs::path(cache) / "fovea";
    return home && *home ? fs::path(home) / ".cache/fovea" : fs::path();
}

fs::path cache_folder() {
    const fs::path folder = cache_path();
    if (folder.empty()) return {};
    std::error_code error;
    fs::create_directories(folder, error);
    return error || access(folder.c_str(), W_OK) ? fs::path() : folder;
}

void keep_in_cache(const fs::path& made, const fs::path& kept) {
    if (kept.empty()) return;
    fs::path part = kept;
    part += fmt::format(".{}", getpid());
    const RemovedOnSignal removed(part);
    std::error_code error;
    fs::copy_file(made, part, fs::copy_options::overwrite_existing, error);
    if (!error) fs::rename(part, kept, error);
    if (error) fs::remove(part, error);
}

}  // namespace fovea::tool
