#include "tests/package/installed.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace fovea::test {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(FOVEA_BINARY_DIR) / "package_test";
const fs::path kCases = fs::path(FOVEA_SOURCE_DIR) / "tests/package";

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

tool::ProcessResult run_shell(const std::string& command) {
    return tool::run_process({"sh", "-c", command});
}

std::string succeeds(const std::string& command) {
    const tool::ProcessResult result = run_shell(command);
    REQUIRE_MESSAGE(result.status == 0, command << "\n" << result.output);
    return result.output;
}

const fs::path& installed() {
    static const fs::path prefix = [] {
        fs::remove_all(kFolder);
        fs::create_directories(kFolder);
        const fs::path first = kFolder / "first", moved = kFolder / "moved";
        succeeds("cmake --install '" FOVEA_BINARY_DIR "' --prefix '" + first.string() + "'");
        fs::rename(first, moved);
        return moved;
    }();
    return prefix;
}

std::string in_one_line(const std::string& text) {
    std::istringstream stream(text);
    std::string line;
    for (std::string word; stream >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

}  // namespace fovea::test
