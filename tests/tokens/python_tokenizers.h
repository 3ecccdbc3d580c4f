// What the package `tokenizers` of a Python makes of texts, as files of JSON lines.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tools/fovea/process.h"

namespace fovea::test {

/// The first Python that has the package: $FOVEA_PYTHON, of PATH, of the system. Empty where none
/// has; a failed check when FOVEA_REQUIRE names the package.
inline std::string python_with_tokenizers() {
    const char* given = std::getenv("FOVEA_PYTHON");
    for (const std::string& python :
         {std::string(given ? given : ""), std::string("python3"), std::string("/usr/bin/python3")})
        if (!python.empty() &&
            tool::run_process({"sh", "-c", "'" + python + "' -c 'import tokenizers' 2>/dev/null"})
                    .status == 0)
            return python;
    const char* required = std::getenv("FOVEA_REQUIRE");
    CHECK_MESSAGE(!(required && std::string(required).find("tokenizers") != std::string::npos),
                  "FOVEA_REQUIRE names tokenizers, which no Python here has");
    MESSAGE("skipped: no Python here has tokenizers");
    return {};
}

/// Runs a script of this folder; false where there is no Python for it.
inline bool run_script(const std::string& script, const std::vector<std::string>& arguments) {
    static const std::string python = python_with_tokenizers();
    if (python.empty()) return false;
    std::vector<std::string> command = {"env", "PYTHONDONTWRITEBYTECODE=1",
                                        "TOKENIZERS_PARALLELISM=false", python,
                                        FOVEA_SOURCE_DIR "/tests/tokens/" + script};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const tool::ProcessResult result = tool::run_process(command);
    REQUIRE_MESSAGE(result.status == 0, result.output);
    return true;
}

/// The value of a variable of the environment that says how many texts to compare.
inline std::string text_count(const char* otherwise) {
    const char* given = std::getenv("FOVEA_TEXTS");
    return given ? given : otherwise;
}

}  // namespace fovea::test
