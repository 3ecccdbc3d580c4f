// Random small changes of PTX text: mistakes that a test of kernels should notice.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fovea::test {

struct Mutation {
    int line = 0;        // of the text, from 0
    std::string before;  // that line
    std::string after;   // empty: it is gone
};

/// The operators, one of which is drawn for each mutation: an instruction is dropped; an operation
/// becomes a related one (add and sub, max and min, < and <=, …); a predicate is negated; the last
/// two operands change places, unless the operation takes them in any order; a number or an
/// address is off by one or by four; a source register becomes another of its type. Copies of
/// floats stay: nearly all are of the zero that sums start as, which many registers hold.
std::optional<Mutation> draw_mutation(const std::vector<std::string>& lines,
                                      std::mt19937& generator);

/// An instruction that goes over several lines becomes one.
std::vector<std::string> lines_of(const std::string& text);
std::string mutated(std::vector<std::string> lines, const Mutation& mutation);

}  // namespace fovea::test
