// Every source file is as clang-format 19 writes it. Without clang-format this is skipped, unless
// the environment variable FOVEA_REQUIRE names it.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSources = FOVEA_SOURCE_DIR;

/// The status of a shell command, and the first of what it prints.
struct Outcome {
    int status;
    std::string text;
};

Outcome outcome_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return {-1, "cannot start: " + command};
    for (int c; (c = std::fgetc(pipe)) != EOF;)
        if (text.size() < 4000) text += char(c);
    return {pclose(pipe), text};
}

/// Expected text and files that show mistakes stay as they were written.
bool is_formatted(const std::string& name) {
    return name.find("/cases/") == std::string::npos && !name.starts_with("tests/golden/");
}

std::vector<std::string> sources() {
    std::vector<std::string> names;
    for (const char* folder : {"codegen", "dsl", "models", "runtime", "tests", "tools"}) {
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator(kSources / folder)) {
            const fs::path extension = entry.path().extension();
            const std::string name = entry.path().lexically_relative(kSources).string();
            if ((extension == ".cpp" || extension == ".h") && is_formatted(name))
                names.push_back(name);
        }
    }
    return names;
}

bool is_required() {
    const char* required = std::getenv("FOVEA_REQUIRE");
    return required && std::string(required).find("clang-format") != std::string::npos;
}

}  // namespace

TEST_CASE("every file is as clang-format 19 writes it") {
    if (outcome_of("clang-format-19 --version").status != 0) {
        CHECK_MESSAGE(!is_required(), "FOVEA_REQUIRE names clang-format, which is not installed");
        MESSAGE("skipped: clang-format-19 is not installed");
        return;
    }
    const std::vector<std::string> names = sources();
    REQUIRE(names.size() > 500);
    const fs::path list = fs::temp_directory_path() / "fovea_format_test.txt";
    std::ofstream file(list);
    for (const std::string& name : names) file << name << '\n';
    file.close();
    const Outcome outcome = outcome_of("cd '" + kSources.string() + "' && xargs clang-format-19 " +
                                       "--dry-run -Werror < '" + list.string() + "'");
    fs::remove(list);
    CHECK_MESSAGE(outcome.status == 0, outcome.text);
}
