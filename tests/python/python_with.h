// Python's packages that tests call and that are not on every machine.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tools/fovea/process.h"

namespace fovea::test {

/// The first Python that has these modules: $FOVEA_PYTHON, of PATH, of the system. Empty where none
/// has; a failed check when FOVEA_REQUIRE names the first module.
inline std::string python_with(const std::string& module, const std::string& more = "") {
    const char* given = std::getenv("FOVEA_PYTHON");
    for (const std::string& python :
         {std::string(given ? given : ""), std::string("python3"), std::string("/usr/bin/python3")})
        if (!python.empty() &&
            tool::run_process(
                {"sh", "-c", "'" + python + "' -c 'import " + module + more + "' 2>/dev/null"})
                    .status == 0)
            return python;
    const char* required = std::getenv("FOVEA_REQUIRE");
    CHECK_MESSAGE(!(required && std::string(required).find(module) != std::string::npos),
                  "FOVEA_REQUIRE names " << module << ", which no Python here has");
    MESSAGE("skipped: no Python here has " << module);
    return {};
}

}  // namespace fovea::test
