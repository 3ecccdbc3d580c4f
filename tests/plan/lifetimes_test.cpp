// Lifetimes of buffers, and kernels that are held once.
#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/kernel/builder.h"
#include "codegen/plan/lifetimes.h"
#include "codegen/plan/phases.h"
#include "codegen/plan/share_kernels.h"

using namespace fovea;

namespace {

kernel::Kernel copy_kernel(std::string name, const Dim& extent) {
    kernel::Builder b(std::move(name));
    kernel::AxisId i = b.axis("i", extent);
    int x = b.input("x", {extent}), y = b.output("y", {extent});
    b.store(b.at(y, {i}), b.load(b.at(x, {i})));
    return b.finish();
}

/// x → a → b → y
plan::Program chain() {
    plan::Program program;
    for (auto [name, role] : {std::pair{"x", plan::Role::input},
                              {"y", plan::Role::output},
                              {"a", plan::Role::buffer},
                              {"b", plan::Role::buffer}})
        program.tensors.push_back({.name = name, .role = role, .shape = {Dim("n")}});
    program.steps = {{.kernel = 0, .name = "first", .arguments = {0, 2}},
                     {.kernel = 0, .name = "second", .arguments = {2, 3}},
                     {.kernel = 0, .name = "third", .arguments = {3, 1}}};
    return program;
}

}  // namespace

TEST_CASE("a buffer lives from the phase that writes it to the last that reads it") {
    plan::Program program = chain();
    plan::form_phases(program, {copy_kernel("copy", "n")}, 8);
    plan::set_lifetimes(program, {copy_kernel("copy", "n")});
    CHECK(program.tensors[2].first == 0);
    CHECK(program.tensors[2].last == 1);
    CHECK(program.tensors[3].first == 1);
    CHECK(program.tensors[3].last == 2);
    CHECK(program.tensors[1].first == 2);
}

TEST_CASE("reading what nothing wrote is a bug") {
    plan::Program program = chain();
    program.steps.erase(program.steps.begin());
    CHECK_THROWS_WITH_AS(plan::set_lifetimes(program, {copy_kernel("copy", "n")}),
                         "plan: second reads a before anything wrote it", InternalError);
}

TEST_CASE("the same kernel is held once, whatever it is called") {
    plan::KernelPool pool;
    CHECK(pool.number_of(copy_kernel("a", "n")) == 0);
    CHECK(pool.number_of(copy_kernel("b", "n")) == 0);
    CHECK(pool.number_of(copy_kernel("a", "m")) == 1);
    CHECK(pool.number_of(copy_kernel("a", 8)) == 2);
    CHECK(pool.kernels()[1].name == "a_b");
    CHECK(pool.kernels()[2].name == "a_c");
    pool.avoid({"a", "a_c", "other"});
    CHECK(pool.kernels()[0].name == "a_d");
    CHECK(pool.kernels()[1].name == "a_b");
    CHECK(pool.kernels()[2].name == "a_e");
}

TEST_CASE("a kernel that several layers share has the common part of their names") {
    const auto shared = [](const std::vector<std::string>& names) {
        plan::KernelPool pool;
        for (const std::string& name : names) CHECK(pool.number_of(copy_kernel(name, "n")) == 0);
        return pool.kernels()[0].name;
    };
    CHECK(shared({"encoder_block0_ffn_dense1", "encoder_block1_ffn_dense1"}) ==
          "encoder_block_ffn_dense1");
    CHECK(shared({"layers_0_self_attn_k_proj", "layers_0_self_attn_v_proj",
                  "layers_1_self_attn_k_proj"}) == "layers_self_attn_proj");
    CHECK(shared({"relu", "relu"}) == "relu");
    CHECK(shared({"a_0", "b_0"}) == "a_0");

    plan::KernelPool pool;
    pool.number_of(copy_kernel("block0_relu", "n"));
    pool.number_of(copy_kernel("block0_relu", "m"));
    pool.number_of(copy_kernel("block1_relu", "n"));
    pool.number_of(copy_kernel("block1_relu", "m"));
    CHECK(pool.kernels()[0].name == "block_relu");
    CHECK(pool.kernels()[1].name == "block_relu_b");
}
