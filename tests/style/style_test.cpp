// The rules of the code base that a program can check: sizes of files, lengths of lines, who
// includes whom, words that comments must not hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FOVEA_SOURCE_DIR;

/// Files over 400 lines, and why.
const std::map<std::string, std::string> kLongFiles = {};

/// Files with lines over 100 columns, and why.
const std::map<std::string, std::string> kWideFiles = {};

/// Folder to the folders that its files may include besides itself.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"codegen/base", {}},
    {"codegen/graph", {"codegen/base"}},
    {"dsl", {"codegen/base", "codegen/graph", "codegen/ops"}},
    {"codegen/ops", {"codegen/base", "codegen/graph", "codegen/kernel"}},
    {"codegen/reference", {"codegen/base", "codegen/graph", "codegen/ops"}},
    {"codegen/autodiff", {"codegen/base", "codegen/graph"}},
    {"codegen/group", {"codegen/base", "codegen/graph"}},
    {"codegen/optimize", {"codegen/base", "codegen/graph"}},
    {"codegen/decode", {"codegen/base", "codegen/graph"}},
    {"codegen/adapt", {"codegen/base", "codegen/graph"}},
    {"codegen/target", {"codegen/base"}},
    {"codegen/fuse", {"codegen/base", "codegen/graph", "codegen/target"}},
    {"codegen/kernel", {"codegen/base", "codegen/target"}},
    {"codegen/ptx", {"codegen/base"}},
    {"codegen/lower",
     {"codegen/base", "codegen/graph", "codegen/ops", "codegen/kernel", "codegen/fuse",
      "codegen/target"}},
    {"codegen/plan", {"codegen/base", "codegen/kernel", "codegen/target"}},
    {"codegen/emit", {"codegen/base", "codegen/kernel", "codegen/plan", "codegen/target"}},
    {"codegen/emit/cpp",
     {"codegen/base", "codegen/kernel", "codegen/plan", "codegen/target", "codegen/emit"}},
    {"codegen/emit/nvptx",
     {"codegen/base", "codegen/kernel", "codegen/plan", "codegen/target", "codegen/emit"}},
    {"runtime", {}},
    {"models", {"dsl"}},
};

/// Passes make nodes with the constexpr functions of these headers, those that models use.
bool is_builder_of_nodes(const std::string& from, const std::string& target) {
    static const std::set<std::string> passes = {
        "codegen/adapt", "codegen/autodiff", "codegen/decode", "codegen/group", "codegen/optimize"};
    static const std::set<std::string> builders = {
        "attention",  "concat",      "contraction", "cross_entropy",
        "dropout",    "elementwise", "flatten",     "fused_attention",
        "gather",     "key_parts",   "layer_norm",  "linear_cross_entropy",
        "loss_terms", "losses",      "mask",        "movement",
        "reduction",  "segments",    "sinusoids",   "softmax",
        "ternary",    "windows"};
    const fs::path path = target;
    return passes.count(from) && target.starts_with("codegen/ops/") && path.extension() == ".h" &&
           builders.count(path.stem().string());
}

/// Files that include a folder which theirs may not, and why.
const std::map<std::pair<std::string, std::string>, std::string> kExceptions = {
    {{"codegen/emit/without_llvm.cpp", "codegen/emit/nvptx"}, "it stands in for that folder"},
    {{"codegen/ops/dropout.cpp", "runtime"}, "one Philox for the reference and for programs"},
    {{"codegen/emit/cpp/signature.cpp", "runtime"}, "one order of numbers for kernels and files"},
};

struct Source {
    std::string name;  // from the root
    std::vector<std::string> lines;
};

bool is_source(const fs::path& path) {
    static const std::set<std::string> extensions = {".h", ".cpp", ".sh", ".txt", ".md"};
    return extensions.count(path.extension().string()) != 0;
}

