// The README's code is code that compiles, and its compiler's message is the compiler's.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/golden.h"

namespace {

namespace fs = std::filesystem;

const fs::path kSource = FOVEA_SOURCE_DIR;

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What g++ says of `code` as a model file named block.cpp: the text of its because{...}.
std::string message_for(const std::string& code) {
    fs::path folder = fs::path(FOVEA_BINARY_DIR) / "readme";
    fs::create_directories(folder);
    std::ofstream(folder / "block.cpp") << code;
    std::string command = "cd '" + folder.string() + "' && g++ -std=c++20 -fsyntax-only -I '" +
                          kSource.string() + "' -I '" + (kSource / "dsl").string() +
                          "' block.cpp 2> message.txt";
    REQUIRE(std::system(command.c_str()) != 0);
    std::string output = read(folder / "message.txt");
    std::size_t from = output.find("{\"", output.find("because<"));
    std::size_t to = output.find("\"}>", from);
    REQUIRE(from != output.npos);
    REQUIRE(to != output.npos);
    return output.substr(from + 2, to - from - 2);
}

std::string wrong_block() {
    std::string code = read(kSource / "models/lessons/block.cpp");
    std::string right = "x, ffn, hidden)", wrong = "x, ffn, ffn)";
    std::size_t at = code.find(right);
    REQUIRE(at != code.npos);
    return code.replace(at, right.size(), wrong);
}

/// The text between the two marks of the README, and where it stands.
struct Marked {
    std::string readme;
    std::size_t from, to;
};

Marked marked(const std::string& name) {
    std::string readme = read(kSource / "README.md");
    std::string mark = "<!-- " + name + " -->\n```text\n";
    std::size_t from = readme.find(mark);
    REQUIRE_MESSAGE(from != readme.npos, "README.md has no mark " << name);
    from += mark.size();
    return {readme, from, readme.find("\n```", from)};
}

}  // namespace

TEST_CASE("the README's first message is the compiler's") {
    std::string message = message_for(wrong_block());
    Marked old = marked("message");
    if (fovea::test::updates_golden_files()) {
        old.readme.replace(old.from, old.to - old.from, message);
        std::ofstream(kSource / "README.md", std::ios::binary) << old.readme;
        return;
    }
    CHECK(old.readme.substr(old.from, old.to - old.from) == message);
}

TEST_CASE("the README shows the lesson as it is") {
    CHECK(read(kSource / "README.md").find(read(kSource / "models/lessons/block.cpp")) !=
          std::string::npos);
}
