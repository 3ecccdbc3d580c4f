// Finding the folder of the cache.
#include "tools/fovea/files/cache.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

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

bool is_whole_library(const fs::path& file) {
    // Its table of sections stands last.
    Elf64_Ehdr header{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    return !error && header.e_shoff > 0 &&
           header.e_shoff + std::uint64_t(header.e_shnum) * header.e_shentsize <= size;
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
