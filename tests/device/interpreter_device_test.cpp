#include "tools/fovea/device/interpreter_device.h"

#include <doctest/doctest.h>

#include "runtime/device/on_device.h"
#include "runtime/error.h"
#include "runtime/parallel/team.h"
#include "runtime/session.h"
#include "tests/device/scaled_model.h"

using namespace fovea;
using tool::InterpreterDevice;

TEST_CASE("programs run on a device as they do on this machine's cores") {
    test::check_scaled_model(std::make_shared<InterpreterDevice>());
}

TEST_CASE("a device holds the kernels of several models, whatever their names") {
    const auto device = std::make_shared<InterpreterDevice>();
    device->load(test::other_text());
    test::check_scaled_model(device);
}

TEST_CASE("the observer sees what each kernel has written") {
    const auto model = runtime::device::on_device(
        test::scaled_model(), std::make_shared<InterpreterDevice>(), test::scaled_code());
    runtime::Parameters parameters(model, {{"in", 2}});
    runtime::Instance instance(model, "forward", parameters);
    instance.bind({{"batch", 1}, {"in", 2}});
    parameters.values(0)[0] = 2, parameters.values(0)[1] = 3;
    instance.input<float>("x")[0] = 5, instance.input<float>("x")[1] = 7;
    struct Seen {
        runtime::Instance& instance;
        std::vector<int> kernels;
        std::vector<float> y;
    } seen{instance, {}, {}};
    runtime::Call call;
    call.observe_state = &seen;
    call.observe = [](void* state, int kernel) {
        auto& own = *static_cast<Seen*>(state);
        own.kernels.push_back(kernel);
        if (kernel == 0)
            own.y = {own.instance.output<float>("y")[0], own.instance.output<float>("y")[1]};
    };
    instance.run_call(call);
    CHECK(seen.kernels == std::vector{0, 1, 2, 3});
    CHECK(seen.y == std::vector{20.0F, 63.0F});
}

TEST_CASE("what follows the kernels runs on all threads of the host") {
    const auto model = runtime::device::on_device(
        test::scaled_model(), std::make_shared<InterpreterDevice>(), test::scaled_code());
    runtime::Parameters parameters(model, {{"in", 1}});
    runtime::Instance instance(model, "forward", parameters);
    instance.bind({{"batch", 1}, {"in", 1}});
    int first_threads = 0;
    runtime::Call call;
    call.finish_state = &first_threads;
    call.finish = [](void* state, runtime::Team& team) {
        if (runtime::Team::part().index == 0) ++*static_cast<int*>(state);
        team.wait();
    };
    instance.run_call(call);
    CHECK(first_threads == 1);
}

TEST_CASE("an access behind a tensor names the kernel and its line") {
    const auto model = runtime::device::on_device(
        test::scaled_model(), std::make_shared<InterpreterDevice>(), test::scaled_code(true));
    runtime::Parameters parameters(model, {{"in", 3}});
    runtime::Instance instance(model, "forward", parameters);
    instance.bind({{"batch", 2}, {"in", 3}});
    std::string message;
    try {
        instance.run();
    } catch (const std::exception& error) {
        message = error.what();
    }
    CHECK(message.starts_with("kernel scale_rows: "));
    CHECK(message.find("ld.global.f32") != std::string::npos);
}

TEST_CASE("memory of the device that nothing has written holds no numbers") {
    InterpreterDevice device;
    const auto address = device.allocate(8);
    float values[2] = {};
    device.copy_out(values, address, 8);
    CHECK(values[0] != values[0]);
    CHECK(device.allocate(0) % 256 == 0);
    CHECK_THROWS(device.copy_out(values, address, 12));
}
