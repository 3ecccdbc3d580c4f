// Tensors of a case as they lie in its file.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "codegen/graph/op_def.h"
#include "runtime/safetensors.h"

namespace fovea::tool {

/// The nearest value of bfloat16.
double nearest_bfloat16(double value);

/// Owns what it is given, rounded to the dtype, as views of it need.
class CaseTensors {
  public:
    void add(const std::string& name, DType dtype, const Array& array);
    void add_words(const std::string& name, const std::vector<std::uint32_t>& words);
    void add_floats(const std::string& name, std::vector<std::int64_t> shape,
                    std::span<const float> values);

    std::vector<runtime::TensorView> take() { return std::move(views_); }

  private:
    template <class T>
    void add_values(const std::string& name, DType dtype, std::vector<std::int64_t> shape,
                    const std::vector<T>& values);

    std::deque<std::vector<std::byte>> bytes_;
    std::vector<runtime::TensorView> views_;
};

}  // namespace fovea::tool