std::vector<Source> all_sources() {
    std::vector<Source> sources;
    for (const char* folder : {"codegen", "dsl", "runtime", "models", "tools", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
            if (!entry.is_regular_file() || !is_source(entry.path())) continue;
            Source source{fs::relative(entry.path(), kRoot).string(), {}};
            if (source.name.starts_with("tests/golden/")) continue;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) source.lines.push_back(line);
            sources.push_back(std::move(source));
        }
    }
    std::sort(sources.begin(), sources.end(),
              [](const Source& a, const Source& b) { return a.name < b.name; });
    return sources;
}

bool is_code(const std::string& name) { return name.ends_with(".h") || name.ends_with(".cpp"); }

/// Code points, so that an arrow is one column.
std::size_t columns(const std::string& line) {
    return std::size_t(
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// `codegen/ops` for `codegen/ops/softmax.h`, `runtime` for what is in it, the innermost of
/// several; empty: free to include.
std::string folder_of(const std::string& name) {
    std::string found;
    for (const auto& [folder, allowed] : kMayInclude)
        if (name.starts_with(folder + "/") && folder.size() > found.size()) found = folder;
    return found;
}

/// The file that an #include "…" names, from the root; empty for other lines.
std::string included(const Source& source, const std::string& line) {
    if (!line.starts_with("#include \"")) return "";
    std::string name = line.substr(10, line.find('"', 10) - 10);
    for (const fs::path& candidate : {fs::path(source.name).parent_path() / name, fs::path(name)})
        if (fs::exists(kRoot / candidate)) return candidate.lexically_normal().string();
    return "";
}

}  // namespace

TEST_CASE("files are short and lines fit") {
    for (const Source& source : all_sources()) {
        if (!is_code(source.name)) continue;
        CAPTURE(source.name);
        if (!kLongFiles.count(source.name)) CHECK(source.lines.size() <= 400);
        for (std::size_t i = 0; i < source.lines.size() && !kWideFiles.count(source.name); ++i)
            CHECK_MESSAGE(columns(source.lines[i]) <= 100, source.name << ":" << i + 1);
    }
}

TEST_CASE("a folder of many files has an inner order") {
    std::map<std::string, int> files;  // by folder
    for (const Source& source : all_sources())
        if (!source.name.starts_with("tests/"))
            ++files[fs::path(source.name).parent_path().string()];
    for (const auto& [folder, count] : files) CHECK_MESSAGE(count <= 40, folder);
}

TEST_CASE("no source stands beside the folders") {
    for (const auto& entry : fs::directory_iterator(kRoot))
        CHECK_MESSAGE(!is_code(entry.path().filename().string()), entry.path().string());
}

TEST_CASE("includes go in one direction") {
    for (const Source& source : all_sources()) {
        const std::string from = folder_of(source.name);
        if (from.empty() || !is_code(source.name)) continue;
        for (const std::string& line : source.lines) {
            const std::string target = included(source, line), to = folder_of(target);
            if (target.empty() || to == from) continue;
            const bool allowed = kMayInclude.at(from).count(to) ||
                                 is_builder_of_nodes(from, target) ||
                                 kExceptions.count({source.name, to});
            CHECK_MESSAGE(allowed, source.name << " includes " << target);
        }
    }
}

TEST_CASE("files are named for what they hold, and hold no plans") {
    const std::vector<std::string> names = {"utils", "helpers", "misc", "manager", "_new", "_v2"};
    const std::vector<std::string> words = {std::string("TO") + "DO", std::string("FIX") + "ME"};
    for (const Source& source : all_sources()) {
        CAPTURE(source.name);
        const std::string stem = fs::path(source.name).stem().string();
        for (const std::string& name : names) CHECK(stem.find(name) == std::string::npos);
        for (const std::string& line : source.lines)
            for (const std::string& word : words) CHECK(line.find(word) == std::string::npos);
    }
}

TEST_CASE("a file opens with what it is for") {
    for (const Source& source : all_sources()) {
        if (!source.name.ends_with(".h") || source.lines.empty()) continue;
        CAPTURE(source.name);
        CHECK(source.lines[0].starts_with("//"));
    }
}
