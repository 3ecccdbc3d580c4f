#include "tests/device/scaled_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/device/on_device.h"
#include "runtime/session.h"

namespace fovea::test {
namespace {

using namespace runtime;
using namespace runtime::device;

const Extent kBatchDim = Extent::dim(0), kInDim = Extent::dim(1);

/// An entry over pointers %d0, %d1, … and numbers behind them; %r0 is the element that a thread
/// has, %d8 its address' offset.
std::string entry(const std::string& name, int parameters, const std::string& body) {
    std::string head, loads;
    for (int i = 0; i < parameters; ++i) {
        head += fmt::format("{}.param .u64 {}_{}", i ? ", " : "", name, i);
        loads += fmt::format("    ld.param.u64 %d{}, [{}_{}];\n", i, name, i);
    }
    return fmt::format(R"(.visible .entry {}({})
{{
    .reg .pred %p<4>;
    .reg .b32 %r<10>;
    .reg .f32 %f<10>;
    .reg .b64 %d<20>;
{}    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r0, %r1, %r2, %r3;
    mul.wide.u32 %d8, %r0, 4;
{}    ret;
}}
)",
                       name, head, loads, body);
}

/// Ends threads from element %d`count` on.
std::string guard(int count) {
    return fmt::format(
        "    cvt.u64.u32 %d9, %r0;\n"
        "    setp.ge.u64 %p0, %d9, %d{};\n"
        "    @%p0 ret;\n",
        count);
}

std::string load(int value, int pointer) {
    return fmt::format("    add.u64 %d10, %d{}, %d8;\n    ld.global.f32 %f{}, [%d10];\n", pointer,
                       value);
}
std::string store(int value, int pointer) {
    return fmt::format("    add.u64 %d10, %d{}, %d8;\n    st.global.f32 [%d10], %f{};\n", pointer,
                       value);
}

std::string ptx(const std::string& architecture, bool too_far) {
    const std::string limit = too_far ? "    add.u64 %d11, %d11, 1;\n" : "";
    std::string text = fmt::format(".version 7.8\n.target {}\n.address_size 64\n", architecture);
    text +=
        entry("multiply", 4,
              guard(3) + load(0, 0) + load(1, 1) + "    mul.f32 %f2, %f0, %f1;\n" + store(2, 2));
    text +=
        entry("add", 4,
              guard(3) + load(0, 0) + load(1, 1) + "    add.f32 %f2, %f0, %f1;\n" + store(2, 2));
    text += entry("scale_rows", 5,
                  "    mul.lo.u64 %d11, %d3, %d4;\n" + limit + guard(11) + load(0, 0) +
                      "    rem.u64 %d12, %d9, %d4;\n"
                      "    shl.b64 %d12, %d12, 2;\n"
                      "    add.u64 %d12, %d1, %d12;\n"
                      "    ld.global.f32 %f1, [%d12];\n"
                      "    mul.f32 %f2, %f0, %f1;\n" +
                      store(2, 2));
    text += entry("key", 3,
                  "    ld.global.u64 %d3, [%d1];\n"
                  "    st.global.u32 [%d0], %d3;\n"
                  "    ld.global.u64 %d4, [%d1+8];\n"
                  "    st.global.u32 [%d0+4], %d4;\n"
                  "    st.global.u32 [%d0+8], %d2;\n");
    return text;
}

Kernel kernel(const std::string& name, std::vector<bool> written, std::vector<int> dims,
              GridFactor grid) {
    Kernel result{.name = name};
    for (bool is_written : written) result.buffers.push_back({runtime::DType::f32, is_written});
    result.dims = std::move(dims);
    result.launches = {{.entry = name, .grid = {grid}, .threads = int(grid.tile)}};
    return result;
}

Kernel sums() {
    Scan scan;
    scan.count = kBatchDim;
    scan.kernels = {kernel("add", {false, false, true}, {1}, {kInDim, 32})};
    scan.calls = {{0, {{0, 0, kInDim}, {1, 0, kInDim}, {0, kInDim, kInDim}}}};
    scan.starts = {{{2, 0, 0}, {0, 0, 0}, kInDim}};
    Kernel result{.name = "sums"};
    result.buffers = {{runtime::DType::f32, true}, {}, {}};
    result.scan = std::make_shared<const Scan>(scan);
    return result;
}

}  // namespace

