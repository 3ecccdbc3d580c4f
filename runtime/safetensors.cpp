// Reading safetensors: every number in the header is checked before it is used.
#include "safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "error.h"
#include "files/json.h"
#include "files/safetensors_dtypes.h"
#include "memory/shape.h"
#include "memory/sort_plain.h"

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

namespace fovea::runtime {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit

void sort_by_name(std::vector<TensorView>& tensors) {
    std::vector<TensorView*> order;
    order.reserve(tensors.size());
    for (TensorView& tensor : tensors) order.push_back(&tensor);
    sort_plain(order, [](const TensorView* a, const TensorView* b) { return a->name < b->name; });
    std::vector<TensorView> sorted;
    sorted.reserve(tensors.size());
    for (TensorView* const tensor : order) sorted.push_back(std::move(*tensor));
    tensors = std::move(sorted);
}

/// Builds the views of one file and fails with its path.
class HeaderReader {
  public:
    HeaderReader(const std::string& path, Bytes file) : path_(path), file_(file) {}

    void read(Metadata& metadata, std::vector<TensorView>& tensors) {
        const Json header = parsed_header();
        for (const auto& [name, value] : header.object()) {
            if (name == "__metadata__") {
                read_metadata(value, metadata);
            } else {
                tensors.push_back(read_tensor(name, value));
            }
        }
        verify_coverage(tensors);
        sort_by_name(tensors);
    }

  private:
    [[noreturn]] void fail(std::string_view form, std::initializer_list<Piece> pieces = {}) const {
        throw UserError("'{}' is not a valid safetensors file: {}", {path_, format(form, pieces)});
    }

    Json parsed_header() {
        if (file_.size() < kLengthBytes) {
            fail("it has {} bytes, fewer than the 8 that hold the length of its header",
                 {file_.size()});
        }
        std::uint64_t length = 0;
        std::memcpy(&length, file_.data(), kLengthBytes);
        if (std::memcmp(file_.data(), "PK\x03\x04", 4) == 0)
            fail("it is a zip archive, as torch.save writes: write it by safetensors.torch");
        if (length > kLargestHeader) {
            fail("its header claims {} bytes, the limit is {}", {length, kLargestHeader});
        }
        if (length > file_.size() - kLengthBytes) {
            fail("its header claims {} bytes, but only {} follow",
                 {length, file_.size() - kLengthBytes});
        }
        data_ = file_.subspan(kLengthBytes + length);
        Json header;
        try {
            header = parse_json({reinterpret_cast<const char*>(file_.data() + kLengthBytes),
                                 static_cast<std::size_t>(length)});
        } catch (const UserError& error) {
            fail(std::string("its header is not JSON: ") + error.what());
        }
        if (!header.is_object()) {
            fail("its header should be a JSON object, but is of kind {}", {header.kind()});
        }
        return header;
    }

    void read_metadata(const Json& json, Metadata& metadata) const {
        if (!json.is_object()) fail("__metadata__ is not an object");
        for (const auto& [key, value] : json.object()) {
            if (!value.is_string()) {
                fail("__metadata__ '{}' should be a string, but is of kind {}",
                     {key, value.kind()});
            }
            metadata[key] = value.string();
        }
    }

    const Json& member(const std::string& tensor, const Json& json, const char* key) const {
        const Json* value = json.find(key);
        if (!value) fail("tensor '{}' has no '{}'", {tensor, key});
        return *value;
    }

    /// A non-negative whole number of the header.
    std::int64_t count(const std::string& tensor, const Json& json, const char* what) const {
        if (!json.is_integer() || json.integer() < 0) {
            fail("tensor '{}': {} should hold whole numbers from 0, but holds {}",
                 {tensor, what, json.text()});
        }
        return json.integer();
    }

