// Files of tensors: the views of a file that is accepted lie in it and fill its data, as checked by
// touching every byte.
#include <numeric>

#include "runtime/dtypes.h"
#include "runtime/error.cpp"
#include "runtime/files/files.cpp"
#include "runtime/files/json.cpp"
#include "runtime/files/locked_file.cpp"
#include "runtime/files/mapped_file.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/parse_json.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "runtime/memory/extent.cpp"
#include "runtime/memory/shape.cpp"
#include "runtime/safetensors.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::runtime;

namespace {

void copy(const SafetensorsFile& file, const TensorView& tensor) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::i32, DType::boolean}) {
        std::vector<std::byte> to(tensor.bytes.size());
        accepts<UserError>(
            [&] { copy_tensor(file, tensor, "input", dtype, tensor.shape, to.data()); });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accepts<UserError>([&] {
        const auto* bytes = reinterpret_cast<const std::byte*>(data);
        const SafetensorsFile file = parse_safetensors("w", {bytes, bytes + size});
        std::uint64_t header = 0;
        std::memcpy(&header, data, sizeof header);
        std::size_t total = sizeof header + header;
        for (const TensorView& tensor : file.tensors()) {
            total += tensor.bytes.size();
            require(file.find(tensor.name) == &tensor, "a tensor that its name does not find");
            copy(file, tensor);
        }
        require(total == size, "bytes of no tensor, or of two");
        for (const auto& [key, value] : file.metadata())
            require(file.metadata_at(key) == value, "metadata that its key does not find");
    });
    return 0;
}
