// A kernel of a few instructions with the words that it must write: what an instruction does,
// against its definition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace fovea::bundle {

/// One block of `entry`, whose arguments are the addresses of input and output, then
/// `more_arguments`, then the map of `tensor`.
struct Probe {
    std::string name;          // `mma.m16n8k16 bf16`
    std::string architecture;  // that it needs: sm_80, sm_90, sm_90a
    std::string text;          // PTX
    std::string entry;
    int threads = 32;
    std::vector<std::uint32_t> input, expected;
    bool of_floats = false;  // the expected words are float32, otherwise whole numbers
    std::vector<std::uint64_t> more_arguments = {};
    std::optional<runtime::device::MappedTensor> tensor = {};  // lies in the input
};

/// The largest difference from an expected word; 0 where the instruction does what it should.
double error_of(runtime::device::Device& device, const Probe& probe);

}  // namespace fovea::bundle
