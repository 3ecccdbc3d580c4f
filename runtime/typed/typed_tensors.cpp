// Sizes, addresses and counts of the tensors of a call.
#include "typed_tensors.h"

#include <algorithm>
#include <cstring>

#include "../error.h"
#include "../memory/shape.h"

namespace fovea::runtime {

std::vector<TypedTensors::Seen> TypedTensors::seen(const std::vector<TensorSpec>& specs,
                                                   std::size_t first) const {
    std::vector<Seen> result;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].state ||
            std::find(hidden_.begin(), hidden_.end(), specs[i].name) != hidden_.end())
            continue;
        Seen tensor;
        tensor.tensor = first + i;
        tensor.spec = &specs[i];
        tensor.shape = instance_.shape_of(specs[i]);
        tensor.count = element_count(tensor.shape);
        tensor.own = instance_.tensor(tensor.tensor);
        result.push_back(std::move(tensor));
    }
    return result;
}

void TypedTensors::hide(const std::string& name) {
    hidden_.push_back(name);
    is_bound_ = false;
}

void TypedTensors::bind(std::span<const std::int64_t> sizes) {
    is_bound_ = false;
    instance_.bind_sizes(sizes);
    const Program& program = instance_.program();
    const std::size_t parameters = instance_.parameter_count();
    inputs_ = seen(program.inputs, parameters);
    outputs_ = seen(program.outputs, parameters + program.inputs.size());
    sizes_.assign(sizes.begin(), sizes.end());
    is_bound_ = true;
}

void TypedTensors::place(std::span<const std::int64_t> sizes,
                         std::initializer_list<GivenInput> inputs,
                         std::initializer_list<void*> outputs) {
    bind_to(sizes);
    std::size_t i = 0;
    for (const GivenInput& given : inputs) {
        const Seen& input = inputs_[i++];
        const bool is_counted = given.count != GivenInput::kUncounted;
        const std::int64_t count = !given.data ? 0 : is_counted ? given.count : input.count;
        if (count != input.count) refuse(input, count);
        // Programs read their inputs alone; null has no elements.
        void* const address = const_cast<void*>(given.data);
        instance_.place_tensor(input.tensor, address ? address : input.own);
    }
    i = 0;
    for (void* address : outputs) {
        const Seen& output = outputs_[i++];
        instance_.place_tensor(output.tensor, address ? address : output.own);
    }
}

void TypedTensors::copy(std::size_t i, void* address) const {
    const Seen& output = outputs_[i];
    const std::size_t bytes = static_cast<std::size_t>(output.count) * size_of(output.spec->dtype);
    if (address && bytes > 0) std::memcpy(address, instance_.tensor(output.tensor), bytes);
}

void TypedTensors::refuse(const Seen& input, std::int64_t given) const {
    throw UserError(
        "program '{}' has input '{}' of {}, which is {} here: that has {} elements, and {} "
        "are given",
        {instance_.program().name, input.spec->name,
         shape_text(input.spec->shape, instance_.model().dims), shape_text(input.shape),
         input.count, given});
}

}  // namespace fovea::runtime
