#include "codegen/reference/solve_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "codegen/base/error.h"

namespace fovea {

namespace {

std::set<Symbol> unknown_of(const Dim& dim, const DimSizes& sizes) {
    std::set<Symbol> unknown;
    for (const DimTerm& term : dim.terms())
        for (Symbol symbol : term.symbols)
            if (term.factor && symbol && !sizes.contains(symbol)) unknown.insert(symbol);
    return unknown;
}

template <class Value>
std::string as_text(const Value& value) {
    Text text;
    text << value;
    return std::string(text.view());
}

[[noreturn]] void refuse(const GivenShape& given, const std::string& why) {
    throw UserError(fmt::format("{}: expected {}, got [{}]{}", given.name, as_text(given.expected),
                                fmt::join(given.shape, ", "), why));
}

/// Whether the axis gives the size that alone is not known.
bool solve(const GivenShape& given, int axis, DimSizes& sizes) {
    const Dim& dim = given.expected[axis];
    const std::set<Symbol> unknown = unknown_of(dim, sizes);
    if (unknown.size() != 1) return false;
    const Symbol symbol = *unknown.begin();
    DimSizes tried = sizes;
    const auto length_at = [&](std::int64_t size) {
        tried[symbol] = size;
        return value_of(tried, dim);
    };
    const std::int64_t rest = length_at(0), factor = length_at(1) - rest;
    if (factor == 0 || length_at(2) != rest + 2 * factor) return false;
    const std::int64_t left = given.shape[std::size_t(axis)] - rest;
    if (left % factor != 0 || left / factor < 0)
        refuse(given, fmt::format(": no size '{}' makes {} {}", as_text(symbol), as_text(dim),
                                  given.shape[std::size_t(axis)]));
    sizes[symbol] = left / factor;
    return true;
}

}  // namespace

void solve_sizes(const std::vector<GivenShape>& given, DimSizes& sizes) {
    for (const GivenShape& one : given)
        if (std::size_t(one.expected.rank()) != one.shape.size()) refuse(one, "");
    for (bool found = true; found;) {
        found = false;
        for (const GivenShape& one : given)
            for (int axis = 0; axis < one.expected.rank(); ++axis)
                found = solve(one, axis, sizes) || found;
    }
    for (const GivenShape& one : given)
        for (int axis = 0; axis < one.expected.rank(); ++axis) {
            const Dim& dim = one.expected[axis];
            if (!unknown_of(dim, sizes).empty()) continue;
            if (const std::int64_t length = value_of(sizes, dim);
                length != one.shape[std::size_t(axis)])
                refuse(one, dim.is_static()
                                ? ""
                                : fmt::format(", where {} is {}", as_text(dim), length));
        }
}

}  // namespace fovea
