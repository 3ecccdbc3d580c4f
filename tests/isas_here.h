// Which instruction sets a test can run.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/isa.h"
#include "tests/random_seed.h"

namespace fovea::test {

/// Whether code multiplies bfloat16, weights of 8 or 4 bits.
struct Multiplied {
    bool bfloat16 = false, numbers = false;
};

/// The instruction sets that this machine has; a line for each that it lacks. Those with products
/// of pairs, or of bytes, only where there are such.
inline std::vector<std::string> isas_here(Multiplied multiplied = {}) {
    std::vector<std::string> result;
    for (std::string_view isa : runtime::isa_names())
        if (runtime::multiplies_pairs(isa) && !multiplied.bfloat16) continue;
        else if (runtime::multiplies_bytes(isa) && !multiplied.numbers) continue;
        else if (runtime::machine_has(isa)) result.emplace_back(isa);
        else MESSAGE("not run: this machine has no ", std::string(isa));
    return result;
}

/// The first of them, and every other one of the rest by turns: for code that has one text, whose
/// compiler takes long.
inline std::vector<std::string> isas_by_turns(Multiplied multiplied = {}) {
    std::vector<std::string> all = isas_here(multiplied);
    std::vector<std::string> result = {all.front()};
    all.erase(all.begin());
    for (std::string& isa : turns_of(all, 2)) result.push_back(std::move(isa));
    return result;
}

}  // namespace fovea::test
