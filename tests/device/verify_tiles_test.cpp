#include "tools/fovea/device/verify_tiles.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tools/fovea/device/interpreter_device.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

/// What is copied in lies 16 bytes further on, as if the instructions read it there.
class ShiftedDevice : public InterpreterDevice {
  public:
    void copy_in(Address to, const void* from, std::size_t bytes) override {
        std::vector<std::byte> shifted(static_cast<const std::byte*>(from),
                                       static_cast<const std::byte*>(from) + bytes);
        std::rotate(shifted.begin(), shifted.end() - 16, shifted.end());
        InterpreterDevice::copy_in(to, shifted.data(), bytes);
    }
};

std::ptrdiff_t right(runtime::device::Device& device, const std::vector<bundle::Probe>& probes) {
    return std::count_if(probes.begin(), probes.end(), [&](const bundle::Probe& probe) {
        return bundle::error_of(device, probe) == 0;
    });
}

}  // namespace

TEST_CASE("tiles of products and of boxes lie where the manual says") {
    InterpreterDevice device;
    CHECK(right(device, product_probes()) == 9);
    CHECK(right(device, box_probes()) == 5);
}

TEST_CASE("a group of warps gives registers to others") {
    InterpreterDevice device;
    CHECK(right(device, register_probes()) == 1);
}

TEST_CASE("tiles that lie elsewhere are found") {
    ShiftedDevice device;
    CHECK(right(device, product_probes()) == 0);
    CHECK(right(device, box_probes()) == 0);
    CHECK(right(device, register_probes()) == 0);
}
