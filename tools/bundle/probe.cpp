#include "tools/bundle/probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace fovea::bundle {

namespace device = runtime::device;

namespace {

double value_of(std::uint32_t word, bool is_float) {
    return is_float ? double(std::bit_cast<float>(word)) : double(word);
}

}  // namespace

double error_of(device::Device& on, const Probe& probe) {
    const int module = on.load(probe.text);
    const std::size_t in_bytes = probe.input.size() * 4, out_bytes = probe.expected.size() * 4;
    device::Allocation in(on), out(on);
    in.reserve(in_bytes);
    out.reserve(out_bytes);
    on.copy_in(in.address(), probe.input.data(), in_bytes);
    std::vector<std::uint64_t> arguments = {in.address(), out.address()};
    arguments.insert(arguments.end(), probe.more_arguments.begin(), probe.more_arguments.end());
    std::vector<device::MappedTensor> tensors;
    if (probe.tensor) {
        tensors.push_back(*probe.tensor);
        tensors[0].address = in.address();
    }
    const device::Region memory[] = {{in.address(), in_bytes, false},
                                     {out.address(), out_bytes, true}};
    on.launch({probe.entry, probe.entry, 1, probe.threads, 0, arguments, memory, tensors, module});
    std::vector<std::uint32_t> actual(probe.expected.size());
    on.copy_out(actual.data(), out.address(), out_bytes);
    on.synchronize();
    double error = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(value_of(actual[i], probe.of_floats) -
                                           value_of(probe.expected[i], probe.of_floats));
        if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
        error = std::max(error, difference);
    }
    return error;
}

}  // namespace fovea::bundle
