// Programs that tests call and that are not on every machine.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tools/fovea/process.h"

namespace fovea::test {

/// Whether PATH has a program; a failed check when it has not and FOVEA_REQUIRE names it.
inline bool has(const std::string& program) {
    if (!tool::find_program(program).empty()) return true;
    const char* required = std::getenv("FOVEA_REQUIRE");
    CHECK_MESSAGE(!(required && std::string(required).find(program) != std::string::npos),
                  "FOVEA_REQUIRE names " << program << ", which is not installed");
    MESSAGE("skipped: " << program << " is not installed");
    return false;
}

}  // namespace fovea::test