    TensorView read_tensor(const std::string& name, const Json& json) const {
        if (!json.is_object()) fail("the entry of tensor '{}' is not an object", {name});
        TensorView tensor;
        tensor.name = name;
        const Json& dtype = member(name, json, "dtype");
        if (!dtype.is_string()) fail("tensor '{}': dtype is not a string", {name});
        tensor.dtype = dtype.string();
        if (element_bytes(tensor.dtype) == 0) {
            fail("tensor '{}' has the unknown dtype '{}'", {name, tensor.dtype});
        }
        const Json& shape = member(name, json, "shape");
        if (!shape.is_array()) fail("tensor '{}': shape is not an array", {name});
        for (const Json& size : shape.array()) tensor.shape.push_back(count(name, size, "shape"));
        tensor.bytes = read_bytes(tensor, member(name, json, "data_offsets"));
        return tensor;
    }

    Bytes read_bytes(const TensorView& tensor, const Json& offsets) const {
        const std::string& name = tensor.name;
        if (!offsets.is_array() || offsets.array().size() != 2) {
            fail("tensor '{}': data_offsets is not an array of two numbers", {name});
        }
        const std::int64_t begin = count(name, offsets.array()[0], "data_offsets");
        const std::int64_t end = count(name, offsets.array()[1], "data_offsets");
        const std::string range = std::to_string(begin) + " to " + std::to_string(end);
        if (end < begin) fail("tensor '{}': data_offsets run backwards, {}", {name, range});
        if (static_cast<std::uint64_t>(end) > data_.size()) {
            fail(
                "tensor '{}' has its data at bytes {}, but the file holds only {} bytes of data "
                "(is it truncated?)",
                {name, range, data_.size()});
        }
        const auto size = static_cast<std::int64_t>(element_bytes(tensor.dtype));
        std::int64_t expected = size;
        for (std::int64_t extent : tensor.shape) {
            if (__builtin_mul_overflow(expected, extent, &expected)) {
                fail("tensor '{}' has an impossible shape {}", {name, shape_text(tensor.shape)});
            }
        }
        if (end - begin != expected) {
            fail("tensor '{}', {} {}, should have {} bytes, but has {}",
                 {name, tensor.dtype, shape_text(tensor.shape), expected, end - begin});
        }
        return data_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(expected));
    }

    /// The tensors' bytes fill the data without gap or overlap.
    void verify_coverage(const std::vector<TensorView>& tensors) const {
        std::vector<const TensorView*> order;
        order.reserve(tensors.size());
        for (const TensorView& tensor : tensors) order.push_back(&tensor);
        sort_plain(order, [](const TensorView* a, const TensorView* b) {
            if (a->bytes.data() != b->bytes.data()) return a->bytes.data() < b->bytes.data();
            if (a->bytes.size() != b->bytes.size()) return a->bytes.size() < b->bytes.size();
            return a->name < b->name;
        });
        std::size_t end = 0;
        const TensorView* previous = nullptr;
        for (const TensorView* const tensor : order) {
            const auto begin = static_cast<std::size_t>(tensor->bytes.data() - data_.data());
            if (begin < end) {
                fail("the data of tensors '{}' and '{}' overlap", {previous->name, tensor->name});
            }
            if (begin > end) {
                fail("bytes {} to {} of its data belong to no tensor", {end, begin});
            }
            end = begin + tensor->bytes.size();
            previous = tensor;
        }
        if (end != data_.size()) {
            fail("its tensors end at byte {} of its data, but {} bytes are there",
                 {end, data_.size()});
        }
    }

    const std::string& path_;
    Bytes file_, data_;
};

}  // namespace

std::string_view safetensors_name(DType dtype) {
    switch (dtype) {
        case DType::f32: return "F32";
        case DType::bf16: return "BF16";
        case DType::f16: return "F16";
        case DType::i32: return "I32";
        case DType::boolean: return "BOOL";
    }
    return "?";
}

