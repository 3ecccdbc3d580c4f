// By the calls of the system: <filesystem> would be 8 KB of every program.
#include "distinct_paths.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "../error.h"

namespace fovea::runtime {

namespace {

constexpr std::array<std::string_view, 8> kFilesOfCheckpoint = {
    "adapter_config.json",    "adapter_model.safetensors", "config.json",
    "generation_config.json", "model.safetensors",         "model.safetensors.index.json",
    "tokenizer.json",         "tokenizer_config.json"};

bool is_of_checkpoint(std::string_view name) {
    const bool is_shard = name.starts_with("model-") && name.ends_with(".safetensors");
    return is_shard || std::find(kFilesOfCheckpoint.begin(), kFilesOfCheckpoint.end(), name) !=
                           kFilesOfCheckpoint.end();
}

/// Those that are there, of the names that transformers and PEFT give them, shards among them; the
/// path itself where it is no folder.
std::vector<std::string> files_at(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder) return {path};
    std::vector<std::string> files;
    while (const dirent* entry = ::readdir(folder.get()))
        if (is_of_checkpoint(entry->d_name)) files.push_back(path + "/" + entry->d_name);
    return files;
}

/// Without links and `..`, where the path is there.
std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
    return real ? real.get() : "";
}

/// The same of a file that need not be there, whose folder is.
std::string real_place(const std::string& path) {
    if (std::string real = real_path(path); !real.empty()) return real;
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    return real_path(folder) + "/" + (slash == path.npos ? path : path.substr(slash + 1));
}

bool is_same_file(const std::string& a, const std::string& b) {
    struct stat of_a{}, of_b{};
    if (::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    return real_place(a) == real_place(b);
}

}  // namespace

void verify_distinct(const std::vector<NamedPath>& written, const std::vector<NamedPath>& read) {
    std::vector<NamedPath> others;
    for (const NamedPath& path : read)
        for (std::string& file : files_at(path.path))
            others.push_back({path.option, std::move(file)});
    for (const NamedPath& path : written) {
        for (const NamedPath& other : others) {
            if (!is_same_file(path.path, other.path)) continue;
            throw UserError(other.option + " and " + path.option + " are one file, '" + path.path +
                            "'");
        }
        others.push_back(path);
    }
}

}  // namespace fovea::runtime
