#include "tables.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "error.h"
#include "weights/quantized_weight.h"

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
            throw InternalError("a shape names no dim of the model: {}", {factor});
        term = term * (is_number ? Extent(number) : Extent::dim(int(dim - dims.begin())));
    }
    return term;
}

/// The fields of one row, from left to right.
class Row {
  public:
    explicit Row(std::string_view text) : text_(text) {}

    std::string_view word() {
        const std::string_view word = text_.substr(0, text_.find(' '));
        text_.remove_prefix(std::min(text_.size(), word.size() + 1));
        return word;
    }
    std::int64_t number() {
        const std::string_view text = word();
        std::int64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    /// One of `count` words by its number.
    int choice(const std::string_view* words, int count) {
        const std::string_view text = word();
        for (int i = 0; i < count; ++i)
            if (words[i] == text) return i;
        throw InternalError("a table has an unknown word: {}", {text});
    }
    DType dtype() {
        std::string_view names[std::size(kDTypes)];
        std::transform(std::begin(kDTypes), std::end(kDTypes), names,
                       [](DType dtype) { return name_of(dtype); });
        return kDTypes[choice(names, int(std::size(names)))];
    }
    Initial initial() {
        constexpr std::string_view kNames[] = {"zeros", "ones", "xavier_uniform", "normal",
                                               "linear_bias"};
        return Initial(choice(kNames, 5));
    }
    std::vector<Extent> shape(std::span<const std::string> dims) {
        const std::size_t size = std::min(text_.find(']'), text_.size() - 1) + 1;
        const std::string_view shape = text_.substr(0, size);
        text_.remove_prefix(std::min(text_.size(), size + 1));
        return parse_shape(shape, dims);
    }
    std::string rest() const { return std::string(text_); }
    bool starts_with(std::string_view start) const { return text_.starts_with(start); }
    bool skip(std::string_view word) {
        const bool starts = text_.starts_with(word);
        if (starts) text_.remove_prefix(word.size());
        return starts;
    }

  private:
    std::string_view text_;
};

/// make(row) for each row.
template <class Make>
auto each_row(Rows rows, const Make& make) {
    std::vector<decltype(make(std::declval<Row&>()))> made;
    for (std::string_view text; !(text = rows).empty(); rows += text.size() + 1) {
        Row row(text);
        made.push_back(make(row));
    }
    return made;
}

TensorSpec tensor_of(Row& row, std::span<const std::string> dims) {
    TensorSpec spec;
    if (row.starts_with("int")) spec.storage = parse_weight_storage(row.word(), "a table");
    else spec.dtype = row.dtype();
    spec.shape = row.shape(dims);
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
        throw InternalError("a shape is written [a, b]: {}", {text});
    text = text.substr(1, text.size() - 2);
    std::vector<Extent> shape;
    while (!text.empty()) {
        std::string_view extent = text.substr(0, text.find(", "));
        text.remove_prefix(std::min(text.size(), extent.size() + 2));
        shape.push_back(parse_extent(extent, dims));
    }
    return shape;
}

std::vector<std::string> names_of(Rows rows) {
    return each_row(rows, [](Row& row) { return row.rest(); });
}

std::vector<Setting> settings_of(Rows rows) {
    return each_row(rows, [](Row& row) {
        Setting setting;
        setting.name = row.word();
        setting.value = row.word();
        for (std::string_view word = row.word(); !word.empty(); word = row.word())
            (word == "default" ? setting.is_default : setting.in_training) = true;
        return setting;
    });
}

std::vector<TensorSpec> parameter_specs(Rows rows, std::span<const std::string> dims) {
    return each_row(rows, [&](Row& row) {
        const bool frozen = row.skip("frozen ");
        TensorSpec spec = tensor_of(row, dims);
        spec.frozen = frozen;
        spec.initial = row.initial();
        spec.fan_in = row.number();
        spec.zero_row = row.number();
        spec.name = row.rest();
        return spec;
    });
}

std::vector<TensorSpec> tensor_specs(Rows rows, std::span<const std::string> dims) {
    return each_row(rows, [&](Row& row) {
        const bool state = row.skip("state ");
        TensorSpec spec = tensor_of(row, dims);
        spec.state = state;
        spec.name = row.rest();
        return spec;
    });
}

std::vector<BufferSpec> buffer_specs(Rows rows, std::span<const std::string> dims) {
    return each_row(rows, [&](Row& row) {
        BufferSpec spec;
        spec.prepared = row.skip("prepared ");
        if (!spec.prepared) {
            spec.first = int(row.number());
            spec.last = int(row.number());
        }
        spec.dtype = row.dtype();
        spec.shape = row.shape(dims);
        spec.name = row.rest();
        return spec;
    });
}

std::vector<ComputedCheck> computed_checks(Rows rows, std::span<const std::string> dims) {
    return each_row(rows, [&](Row& row) {
        constexpr std::string_view kKinds[] = {"ids", "lengths"};
        ComputedCheck check;
        check.buffer = int(row.number());
        check.lengths = row.choice(kKinds, 2) == 1;
        check.limit = parse_extent(row.word(), dims);
        check.of = row.rest();
        return check;
    });
}

}  // namespace fovea::runtime