runtime::Model scaled_model() {
    Program program;
    program.name = "forward";
    program.inputs = {{.name = "x", .shape = {kBatchDim, kInDim}}};
    program.outputs = {{.name = "y", .shape = {kBatchDim, kInDim}},
                       {.name = "sums", .shape = {kBatchDim + 1, kInDim}},
                       {.name = "scale.grad", .shape = {kInDim}},
                       {.name = "key", .dtype = runtime::DType::i32, .shape = {3}}};
    program.kernels = {"y", "sums", "gradient", "key"};
    Model model;
    model.name = "scaled";
    model.dims = {"batch", "in"};
    model.parameters = {{.name = "scale", .shape = {kInDim}, .initial = runtime::Initial::ones}};
    model.programs = {program};
    return model;
}

std::shared_ptr<Code> scaled_code(bool too_far) {
    auto code = std::make_shared<Code>();
    code->dims = {"batch", "in"};
    for (const char* architecture : {"sm_80", "sm_90"}) {
        Kernel key = kernel("key", {true}, {}, {1, 1});
        key.sites = 1;
        key.buffers[0].dtype = runtime::DType::i32;
        code->modules.push_back(
            {architecture,
             ptx(architecture, too_far),
             {kernel("multiply", {false, false, true}, {1}, {kInDim, 32}),
              kernel("scale_rows", {false, false, true}, {0, 1}, {kBatchDim * kInDim, 64}), sums(),
              std::move(key)}});
    }
    // Tensors: 0 scale | 1 x | 2 y, 3 sums, 4 scale.grad, 5 key | 6 squares, 7 product.
    code->programs = {{"forward",
                       {{.name = "squares", .shape = {kInDim}, .prepared = true},
                        {.name = "product", .shape = {kBatchDim, kInDim}, .first = 0, .last = 1}},
                       {{0, {0, 0, 6}}},
                       {{1, {1, 6, 2}}, {2, {3, 1, 0}}, {0, {2, 0, 4}}, {3, {5}, {7}}}}};
    return code;
}

std::string other_text() {
    std::string text = ".version 7.8\n.target sm_80\n.address_size 64\n";
    for (const char* name : {"multiply", "add", "scale_rows"})
        text += entry(
            name, 4,
            guard(3) + load(0, 0) + load(1, 1) + "    sub.f32 %f2, %f0, %f1;\n" + store(2, 2));
    return text;
}

namespace {

void check_run(Instance& instance, Parameters& parameters, std::int64_t batch, std::int64_t in,
               std::uint64_t seed) {
    CAPTURE(batch);
    CAPTURE(in);
    instance.bind({{"batch", batch}, {"in", in}});
    auto* x = instance.input<float>("x");
    for (std::int64_t i = 0; i < batch * in; ++i) x[i] = float(i % 13) - 5;
    const auto scale = [&](std::int64_t i) { return parameters.values(0)[std::size_t(i)]; };
    for (int again = 0; again < 3; ++again) {
        instance.run(seed, std::uint64_t(again));
        const auto y = instance.output_values("y"), all = instance.output_values("sums"),
                   gradient = instance.output_values("scale.grad");
        for (std::int64_t i = 0; i < batch * in; ++i)
            REQUIRE(y[std::size_t(i)] == x[i] * (scale(i % in) * scale(i % in)));
        for (std::int64_t i = 0; i < in; ++i) {
            float sum = scale(i);
            REQUIRE(all[std::size_t(i)] == sum);
            for (std::int64_t b = 0; b < batch; ++b) {
                sum += x[b * in + i];
                REQUIRE(all[std::size_t((b + 1) * in + i)] == sum);
            }
            if (batch) REQUIRE(gradient[std::size_t(i)] == y[std::size_t(i)] * scale(i));
        }
        CHECK(instance.output<std::int32_t>("key")[0] == std::int32_t(seed));
        CHECK(instance.output<std::int32_t>("key")[1] == again);
        CHECK(instance.output<std::int32_t>("key")[2] == 7);  // the site of its step
    }
}

}  // namespace

void check_scaled_model(std::shared_ptr<Device> device, std::shared_ptr<const Code> code) {
    const Model model = on_device(scaled_model(), std::move(device), std::move(code));
    for (std::int64_t in : {1, 7, 100}) {
        Parameters parameters(model, {{"in", in}});
        Instance instance(model, "forward", parameters);
        for (std::int64_t i = 0; i < in; ++i) parameters.values(0)[std::size_t(i)] = float(i + 2);
        for (std::int64_t batch : {3, 1, 40, 3}) check_run(instance, parameters, batch, in, 5);
        parameters.values(0)[0] = 20;
        instance.parameters_changed();
        check_run(instance, parameters, 3, in, 6);
    }
}

}  // namespace fovea::test
