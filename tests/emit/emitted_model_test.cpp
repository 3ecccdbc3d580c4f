// A whole generated model: its text, its programs in one parallel region, prepared buffers, the
// observer and the checks of inputs.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/builder.h"
#include "runtime/error.h"
#include "runtime/threads.h"
#include "tests/emit/compiled_model.h"
#include "tests/golden.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

Kernel transpose_weight() {
    Builder b("transpose_weight", "w_t = w^T", {"lesson.cpp:12"});
    const AxisId i = b.axis("i", 4), j = b.axis("j", 3);
    const int w = b.input("w", {3, 4}), t = b.output("w_t", {4, 3});
    b.each(i, [&] { b.store(b.at(t, {i, j}), b.load(b.at(w, {j, i}))); });
    return b.finish();
}

Kernel lookup() {
    Builder b("lookup", "x = table[ids]", {"lesson.cpp:14"});
    const AxisId row = b.axis("row", Dim("batch") * Dim("steps")), h = b.axis("hidden", 4);
    const int ids = b.input("ids", {"batch", "steps"}, i32), table = b.input("table", {"vocab", 4});
    const int x = b.output("x", {"batch", "steps", 4});
    b.each(row, [&] {
        Access id, out;
        id.buffer = ids, id.strides = {{row, 1}};
        out.buffer = x, out.strides = {{row, 4}, {h, 1}};
        b.store(out, b.load(b.at_row(table, b.load(id), {h})));
    });
    return b.finish();
}

Kernel project() {
    Builder b("project", "y = x w^T", {"lesson.cpp:15"});
    const AxisId row = b.axis("row", Dim("batch") * Dim("steps")), j = b.axis("j", 3);
    const AxisId h = b.axis("h", 4);
    const int x = b.input("x", {"batch", "steps", 4}), w = b.input("w_t", {4, 3});
    const int y = b.output("y", {"batch", "steps", 3});
    b.par({row, j}, [&] {
        Access in, out;
        in.buffer = x, in.strides = {{row, 4}, {h, 1}};
        out.buffer = y, out.strides = {{row, 3}, {j, 1}};
        b.store(out, b.contract(b.load(in), b.load(b.at(w, {h, j})), {h}));
    });
    return b.finish();
}

plan::Tensor tensor(const std::string& name, plan::Role role, std::vector<Dim> shape,
                    DType dtype = f32) {
    plan::Tensor result;
    result.name = name, result.role = role, result.shape = std::move(shape), result.dtype = dtype;
    return result;
}

plan::Model lesson() {
    plan::Model model;
    model.name = "lesson", model.source = "lesson.cpp";
    model.dims = {"batch", "steps", "vocab"};
    model.settings = {{"hidden", "4"}};
    plan::Tensor table = tensor("embedding.weight", plan::Role::parameter, {"vocab", 4});
    table.initial = plan::Initial::normal;
    plan::Tensor weight = tensor("dense.weight", plan::Role::parameter, {3, 4});
    weight.initial = plan::Initial::xavier_uniform;
    model.parameters = {table, weight};
    model.kernels = {transpose_weight(), lookup(), project()};
    plan::Tensor ids = tensor("src", plan::Role::input, {"batch", "steps"}, i32);
    ids.checks = {{plan::Holds::ids, "vocab", {}, {}}};
    plan::Tensor lens = tensor("src_lens", plan::Role::input, {"batch"}, i32);
    lens.checks = {{plan::Holds::lengths, "steps", {}, {}}};
    plan::Tensor hidden = tensor("hidden", plan::Role::buffer, {"batch", "steps", 4});
    hidden.first = 0, hidden.last = 1;
    plan::Program forward;
    forward.name = "forward";
    forward.tensors = {table,
                       weight,
                       ids,
                       lens,
                       tensor("logits", plan::Role::output, {"batch", "steps", 3}),
                       hidden,
                       tensor("dense.weight.t", plan::Role::prepared, {4, 3})};
    forward.prepare = {{0, "dense.weight transposed", {1, 6}}};
    forward.steps = {{1, "embedding", {2, 0, 5}}, {2, "dense", {5, 6, 4}, 1}};
    model.programs = {forward};
    return model;
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("the files of a model") {
    const auto emitter = emit::make_cpp_emitter();
    CHECK(emitter->target() == "cpp");
    for (const emit::File& file : emitter->emit_model(lesson()))
        check_golden(
            "emit/lesson/" + (file.name == "CMakeLists.txt" ? "CMakeLists" : file.name) + ".txt",
            file.text);
}

TEST_CASE("a model prepares, runs, is observed, and checks its inputs") {
    const runtime::Model& model = compile_and_load(lesson(), "baseline");
    CHECK(model.name == "lesson");
    CHECK(model.isa == "baseline");
    CHECK(model.parameters.size() == 2);
    REQUIRE(model.programs.size() == 1);
    const runtime::Program& forward = model.programs[0];
    CHECK(forward.kernels == std::vector<std::string>{"embedding", "dense"});
    REQUIRE(forward.buffers.size() == 2);
    CHECK(forward.buffers[1].prepared);
    CHECK(forward.buffers[0].shape[0].text(model.dims) == "batch");

    std::vector<float> table{1, 2, 3, 4, 5, 6, 7, 8}, weight(12), logits(6, -1), hidden(8), w_t(12);
    for (int i = 0; i < 12; ++i) weight[std::size_t(i)] = float(i);
    std::vector<std::int32_t> src{1, 0}, lens{2};
    void* tensors[] = {table.data(),  weight.data(), src.data(), lens.data(),
                       logits.data(), hidden.data(), w_t.data()};
    const std::int64_t dims[] = {1, 2, 2};
    std::vector<int> seen;
    runtime::Call call;
    call.dims = dims, call.tensors = tensors;
    call.observe = [](void* state, int kernel) {
        static_cast<std::vector<int>*>(state)->push_back(kernel);
    };
    call.observe_state = &seen;
    forward.check_inputs(call);
    forward.run(call);
    CHECK(seen == std::vector<int>{0, 1});
    const std::vector<float> expected{44, 148, 252, 20, 60, 100};
    CHECK(logits == expected);

    weight[0] = 100;  // the transposed copy stays as it is until the caller asks
    std::atomic<int> finished = 0;
    call.prepare = false;
    call.finish = [](void* state, runtime::Team&) { ++*static_cast<std::atomic<int>*>(state); };
    call.finish_state = &finished;
    forward.run(call);
    CHECK(logits == expected);
    CHECK(finished == runtime::thread_count());

    src[1] = 2;
    CHECK(message_of([&] { forward.check_inputs(call); }) ==
          "input src[0, 1] is the id 2; ids are from 0 to 1");
    src[1] = 1, lens[0] = 3;
    CHECK(message_of([&] { forward.check_inputs(call); }) ==
          "input src_lens[0] is the length 3; lengths are from 0 to 2");
}
