#include "tools/fovea/files/copy_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/base/error.h"
#include "codegen/emit/emitter.h"
#include "runtime/files/files.h"
#include "tools/fovea/files/home.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOnce = "#pragma once\n";

/// `FOVEA_TYPED_VIEW_H` of `typed/view.h`.
std::string guard_of(const fs::path& name) {
    std::string guard = "FOVEA_" + name.string();
    for (char& c : guard)
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? char(std::toupper(c)) : '_';
    return guard;
}

std::string source_text(const fs::path& file) {
    const std::vector<std::byte> bytes = runtime::read_file(file.string());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string with_guard(std::string text, const fs::path& name) {
    const std::size_t at = text.find(kOnce);
    if (at == text.npos) return text;
    const std::string guard = guard_of(name);
    return text.replace(at, kOnce.size(), fmt::format("#ifndef {0}\n#define {0}\n", guard)) +
           fmt::format("\n#endif  // {}\n", guard);
}

/// Removes what an earlier call wrote; nothing else is touched.
void make_room(const fs::path& copy) {
    if (!fs::exists(copy)) return;
    if (!fs::exists(copy / "description.h") && !fs::is_empty(copy))
        throw UserError(fmt::format(
            "'{}' is where the runtime goes, and holds something else: choose another folder",
            copy.string()));
    fs::remove_all(copy);
}

/// Tokenizers of files, and what reads texts by them, or images, are for programs that link the
/// runtime of an installed fovea.
bool is_of_checkpoints(const fs::path& name) {
    for (const char* folder : {"tokens", "language", "images"})
        if (*name.begin() == folder) return true;
    return false;
}

bool is_of_translator(const fs::path& name) {
    for (const char* folder : {"translator", "text", "trainer", "decoding"})
        if (*name.begin() == folder) return true;
    return false;
}

}  // namespace

bool goes_with_models(const fs::path& name) { return !is_of_checkpoints(name); }

std::vector<fs::path> runtime_files(const fs::path& runtime) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(runtime)) {
        const fs::path extension = entry.path().extension();
        if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void copy_runtime(const fs::path& folder, WithTranslator with) {
    const fs::path runtime = find_home().sources / "runtime";
    const fs::path copy = folder / "fovea";
    make_room(copy);
    for (const fs::path& file : runtime_files(runtime)) {
        const fs::path name = fs::relative(file, runtime);
        if (!goes_with_models(name)) continue;
        if (with == WithTranslator::no && is_of_translator(name)) continue;
        fs::create_directories((copy / name).parent_path());
        const bool is_header = file.extension() == ".h";
        runtime::write_file_atomically(
            (copy / name).string(),
            is_header ? with_guard(source_text(file), name) : source_text(file));
    }
    runtime::write_file_atomically((copy / "runtime.cmake").string(), emit::runtime_cmake_text());
}

}  // namespace fovea::tool
