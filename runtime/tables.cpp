#include "tables.h"

#include <algorithm>
#include <charconv>

#include "error.h"

namespace fovea::runtime {

namespace {

/// `-3*batch*len`: one term of an extent, after its sign.
Extent parse_term(std::string_view text, std::span<const std::string> dims) {
    Extent term = 1;
    while (!text.empty()) {
        std::string_view factor = text.substr(0, text.find('*'));
        text.remove_prefix(std::min(text.size(), factor.size() + 1));
        auto dim = std::find(dims.begin(), dims.end(), factor);
        std::int64_t number = 0;
        auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), number);
        bool is_number = error == std::errc() && end == factor.data() + factor.size();
        if (dim == dims.end() && !is_number)
            throw InternalError("a shape names no dim of the model: " + std::string(factor));
        term = term * (is_number ? Extent(number) : Extent::dim(int(dim - dims.begin())));
    }
    return term;
}

template <class Row>
TensorSpec spec_of(const Row& row, std::span<const std::string> dims) {
    TensorSpec spec;
    spec.name = row.name;
    spec.dtype = row.dtype;
    spec.shape = parse_shape(row.shape, dims);
    return spec;
}

}  // namespace

Extent parse_extent(std::string_view text, std::span<const std::string> dims) {
    Extent sum = 0;
    for (std::size_t from = 0; from < text.size();) {
        bool minus = text[from] == '-';
        if (minus || text[from] == '+') ++from;
        std::size_t to = std::min(text.find_first_of("+-", from), text.size());
        sum = sum + Extent(minus ? -1 : 1) * parse_term(text.substr(from, to - from), dims);
        from = to;
    }
    return sum;
}

std::vector<Extent> parse_shape(std::string_view text, std::span<const std::string> dims) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        throw InternalError("a shape is written [a, b]: " + std::string(text));
    text = text.substr(1, text.size() - 2);
    std::vector<Extent> shape;
    while (!text.empty()) {
        std::string_view extent = text.substr(0, text.find(", "));
        text.remove_prefix(std::min(text.size(), extent.size() + 2));
        shape.push_back(parse_extent(extent, dims));
    }
    return shape;
}

std::vector<TensorSpec> tensor_specs(std::span<const ParameterRow> rows,
                                     std::span<const std::string> dims) {
    std::vector<TensorSpec> specs;
    for (const ParameterRow& row : rows) {
        specs.push_back(spec_of(row, dims));
        specs.back().initial = row.initial;
        specs.back().fan_in = row.fan_in;
        specs.back().zero_row = row.zero_row;
    }
    return specs;
}

std::vector<TensorSpec> tensor_specs(std::span<const TensorRow> rows,
                                     std::span<const std::string> dims) {
    std::vector<TensorSpec> specs;
    for (const TensorRow& row : rows) specs.push_back(spec_of(row, dims));
    return specs;
}

std::vector<BufferSpec> buffer_specs(std::span<const BufferRow> rows,
                                     std::span<const std::string> dims) {
    std::vector<BufferSpec> specs;
    for (const BufferRow& row : rows)
        specs.push_back(
            {row.name, row.dtype, parse_shape(row.shape, dims), row.first, row.last, row.prepared});
    return specs;
}

std::vector<ComputedCheck> computed_checks(std::span<const CheckRow> rows,
                                           std::span<const std::string> dims) {
    std::vector<ComputedCheck> checks;
    for (const CheckRow& row : rows)
        checks.push_back({row.buffer, row.lengths, parse_extent(row.limit, dims), row.of});
    return checks;
}

}  // namespace fovea::runtime
