#include "placement.h"

#include <algorithm>

#include "../memory/arena.h"
#include "../memory/program_layout.h"
#include "../memory/shape.h"

namespace fovea::runtime::device {
namespace {

/// Tensors start at multiples of this many bytes.
constexpr std::size_t kTensorAlignment = 256;

std::size_t rounded(std::size_t bytes) {
    return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// Bytes from one address of the host to another.
std::size_t distance(const void* from, const void* to) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(to) -
                                    static_cast<const std::byte*>(from));
}

}  // namespace

Placement::Placement(Device& device, const Model& model, const Program& program)
    : model_(model),
      program_(program),
      parameter_memory_(device),
      gradient_memory_(device),
      tensor_memory_(device),
      workspace_(device),
      prepared_(device) {
    for (const TensorSpec& output : program.outputs) {
        const auto parameter = std::find_if(
            model.parameters.begin(), model.parameters.end(),
            [&](const TensorSpec& spec) { return output.name == spec.name + ".grad"; });
        parameter_of_.push_back(parameter == model.parameters.end()
                                    ? -1
                                    : static_cast<int>(parameter - model.parameters.begin()));
    }
}

Placement::Change Placement::bind(const Call& call) {
    const std::size_t count = first_buffer() + program_.buffers.size();
    const std::span<const std::int64_t> dims(call.dims, model_.dims.size());
    const std::span<void* const> host(call.tensors, count);
    if (!tensors_.empty() && std::equal(dims.begin(), dims.end(), dims_.begin()) &&
        std::equal(host.begin(), host.end(), host_.begin()))
        return {};
    const bool same_parameters =
        !host_.empty() &&
        std::equal(host.begin(), host.begin() + std::ptrdiff_t(first_input()), host_.begin());
    dims_.assign(dims.begin(), dims.end());
    host_.assign(host.begin(), host.end());
    tensors_.assign(count, {});
    const bool lost_parameters = place_parameters();
    place_inputs_and_outputs();
    const bool lost_prepared = place_buffers();
    return {true, lost_parameters || lost_prepared || !same_parameters};
}

std::size_t Placement::bytes_of(DType dtype, std::span<const Extent> shape) const {
    return static_cast<std::size_t>(element_count(shape_values(shape, dims_))) * size_of(dtype);
}

bool Placement::place_parameters() {
    const std::size_t count = first_input();
    if (count == 0) return false;
    parameters_on_host_ = *std::min_element(host_.begin(), host_.begin() + std::ptrdiff_t(count));
    parameters_.bytes = trained_end_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const TensorSpec& spec = model_.parameters[i];
        tensors_[i] = {distance(parameters_on_host_, host_[i]), bytes_of(spec.dtype, spec.shape),
                       false};
        const std::size_t end = tensors_[i].address + tensors_[i].bytes;
        parameters_.bytes = std::max(parameters_.bytes, end);
        if (!spec.frozen) trained_end_ = std::max(trained_end_, end);
    }
    const bool lost = parameter_memory_.reserve_zeros(in_chunks(parameters_.bytes));
    parameters_.address = parameter_memory_.address();
    for (std::size_t i = 0; i < count; ++i) tensors_[i].address += parameters_.address;
    return lost;
}

int Placement::tensor_under(std::size_t output) const {
    for (std::size_t i = 0; i < first_output(); ++i)
        if (host_[i] == host_[output] && tensors_[i].bytes == tensors_[output].bytes)
            return static_cast<int>(i);
    return -1;
}

bool Placement::is_gradient(std::size_t output) const {
    const int parameter = parameter_of_[output - first_output()];
    return parameter >= 0 &&
           tensors_[static_cast<std::size_t>(parameter)].bytes == tensors_[output].bytes;
}

void Placement::place_inputs_and_outputs() {
    std::size_t bytes = 0;
    bool has_gradients = false;
    std::vector<std::size_t> own;  // with memory of their own, at offset `address` first
    for (std::size_t i = first_input(); i < first_buffer(); ++i) {
        const bool is_input = i < first_output();
        const TensorSpec& spec =
            is_input ? program_.inputs[i - first_input()] : program_.outputs[i - first_output()];
        tensors_[i].bytes = bytes_of(spec.dtype, spec.shape);
        if (!is_input && tensors_[i].bytes > 0 && tensor_under(i) >= 0) continue;
        if (!is_input && is_gradient(i)) {
            has_gradients = true;
            continue;
        }
        tensors_[i].address = bytes;
        own.push_back(i);
        bytes += rounded(tensors_[i].bytes);
    }
    tensor_memory_.reserve(bytes);
    if (has_gradients) gradient_memory_.reserve_zeros(trained_bytes());
    for (std::size_t i : own) tensors_[i].address += tensor_memory_.address();
    for (std::size_t i = first_output(); i < first_buffer(); ++i) {
        if (std::find(own.begin(), own.end(), i) != own.end()) continue;
        const int under = tensors_[i].bytes > 0 ? tensor_under(i) : -1;
        const int other = under >= 0 ? under : parameter_of_[i - first_output()];
        const Address address = tensors_[static_cast<std::size_t>(other)].address;
        tensors_[i].address = under >= 0 ? address : gradients() + (address - parameters_.address);
    }
}

bool Placement::place_buffers() {
    std::vector<BufferLife> lives;
    std::vector<std::size_t> lasting, offsets;
    std::size_t lasting_bytes = 0;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        const BufferSpec& buffer = program_.buffers[i];
        Region& region = tensors_[first_buffer() + i];
        region.bytes = bytes_of(buffer.dtype, buffer.shape);
        lives.push_back(life_of(buffer, rounded(region.bytes)));
        if (!buffer.prepared) continue;
        lasting.push_back(first_buffer() + i);
        offsets.push_back(lasting_bytes);
        lasting_bytes += rounded(region.bytes);
    }
    const WorkspacePlan plan = plan_workspace(lives);
    workspace_.reserve(plan.peak_bytes);
    for (std::size_t i = 0; i < lives.size(); ++i)
        tensors_[first_buffer() + i].address = workspace_.address() + plan.offsets[i];
    const bool lost = prepared_.reserve(lasting_bytes);
    for (std::size_t i = 0; i < lasting.size(); ++i)
        tensors_[lasting[i]].address = prepared_.address() + offsets[i];
    return lost && !lasting.empty();
}

}  // namespace fovea::runtime::device
