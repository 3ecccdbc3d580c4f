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

std::ptrdiff_t right(const std::vector<VerifyRow>& rows) {
    return std::count_if(rows.begin(), rows.end(), [](const VerifyRow& row) { return row.ok; });
}

}  // namespace

TEST_CASE("tiles of products and of boxes lie where the manual says") {
    InterpreterDevice device;
    CHECK(right(verify_products(device)) == 7);
    CHECK(right(verify_boxes(device)) == 5);
}

TEST_CASE("tiles that lie elsewhere are found") {
    ShiftedDevice device;
    CHECK(right(verify_products(device)) == 0);
    CHECK(right(verify_boxes(device)) == 0);
}
