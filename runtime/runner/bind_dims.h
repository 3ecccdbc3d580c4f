// Values of a model's symbolic dims, taken from the shapes of tensors in files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../parameters.h"
#include "../program.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// Collects the sizes that tensors give to dims, and fails when two of them disagree.
class DimBinder {
  public:
    explicit DimBinder(const Model& model);

    /// A tensor of this spec has this shape; `what` names it in messages: "input 'x' in 'f'".
    /// UserError with both shapes when the number of axes or a constant size differs, and with
    /// both tensors when a dim was bound to another size before.
    void add(const TensorSpec& spec, std::span<const std::int64_t> shape, const std::string& what);
    /// The dims bound so far, and those that follow from axes that are no bare dims (`2*len`).
    /// UserError when such an axis has a size that the dims contradict.
    DimValues finish();

  private:
    struct Binding {
        std::int64_t value = 0;
        std::string tensor;
    };
    struct Tensor {
        const TensorSpec* spec;
        std::vector<std::int64_t> shape;
        std::string what;
    };

    void bind(int dim, std::int64_t value, const std::string& what);
    std::vector<std::int64_t> values() const;
    /// The one dim of an extent that is not bound, where it has one alone and no power of it.
    std::optional<int> only_unknown(const Extent& extent) const;
    /// Binds the only unknown dim of an axis; false where there is none.
    bool solve(const Tensor& tensor, std::size_t axis);
    void solve_all();
    void verify(const Tensor& tensor) const;

    const Model* model_;
    std::map<int, Binding> bindings_;
    std::vector<Tensor> tensors_;
};

/// Binds the dims of one program from its inputs in `inputs` and the model's parameters in
/// `weights` (null: none). Tensors that are absent bind nothing; who needs them complains.
DimValues bind_dims(const Model& model, const Program& program, const SafetensorsFile& inputs,
                    const SafetensorsFile* weights);

/// Parses `NAME=N` and sets it in `dims`; UserError for other text, an unknown name or N < 1.
void set_dim(const Model& model, const std::string& text, DimValues& dims);

/// The sizes of parameters that are known by the tensors of a file alone; none where all are fixed.
DimValues dims_of_parameters(const Model& model, const SafetensorsFile& file);

/// What models link that leave sizes of parameters open.
struct OpenSizes {
    decltype(dims_of_parameters)* in_file;
};

}  // namespace fovea::runtime
