#include "runtime/device/on_device.h"

#include <doctest/doctest.h>

#include "runtime/device/cuda_device.h"
#include "runtime/error.h"
#include "tests/device/scaled_model.h"
#include "tools/fovea/device/interpreter_device.h"

using namespace fovea;

TEST_CASE("a device without code for it, or for a program, is refused in a sentence") {
    const auto device = std::make_shared<tool::InterpreterDevice>();
    const auto message = [&](std::shared_ptr<runtime::device::Code> code) -> std::string {
        try {
            runtime::device::on_device(test::scaled_model(), device, code);
        } catch (const runtime::UserError& error) {
            return error.what();
        }
        return "";
    };
    auto code = test::scaled_code();
    code->programs.clear();
    CHECK(message(code) == "the program 'forward' of scaled has no kernels for a device");
    code->modules.clear();
    CHECK(message(code) ==
          "the kernels of scaled are for no device, which the interpreter of PTX does not run");
}

TEST_CASE("PTX runs from its architecture on, that of an `a` there alone") {
    using runtime::device::runs;
    CHECK(runs(80, "sm_80"));
    CHECK(runs(86, "sm_80"));
    CHECK_FALSE(runs(75, "sm_80"));
    CHECK(runs(90, "sm_90a"));
    CHECK_FALSE(runs(100, "sm_90a"));
    CHECK(runs(100, "sm_90"));
}
