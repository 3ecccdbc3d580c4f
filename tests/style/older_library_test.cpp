// What built programs bring along is compiled for WebAssembly, too, with a library of LLVM 14, and
// only where emscripten is installed: the parts that this library lacks stand in none of it.
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

const fs::path kRuntime = fs::path(FOVEA_SOURCE_DIR) / "runtime";

/// Folders that only programs of an installed fovea link.
const std::set<std::string> kLeftOut = {"images", "language", "python", "tokens"};

constexpr std::array<std::string_view, 5> kLacking = {
    "std::ranges::", "std::views::", "std::bit_cast", "std::format(", "std::jthread"};

bool is_compiled(const fs::path& path) {
    return path.extension() == ".h" || path.extension() == ".cpp";
}

}  // namespace

TEST_CASE("the runtime of built programs uses what older libraries have") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kRuntime)) {
        const fs::path name = fs::relative(entry.path(), kRuntime);
        if (!is_compiled(name) || kLeftOut.count(name.begin()->string())) continue;
        ++files;
        std::ifstream file(entry.path());
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            for (const std::string_view lacking : kLacking) {
                INFO("runtime/", name.string(), ":", number, ": ", lacking);
                CHECK(line.find(lacking) == std::string::npos);
            }
        }
    }
    CHECK(files > 50);
}
