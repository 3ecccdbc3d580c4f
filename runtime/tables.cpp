#include "tables.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "error.h"

namespace fovea::runtime {

namespace {

/// Adds `3*batch*len`, a term after its sign, to an extent.
void add_term(std::string_view text, std::int64_t sign, std::span<const std::string> dims,
              Extent& sum) {
    Extent::Term term;
    term.factor = sign;
    while (!text.empty()) {
        std::string_view factor = text.substr(0, text.find('*'));
        text.remove_prefix(std::min(text.size(), factor.size() + 1));
        std::size_t dim = 0;
        while (dim < dims.size() && dims[dim] != factor) ++dim;
        std::int64_t number = 0;
        auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), number);
        const bool is_number = error == std::errc() && end == factor.data() + factor.size();
        if (dim == dims.size() && !is_number)
            throw InternalError("a shape names no dim of the model: {}", {factor});
        if (dim < dims.size()) term.dims.push_back(static_cast<int>(dim));
        else term.factor *= number;
    }
    sum.add(std::move(term));
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
    /// `int8:32`: bits, and the size of groups.
    WeightStorage storage() {
        const std::string_view text = word();
        const char* const end = text.data() + text.size();
        WeightStorage storage;
        const char* at = std::from_chars(text.data() + 3, end, storage.bits).ptr;
        if (at < end) std::from_chars(at + 1, end, storage.group);
        return storage;
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
    std::string_view rest() const { return text_; }
    bool starts_with(std::string_view start) const { return text_.starts_with(start); }
    bool starts_with_digit() const { return !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }
    bool skip(std::string_view word) {
        const bool starts = text_.starts_with(word);
        if (starts) text_.remove_prefix(word.size());
        return starts;
    }

  private:
    std::string_view text_;
};

/// fill(row, of) for each row, and what it is of.
template <class Of, class Fill>
std::vector<Of> each_row(Rows rows, const Fill& fill) {
    std::size_t count = 0;
    for (Rows at = rows; *at != '\0'; at += std::string_view(at).size() + 1) ++count;
    std::vector<Of> all(count);
    for (Of& of : all) {
        Row row(rows);
        rows += std::string_view(rows).size() + 1;
        fill(row, of);
    }
    return all;
}

void read_tensor(Row& row, std::span<const std::string> dims, TensorSpec& spec) {
    if (row.starts_with("int")) spec.storage = row.storage();
    else spec.dtype = row.dtype();
    spec.shape = row.shape(dims);
}

}  // namespace

Extent parse_extent(std::string_view text, std::span<const std::string> dims) {
    Extent sum = 0;
    for (std::size_t from = 0; from < text.size();) {
        bool minus = text[from] == '-';
        if (minus || text[from] == '+') ++from;
        std::size_t to = std::min(text.find_first_of("+-", from), text.size());
        add_term(text.substr(from, to - from), minus ? -1 : 1, dims, sum);
        from = to;
    }
    return sum;
}

std::vector<Extent> parse_shape(std::string_view text, std::span<const std::string> dims) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        throw InternalError("a shape is written [a, b]: {}", {text});
    text = text.substr(1, text.size() - 2);
    const auto commas = std::count(text.begin(), text.end(), ',');
    std::vector<Extent> shape(text.empty() ? 0 : static_cast<std::size_t>(commas) + 1);
    for (Extent& extent : shape) {
        const std::string_view own = text.substr(0, text.find(", "));
        text.remove_prefix(std::min(text.size(), own.size() + 2));
        extent = parse_extent(own, dims);
    }
    return shape;
}

std::vector<std::string> names_of(Rows rows) {
    return each_row<std::string>(rows, [](Row& row, std::string& name) { name = row.rest(); });
}

std::vector<Setting> settings_of(Rows rows) {
    return each_row<Setting>(rows, [](Row& row, Setting& setting) {
        setting.name = row.word();
        setting.value = row.word();
        for (std::string_view word = row.word(); !word.empty(); word = row.word())
            (word == "default" ? setting.is_default : setting.in_training) = true;
    });
}

std::vector<TensorSpec> parameter_specs(Rows rows, std::span<const std::string> dims) {
    return each_row<TensorSpec>(rows, [&](Row& row, TensorSpec& spec) {
        spec.frozen = row.skip("frozen ");
        spec.copied = row.skip("copied ");
        spec.looked_up = row.skip("looked_up ");
        read_tensor(row, dims, spec);
        spec.initial = row.initial();
        spec.fan_in = row.number();
        spec.zero_row = row.number();
        spec.name = row.rest();
    });
}

std::vector<TensorSpec> tensor_specs(Rows rows, std::span<const std::string> dims) {
    return each_row<TensorSpec>(rows, [&](Row& row, TensorSpec& spec) {
        spec.state = row.skip("state ");
        if (row.starts_with_digit()) spec.first = int(row.number());
        read_tensor(row, dims, spec);
        spec.name = row.rest();
    });
}

std::vector<BufferSpec> buffer_specs(Rows rows, std::span<const std::string> dims) {
    return each_row<BufferSpec>(rows, [&](Row& row, BufferSpec& spec) {
        if (row.skip("shared ")) spec.shared = int(row.number());
        spec.prepared = spec.shared >= 0 || row.skip("prepared ");
        if (!spec.prepared) {
            spec.first = int(row.number());
            spec.last = int(row.number());
            if (row.skip("over ")) spec.over = int(row.number());
        }
        spec.dtype = row.dtype();
        spec.shape = row.shape(dims);
        spec.name = row.rest();
    });
}

std::vector<ComputedCheck> computed_checks(Rows rows, std::span<const std::string> dims) {
    return each_row<ComputedCheck>(rows, [&](Row& row, ComputedCheck& check) {
        constexpr std::string_view kKinds[] = {"ids", "lengths"};
        check.buffer = int(row.number());
        check.lengths = row.choice(kKinds, 2) == 1;
        check.limit = parse_extent(row.word(), dims);
        check.of = row.rest();
    });
}

}  // namespace fovea::runtime
