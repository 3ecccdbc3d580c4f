// Symbols stand in extents, strides and offsets.
#include "codegen/kernel/parameters.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/base/text.h"

namespace fovea::kernel {

namespace {

void add_symbols(std::set<std::string>& symbols, const Dim& dim) {
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        for (Symbol symbol : term.symbols) {
            if (!symbol) continue;
            Text name;
            name << symbol;
            symbols.insert(std::string(name.view()));
        }
    }
}

void add_symbols(std::set<std::string>& symbols, const std::vector<Stride>& strides) {
    for (const Stride& stride : strides) add_symbols(symbols, stride.stride);
}

void add_symbols(std::set<std::string>& symbols, const Access& access) {
    add_symbols(symbols, access.strides);
    add_symbols(symbols, access.offset);
    if (access.row >= 0) add_symbols(symbols, access.row_stride);
}

void add_symbols(std::set<std::string>& symbols, const StepArgument& argument) {
    for (const Dim& dim : {argument.offset, argument.step, argument.row}) add_symbols(symbols, dim);
}

void add_symbols(std::set<std::string>& symbols, const Steps& steps) {
    add_symbols(symbols, steps.count);
    for (const Kernel& kernel : steps.kernels)
        for (const std::string& symbol : symbols_of(kernel)) symbols.insert(symbol);
    for (const StepCall& call : steps.calls)
        for (const StepArgument& argument : call.arguments) add_symbols(symbols, argument);
    for (const StepStart& start : steps.starts) {
        add_symbols(symbols, start.from), add_symbols(symbols, start.to);
        add_symbols(symbols, start.size);
    }
    if (steps.rows) {
        Text rows;
        rows << steps.rows;
        symbols.insert(std::string(rows.view()));
    }
    Text own;
    own << steps.positions;
    symbols.erase(std::string(own.view()));  // each step has its own
}

}  // namespace

std::string identifier(std::string_view name) {
    std::string result;
    for (char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])))
        result = "_" + result;
    // C++ keeps names with two underscores, or one and a capital, for itself.
    if (result.size() > 1 && result[0] == '_' &&
        !std::isdigit(static_cast<unsigned char>(result[1])))
        result = "x" + result;
    return result;
}

std::vector<std::string> symbols_of(const Kernel& kernel) {
    std::set<std::string> symbols;
    for (const Axis& axis : kernel.axes) add_symbols(symbols, axis.extent);
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (auto extent = as<Extent>(kernel, id)) add_symbols(symbols, extent->dim);
        if (auto load = as<Load>(kernel, id)) add_symbols(symbols, load->access);
        if (auto store = as<Store>(kernel, id)) add_symbols(symbols, store->access);
        if (auto random = as<Random>(kernel, id)) {
            add_symbols(symbols, random->row);
            add_symbols(symbols, random->column);
        }
    }
    if (kernel.steps) add_symbols(symbols, *kernel.steps);
    return {symbols.begin(), symbols.end()};
}

bool draws(const Kernel& kernel) { return !sites_of(kernel).empty(); }

std::string site_name(std::size_t number) {
    return number == 0 ? "site" : "site_" + std::to_string(number + 1);
}

std::string site_name(const Kernel& kernel, const Random& random) {
    const std::vector<int> sites = sites_of(kernel);
    const auto found = std::find(sites.begin(), sites.end(), random.site);
    return site_name(std::size_t(found - sites.begin()));
}

}  // namespace fovea::kernel