std::size_t element_bytes(std::string_view dtype) {
    struct Row {
        std::string_view name;
        std::size_t bytes;
    };
    constexpr std::array<Row, 15> kRows = {{{"BOOL", 1},
                                            {"U8", 1},
                                            {"I8", 1},
                                            {"F8_E4M3", 1},
                                            {"F8_E5M2", 1},
                                            {"I16", 2},
                                            {"U16", 2},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"I32", 4},
                                            {"U32", 4},
                                            {"F32", 4},
                                            {"I64", 8},
                                            {"U64", 8},
                                            {"F64", 8}}};
    for (const Row& row : kRows) {
        if (row.name == dtype) return row.bytes;
    }
    return 0;
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
    const auto place = std::lower_bound(
        tensors_.begin(), tensors_.end(), name,
        [](const TensorView& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return place != tensors_.end() && place->name == name ? &*place : nullptr;
}

const std::string& SafetensorsFile::metadata_at(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) {
        throw UserError("'{}' has no '{}' in its __metadata__", {path_, key});
    }
    return found->second;
}

SafetensorsFile::SafetensorsFile(std::string path, Bytes contents,
                                 std::shared_ptr<const void> owner)
    : path_(std::move(path)), owners_{std::move(owner)} {
    HeaderReader(path_, contents).read(metadata_, tensors_);
}

SafetensorsFile::SafetensorsFile(std::string path, MappedFile file)
    : SafetensorsFile(std::move(path), file.bytes, std::move(file.owner)) {
    is_mapped_ = file.is_mapped;
}

bool SafetensorsFile::was_written_to() const {
    return is_mapped_ && std::any_of(owners_.begin(), owners_.end(), runtime::was_written_to);
}

void SafetensorsFile::merge(SafetensorsFile other) {
    for (const TensorView& tensor : other.tensors_) {
        if (find(tensor.name))
            throw UserError("tensor '{}' stands in two files, '{}' and one of '{}'",
                            {tensor.name, other.path_, path_});
    }
    std::move(other.tensors_.begin(), other.tensors_.end(), std::back_inserter(tensors_));
    sort_by_name(tensors_);
    std::move(other.owners_.begin(), other.owners_.end(), std::back_inserter(owners_));
    metadata_.merge(other.metadata_);
    is_mapped_ = is_mapped_ && other.is_mapped_;
}

void SafetensorsFile::rename_tensors(const std::map<std::string, std::string>& names) {
    for (TensorView& tensor : tensors_)
        if (const auto found = names.find(tensor.name); found != names.end())
            tensor.name = found->second;
    sort_by_name(tensors_);
}

SafetensorsFile parse_safetensors(std::string path, std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    const Bytes contents = *owner;
    return {std::move(path), contents, std::move(owner)};
}

SafetensorsFile read_safetensors(const std::string& path) {
    return parse_safetensors(path, read_file(path));
}

void verify_values(const SafetensorsFile& file, const TensorView& tensor, std::string_view what,
                   DType dtype, std::span<const std::int64_t> shape) {
    const std::string subject =
        std::string(what) + " '" + tensor.name + "' in '" + file.path() + "'";
    if (!std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end())) {
        throw UserError("{} has shape {}, expected {}",
                        {subject, shape_text(tensor.shape), shape_text(shape)});
    }
    if (tensor.dtype != safetensors_name(dtype)) {
        const bool is_long = tensor.dtype == "I64" && dtype == DType::i32;
        throw UserError("{} has dtype {}, expected {}{}",
                        {subject, tensor.dtype, safetensors_name(dtype),
                         is_long ? ": save it as 32-bit integers" : ""});
    }
    if (dtype == DType::boolean) {
        for (std::byte value : tensor.bytes) {
            if (value <= std::byte{1}) continue;
            throw UserError("{} holds the byte {} where a boolean is 0 or 1",
                            {subject, std::to_integer<int>(value)});
        }
    }
}

void copy_tensor(const SafetensorsFile& file, const TensorView& tensor, std::string_view what,
                 DType dtype, std::span<const std::int64_t> shape, void* address) {
    verify_values(file, tensor, what, dtype, shape);
    if (!tensor.bytes.empty()) std::memcpy(address, tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace fovea::runtime
