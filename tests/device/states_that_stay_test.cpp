// States that stay on a device from call to call: what is copied, and what the host sees.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <fovea.h>

#include "codegen/pipeline.h"
#include "runtime/device/on_device.h"
#include "runtime/session.h"
#include "tests/device/has_ptx.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/interpreter_device.h"
#include "tools/fovea/model/generated_model.h"

using namespace fovea;

namespace {

constexpr std::int64_t kStateRows = 3, kStateWidth = 40;

/// Counts the bytes that are copied between host and device.
class CountingDevice : public tool::InterpreterDevice {
  public:
    void copy_in(Address to, const void* from, std::size_t bytes) override {
        in += bytes;
        InterpreterDevice::copy_in(to, from, bytes);
    }
    void copy_out(void* to, Address from, std::size_t bytes) override {
        out += bytes;
        InterpreterDevice::copy_out(to, from, bytes);
    }

    std::size_t in = 0, out = 0;
};

/// A state of [batch, 40] that x is added to; y is its sum over the width, before.
Graph summed_up() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch"});
    Tensor state = s.cache("state", {"batch", kStateWidth});
    s.update(state, state + unsqueeze(x, 1));
    s.output("y", sum(state, 1));
    return graph;
}

class StatesOnDevice {
  public:
    StatesOnDevice()
        : compiled_(
              compile_model("summed_up", "", {}, {{.name = "forward", .graph = summed_up()}})),
          model_(runtime::device::on_device(
              tool::description_of(compiled_.plan), device,
              std::make_shared<const runtime::device::Code>(
                  tool::compile_for_devices(compiled_.plan, {"sm_80"})))),
          parameters_(model_, {}),
          instance(model_, "forward", parameters_) {
        instance.keep_states();
    }

    /// y of the first row, where all of x are `value`.
    float run(float value, std::int64_t batch = kStateRows) {
        instance.bind({{"batch", batch}});
        std::fill_n(instance.input<float>("x"), batch, value);
        device->in = device->out = 0;
        instance.run();
        return instance.output<float>("y")[0];
    }
    float state() { return instance.input<float>("state")[kStateWidth]; }

    std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();

  private:
    CompiledModel compiled_;
    runtime::Model model_;
    runtime::Parameters parameters_;

  public:
    runtime::Instance instance;
};

constexpr std::size_t kStateBytes = kStateRows * kStateWidth * sizeof(float);

}  // namespace

TEST_CASE("states that a caller may look at are copied in each run") {
    if (!test::has_ptx()) return;
    StatesOnDevice states;
    CHECK(states.run(1) == 0);
    CHECK(states.run(2) == kStateWidth * 1);
    CHECK(states.device->in > kStateBytes);
    CHECK(states.device->out > kStateBytes);
    CHECK(states.state() == 3);
}

TEST_CASE("states that stay on the device are copied when the host has changed or asks for them") {
    if (!test::has_ptx()) return;
    StatesOnDevice states;
    states.instance.leave_states();
    CHECK(states.run(1) == 0);
    CHECK(states.device->in > kStateBytes);  // zeros
    CHECK(states.device->out < kStateBytes);
    CHECK(states.run(2) == kStateWidth * 1);
    CHECK(states.run(4) == kStateWidth * 3);
    CHECK(states.device->in < kStateBytes);
    CHECK(states.device->out < kStateBytes);
    CHECK(states.state() == 0);
    states.instance.fetch_states();
    CHECK(states.state() == 7);

    std::fill_n(states.instance.input<float>("state"), kStateRows * kStateWidth, 10.0f);
    states.instance.states_changed();
    CHECK(states.run(1) == kStateWidth * 10);
    CHECK(states.run(1) == kStateWidth * 11);

    SUBCASE("zeros of other sizes, and of the same again") {
        CHECK(states.run(1, kStateRows + 2) == 0);
        CHECK(states.run(1, kStateRows + 2) == kStateWidth);
        CHECK(states.run(1) == 0);
        CHECK(states.run(1) == kStateWidth);
    }
    SUBCASE("zeros by clear_states") {
        states.instance.clear_states();
        CHECK(states.run(1) == 0);
        states.instance.fetch_states();
        CHECK(states.state() == 1);
    }
}
