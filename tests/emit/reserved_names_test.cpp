// What the emitter writes of the runtime's names, none may be given to a tensor or a size: it would
// hide the function that a kernel calls.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "codegen/emit/cpp/names.h"

namespace fs = std::filesystem;

namespace {

const fs::path kSource = FOVEA_SOURCE_DIR;

template <class Visit>
void each_line_below(const fs::path& folder, Visit&& visit) {
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
        const std::string extension = file.path().extension();
        if (extension != ".h" && extension != ".cpp") continue;
        if (file.path().filename() == "names.cpp") continue;
        std::ifstream lines(file.path());
        for (std::string line; std::getline(lines, line);) visit(line);
    }
}

/// The function, type, alias or constant that a line in no block declares; empty: none.
std::string declared_by(std::string line) {
    static const std::regex passed(
        R"(__attribute__\(\(.*?\)\)|alignas\(.*?\)|FOVEA_\w+(\(.*?\))?|requires\(.*?\))");
    static const std::regex type(R"(^(?:struct|class|enum class)\s+(\w+))");
    static const std::regex alias(R"(^using (?:\w+::)*(\w+)\s*[=;])");
    static const std::regex other(R"((\w+)\s*[({=;\[])");
    static const std::regex skipped(R"(^(namespace|template|extern|return|if|for)\b)");
    if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) return "";
    line = std::regex_replace(line, passed, "");
    std::smatch found;
    if (std::regex_search(line, skipped)) return "";
    if (std::regex_search(line, found, type) || std::regex_search(line, found, alias) ||
        std::regex_search(line, found, other))
        return found[1];
    return "";
}

std::set<std::string> names_of_runtime() {
    std::set<std::string> names;
    each_line_below(kSource / "runtime/cpu",
                    [&](const std::string& line) { names.insert(declared_by(line)); });
    return names;
}

/// The words of the texts that the emitter writes.
std::set<std::string> words_of_emitter() {
    static const std::regex text(R"~("((?:[^"\\]|\\.)*)")~"), word(R"(\w+)");
    std::set<std::string> words;
    each_line_below(kSource / "codegen/emit/cpp", [&](const std::string& line) {
        if (line.starts_with("#include")) return;
        for (std::sregex_iterator at(line.begin(), line.end(), text), end; at != end; ++at) {
            const std::string inside = (*at)[1];
            for (std::sregex_iterator i(inside.begin(), inside.end(), word); i != end; ++i)
                words.insert(i->str());
        }
    });
    return words;
}

}  // namespace

TEST_CASE("names of the runtime that generated code uses are reserved") {
    const std::set<std::string> runtime = names_of_runtime();
    REQUIRE(runtime.count("dealt_points") == 1);
    REQUIRE(runtime.count("Panels") == 1);
    int used = 0;
    for (const std::string& word : words_of_emitter()) {
        if (!runtime.count(word)) continue;
        ++used;
        CHECK_MESSAGE(fovea::emit::is_reserved(word),
                      word << " is not among kRuntime of names.cpp");
    }
    CHECK(used > 150);
}
