// A list of the files, by the key; the library, by the key and what the files are.
#include "tools/fovea/files/kept_library.h"

#include <algorithm>
#include <fstream>

#include "tools/fovea/files/cache.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace fs = std::filesystem;

KeptLibrary::KeptLibrary(const Hash& key)
    : key_(key), folder_(cache_folder()), begun_(fs::file_time_type::clock::now()) {}

fs::path KeptLibrary::list() const { return folder_ / (key_.text() + ".files"); }

fs::path KeptLibrary::library_of(const std::vector<std::string>& files) const {
    Hash hash = key_;
    for (const std::string& file : files) hash.add_file(file);
    return folder_ / (hash.text() + ".so");
}

std::optional<KeptLibrary::Found> KeptLibrary::find() const {
    if (folder_.empty()) return {};
    Found found;
    std::ifstream lines(list());
    for (std::string line; std::getline(lines, line);) found.files.push_back(line);
    if (found.files.empty()) return {};
    found.library = library_of(found.files);
    if (!is_whole_library(found.library)) return {};
    return found;
}

void KeptLibrary::keep(const fs::path& library, const std::vector<std::string>& files) const {
    const auto stays = [&](const std::string& file) {
        std::error_code error;
        const fs::file_time_type changed = fs::last_write_time(file, error);
        return !error && changed < begun_ && file.find('\n') == file.npos;
    };
    if (folder_.empty() || !std::ranges::all_of(files, stays)) return;
    std::string text;
    for (const std::string& file : files) text += file + "\n";
    const TemporaryFolder folder;
    write_temporary(folder.path() / "list", text);
    keep_in_cache(library, library_of(files));
    keep_in_cache(folder.path() / "list", list());
}

}  // namespace fovea::tool
