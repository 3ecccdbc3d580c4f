// Tensors of a case as they lie in its file.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/op_def.h"
#include "tools/bundle/case_file.h"

namespace fovea::tool {

/// Collects tensors, their values rounded to the dtype.
class CaseTensors {
  public:
    void add(const std::string& name, DType dtype, const Array& array);
    void add_words(const std::string& name, const std::vector<std::uint32_t>& words);

    std::vector<bundle::CaseTensor> take() { return std::move(tensors_); }

  private:
    template <class T>
    void add_values(const std::string& name, DType dtype, std::vector<std::int64_t> shape,
                    const std::vector<T>& values);

    std::vector<bundle::CaseTensor> tensors_;
};

}  // namespace fovea::tool
