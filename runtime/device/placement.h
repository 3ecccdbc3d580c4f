// Where the tensors of a bound program lie on a device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../parameters.h"
#include "../program.h"
#include "device.h"

namespace fovea::runtime::device {

/// Places the parameters, inputs, outputs and buffers of a program on a device: parameters and
/// their gradients as the flat arrays of the host do, buffers by the plan of the workspace.
class Placement {
  public:
    /// Flat arrays on the device are whole chunks of this many floats, the rest zeros.
    static constexpr std::size_t kChunk = Parameters::kChunk;

    /// Model and program must outlive it.
    Placement(Device& device, const Model& model, const Program& program);

    /// What binding has changed: addresses or sizes; what parameters and prepared buffers hold.
    struct Change {
        bool places = false, contents = false;
    };
    /// For the dims and tensors of a call. Nothing changes when they are those of the last one.
    Change bind(const Call& call);

    /// Address and bytes of tensor `number`, in the order of Call::tensors.
    const Region& operator[](std::size_t number) const { return tensors_[number]; }
    std::size_t size() const { return tensors_.size(); }
    /// Whether a tensor, an output, is the gradient of a parameter.
    bool is_gradient(std::size_t output) const;
    /// The parameters as one block, and where it starts on the host.
    const Region& parameters() const { return parameters_; }
    const void* parameters_on_host() const { return parameters_on_host_; }
    /// The gradients of the parameters, placed as they are; gaps are zero.
    Address gradients() const { return gradient_memory_.address(); }
    /// Of an array like those that are trained, which come first, in whole chunks.
    std::size_t trained_bytes() const { return in_chunks(trained_end_); }
    std::span<const std::int64_t> dims() const { return dims_; }
    std::size_t first_input() const { return model_.parameters.size(); }
    std::size_t first_output() const { return first_input() + program_.inputs.size(); }
    std::size_t first_buffer() const { return first_output() + program_.outputs.size(); }

  private:
    static std::size_t in_chunks(std::size_t bytes) {
        constexpr std::size_t chunk = kChunk * sizeof(float);
        return (bytes + chunk - 1) / chunk * chunk;
    }
    std::size_t bytes_of(DType dtype, std::span<const Extent> shape) const;
    bool place_parameters();
    void place_inputs_and_outputs();
    bool place_buffers();
    /// The input or parameter that lies where this output does on the host, or -1.
    int tensor_under(std::size_t output) const;

    const Model& model_;
    const Program& program_;
    std::vector<int> parameter_of_;  // for each output, the parameter by whose name it is; -1: none
    std::vector<std::int64_t> dims_;
    std::vector<void*> host_;
    std::vector<Region> tensors_;
    Region parameters_;
    const void* parameters_on_host_ = nullptr;
    std::size_t trained_end_ = 0;  // of the last parameter that is trained
    Allocation parameter_memory_, gradient_memory_, tensor_memory_, workspace_, prepared_;
};

}  // namespace fovea::runtime::device
