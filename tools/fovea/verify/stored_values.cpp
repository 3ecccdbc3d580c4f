#include "tools/fovea/verify/stored_values.h"

#include <algorithm>

namespace fovea::tool {

namespace {

/// Where each position of an axis lies, by the factors that it is split into, outermost first.
std::vector<std::int64_t> offsets_of(const std::vector<fuse::Factor>& factors,
                                     const DimSizes& sizes) {
    std::vector<std::int64_t> offsets = {0};
    for (const fuse::Factor& factor : factors) {
        const std::int64_t extent = value_of(sizes, factor.extent);
        const std::int64_t stride = value_of(sizes, factor.stride);
        std::vector<std::int64_t> inner;
        for (std::int64_t offset : offsets)
            for (std::int64_t i = 0; i < extent; ++i) inner.push_back(offset + i * stride);
        offsets = std::move(inner);
    }
    return offsets;
}

Array read(const fuse::Layout& layout, const Shape& shape, const std::vector<double>& memory,
           const DimSizes& sizes) {
    std::vector<std::int64_t> places = {value_of(sizes, layout.offset)};
    for (const std::vector<fuse::Factor>& factors : layout.dims) {
        std::vector<std::int64_t> inner;
        for (std::int64_t place : places)
            for (std::int64_t offset : offsets_of(factors, sizes)) inner.push_back(place + offset);
        places = std::move(inner);
    }
    Array array;
    for (const Dim& dim : shape) array.shape.push_back(value_of(sizes, dim));
    for (std::int64_t place : places) array.values.push_back(memory.at(std::size_t(place)));
    return array;
}

}  // namespace

int base_of_tensor(const fuse::FusedGraph& fused, int node) {
    const auto found = std::find(fused.output_of.begin(), fused.output_of.end(), node);
    if (found != fused.output_of.end()) return int(found - fused.output_of.begin());
    return fused.layouts[std::size_t(node)].base == node ? node : -1;
}

std::map<int, Array> stored_values(const Graph& graph, const fuse::FusedGraph& fused, int base,
                                   const std::vector<double>& memory, const DimSizes& sizes) {
    std::map<int, Array> values;
    for (int id = 1; id <= base; ++id)
        if (fused.layouts[std::size_t(id)].base == base)
            values[id] = read(fused.layouts[std::size_t(id)], graph[id].shape, memory, sizes);
    return values;
}

}  // namespace fovea::tool
