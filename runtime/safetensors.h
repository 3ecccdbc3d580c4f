// The safetensors format: named tensors and string metadata in one file, validated when read and
// written with the same bytes for the same contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtype.h"
#include "files/files.h"
#include "files/mapped_file.h"

namespace fovea::runtime {

using Metadata = std::map<std::string, std::string>;

/// A tensor in a file, or one to be written; it does not own its bytes.
struct TensorView {
    std::string name;
    std::string dtype;  // as in the format: F32, BF16, I32, BOOL, F16, F64, I64, …
    std::vector<std::int64_t> shape;
    Bytes bytes;  // row-major, little-endian
};

/// The format's name of a dtype: F32, BF16, F16, I32, BOOL.
std::string_view safetensors_name(DType dtype);

/// A file, or the files of a checkpoint together. Views point into what it owns, so it can be moved
/// but not copied.
class SafetensorsFile {
  public:
    SafetensorsFile(SafetensorsFile&&) = default;
    SafetensorsFile& operator=(SafetensorsFile&&) = default;
    SafetensorsFile(const SafetensorsFile&) = delete;
    SafetensorsFile& operator=(const SafetensorsFile&) = delete;

    const std::string& path() const { return path_; }
    const Metadata& metadata() const { return metadata_; }
    const std::vector<TensorView>& tensors() const { return tensors_; }  // sorted by name
    /// The tensor of this name, or null.
    const TensorView* find(std::string_view name) const;
    /// The metadata of this key; UserError when the file has none.
    const std::string& metadata_at(const std::string& key) const;

    /// The bytes of a file, which `owner` keeps where they are; `path` is for messages. UserError
    /// as `read_safetensors` has them.
    SafetensorsFile(std::string path, Bytes contents, std::shared_ptr<const void> owner);
    /// The same of a file that may be mapped.
    SafetensorsFile(std::string path, MappedFile file);
    /// Whether all bytes are a file's, whose pages can be let go and had again.
    bool is_mapped() const { return is_mapped_; }
    /// Whether somebody has written to a mapped file since: its bytes may be others now.
    bool was_written_to() const;
    /// Takes the tensors of another file, and what owns them, in. UserError when both have one of
    /// a name.
    void merge(SafetensorsFile other);
    /// What messages call it.
    void rename(std::string path) { path_ = std::move(path); }
    /// Other names of tensors, by the names that they have.
    void rename_tensors(const std::map<std::string, std::string>& names);

  private:
    std::string path_;
    std::vector<std::shared_ptr<const void>> owners_;
    Metadata metadata_;
    std::vector<TensorView> tensors_;
    bool is_mapped_ = false;
};

/// Reads and validates a file: header length, JSON, dtypes, and that the tensors' bytes are as
/// long as their shapes say and fill the rest of the file without gap or overlap. UserError with
/// the path, what was expected and what was found.
SafetensorsFile read_safetensors(const std::string& path);
/// The same for bytes in memory; `path` is for messages.
SafetensorsFile parse_safetensors(std::string path, std::vector<std::byte> bytes);

/// Writes the tensors atomically (see `write_file_atomically`). Tensors stand by falling size of
/// their elements, then by name, as the format's own library orders them, so that every tensor is
/// aligned; metadata by key. InternalError when two names are equal or bytes do not fit a shape.
void write_safetensors(const std::string& path, std::vector<TensorView> tensors,
                       const Metadata& metadata = {});

/// What `values` are as a tensor to write, dtype F32.
TensorView f32_tensor(std::string name, std::vector<std::int64_t> shape,
                      std::span<const float> values);

/// UserError with both shapes or both dtypes where a tensor has others than these, or where a
/// boolean is neither 0 nor 1. `what` names the tensor's role ("input", "parameter").
void verify_values(const SafetensorsFile& file, const TensorView& tensor, std::string_view what,
                   DType dtype, std::span<const std::int64_t> shape);
/// Copies the bytes of a tensor that `verify_values` finds right to `address`, which has room for
/// them.
void copy_tensor(const SafetensorsFile& file, const TensorView& tensor, std::string_view what,
                 DType dtype, std::span<const std::int64_t> shape, void* address);

}  // namespace fovea::runtime
