#include "tools/fovea/fit_dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/graph/op_def.h"
#include "codegen/kernel/print.h"
#include "dsl/settings.h"

namespace fovea::tool {

namespace {

/// A slice from `first` of `size` elements, out of `extent`; or what is padded, out of the result.
struct Cut {
    const Node* node;
    Dim first, size, extent;

    std::int64_t excess(const SampleDims& dims) const {
        return value_of(first, dims) + value_of(size, dims) - value_of(extent, dims);
    }
};

std::set<std::string> symbols_of(const Dim& dim) {
    std::set<std::string> names;
    for (const DimTerm& term : dim.terms())
        for (Symbol symbol : term.symbols)
            if (symbol) names.insert(kernel::text_of(Dim(detail::text_of(symbol))));
    return names;
}

/// Whether all of a dim's symbols have a size: not those of values that nothing uses.
bool is_known(const Dim& dim, const SampleDims& dims) {
    const std::set<std::string> symbols = symbols_of(dim);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](const std::string& name) { return dims.count(name) != 0; });
}

std::vector<Cut> cuts_of(const std::vector<const Graph*>& graphs, const SampleDims& dims) {
    std::vector<Cut> cuts;
    for (const Graph* graph : graphs)
        for (const Node& node : graph->nodes) {
            Cut cut{&node, {}, {}, {}};
            if (op_def(node.op).steps) {
                const Steps steps = op_def(node.op).steps(node);
                cut = {&node, steps.lowest, steps.size, (*graph)[node.inputs[0]].shape[steps.axis]};
            } else if (node.op == Op::pad) {
                cut = {&node, node.dim, (*graph)[node.inputs[0]].shape[node.axis],
                       node.shape[node.axis]};
            } else {
                continue;
            }
            if (is_known(cut.first, dims) && is_known(cut.size, dims) && is_known(cut.extent, dims))
                cuts.push_back(cut);
        }
    return cuts;
}

/// The largest size that a slice reaches by and that may be lowered; null: there is none.
std::int64_t* largest_of(const Cut& cut, const std::set<std::string>& given, SampleDims& dims) {
    std::int64_t* largest = nullptr;
    for (const Dim& dim : {cut.first, cut.size})
        for (const std::string& name : symbols_of(dim)) {
            std::int64_t& size = dims.at(name);
            if (!given.count(name) && size > 1 && (!largest || size > *largest)) largest = &size;
        }
    return largest;
}

/// A size that what is cut from grows with, and that may be raised; null: there is none.
std::int64_t* size_of_whole(const Cut& cut, const std::set<std::string>& given, SampleDims& dims) {
    for (const std::string& name : symbols_of(cut.extent))
        if (!given.count(name)) return &dims.at(name);
    return nullptr;
}

}  // namespace

void fit_to_slices(const std::vector<const Graph*>& graphs, const std::set<std::string>& given,
                   SampleDims& dims) {
    constexpr int kMostRounds = 1000;
    const std::vector<Cut> cuts = cuts_of(graphs, dims);
    int rounds = 0;
    for (bool all_fit = false; !all_fit;) {
        all_fit = true;
        ++rounds;
        for (const Cut& cut : cuts) {
            const std::int64_t excess = cut.excess(dims);
            if (excess <= 0) continue;
            std::int64_t* size = largest_of(cut, given, dims);
            if (size) {
                // A size may count more than once in the slice: half of the excess at a time.
                *size = std::max<std::int64_t>(1, *size - (excess + 1) / 2);
            } else {
                size = size_of_whole(cut, given, dims);
                if (size) *size += excess;
            }
            if (!size || rounds > kMostRounds)
                throw UserError(fmt::format(
                    "{}:{}: a {} of {} from {} does not lie within the {} elements of its "
                    "axis; give other sizes (--size DIM=N)",
                    cut.node->location.file_name(), cut.node->location.line,
                    cut.node->op == Op::pad ? "value that is padded," : "slice",
                    value_of(cut.size, dims), value_of(cut.first, dims),
                    value_of(cut.extent, dims)));
            all_fit = false;
        }
    }
}

std::set<std::string> names_of(const std::vector<std::string>& given) {
    std::set<std::string> names;
    for (const std::string& text : given) names.insert(text.substr(0, text.find('=')));
    return names;
}

}  // namespace fovea::tool
