// Finding the folder of the cache.
#include "tools/fovea/files/cache.h"

#include <unistd.h>

#include <cstdlib>

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

}  // namespace fovea::tool
