#include "tools/fovea/fuzz/draw_values.h"

#include <algorithm>

#include "runtime/training/random_stream.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool::fuzz {

namespace {

Array draw_array(const plan::Tensor& tensor, const Recipe& recipe, std::uint32_t stream) {
    Array array;
    for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, recipe.sizes));
    const runtime::RandomStream random(recipe.seed, stream);
    const std::int64_t most =
        plan::largest_value(tensor, [&](const Dim& dim) { return value_of(dim, recipe.sizes); }, 9);
    const std::int64_t least = tensor.checks.empty() ? -9 : 0;
    for (std::size_t i = 0; i < std::size_t(array.size()); ++i) {
        if (tensor.dtype == i32)
            array.values.push_back(double(
                least + std::int64_t(random.below(
                            i, std::uint64_t(std::max<std::int64_t>(most - least + 1, 1))))));
        else array.values.push_back(as_held(tensor.dtype, float(random.normal(i) * recipe.scale)));
    }
    return array;
}
}  // namespace

Values draw_values(const plan::Program& program, const Recipe& recipe) {
    Values values;
    std::uint32_t stream = 2;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::parameter || tensor.role == plan::Role::input)
            values[tensor.name] = draw_array(tensor, recipe, stream++);
    return values;
}

}  // namespace fovea::tool::fuzz
