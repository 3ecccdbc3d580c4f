// Buffers that lie where one is read for the last time.
#include "codegen/plan/write_in_place.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"
#include "codegen/plan/lifetimes.h"
#include "codegen/plan/phases.h"

using namespace fovea;

namespace {

/// z = x + y
kernel::Kernel sum_along(const Dim& extent) {
    kernel::Builder b("sum");
    const kernel::AxisId i = b.axis("i", extent);
    const int x = b.input("x", {extent}), y = b.input("y", {extent}), z = b.output("z", {extent});
    b.store(b.at(z, {i}), b.add(b.load(b.at(x, {i})), b.load(b.at(y, {i}))));
    return b.finish();
}

struct Of {
    enum { given, result, a, b, c };
};

/// A program of sums, each of two tensors.
plan::Program sums_in_place(std::vector<std::vector<int>> sums) {
    plan::Program program;
    for (const auto& [name, role] : {std::pair{"given", plan::Role::input},
                                     {"result", plan::Role::output},
                                     {"a", plan::Role::buffer},
                                     {"b", plan::Role::buffer},
                                     {"c", plan::Role::buffer}})
        program.tensors.push_back({.name = name, .role = role, .shape = {Dim("n")}});
    for (std::vector<int>& arguments : sums)
        program.steps.push_back({.kernel = 0, .name = "sum", .arguments = std::move(arguments)});
    const std::vector<kernel::Kernel> kernels = {sum_along("n")};
    plan::form_phases(program, kernels, 8);
    plan::set_lifetimes(program, kernels);
    plan::write_in_place(program, kernels);
    return program;
}

}  // namespace

TEST_CASE("a buffer lies over the one that its step reads last, and one over that") {
    const plan::Program program = sums_in_place({{Of::given, Of::given, Of::a},
                                                 {Of::a, Of::given, Of::b},
                                                 {Of::b, Of::given, Of::c},
                                                 {Of::c, Of::given, Of::result}});
    CHECK(program.tensors[Of::a].over == -1);
    CHECK(program.tensors[Of::b].over == Of::a);
    CHECK(program.tensors[Of::c].over == Of::b);
    CHECK(program.tensors[Of::result].over == -1);
}

TEST_CASE("what another step reads later, or beside, is no place") {
    const plan::Program later = sums_in_place({{Of::given, Of::given, Of::a},
                                               {Of::a, Of::given, Of::b},
                                               {Of::a, Of::b, Of::c},
                                               {Of::c, Of::given, Of::result}});
    CHECK(later.tensors[Of::b].over == -1);
    CHECK(later.tensors[Of::c].over == Of::a);
    // Both sums of a are of one phase.
    const plan::Program beside = sums_in_place({{Of::given, Of::given, Of::a},
                                                {Of::a, Of::given, Of::b},
                                                {Of::a, Of::a, Of::c},
                                                {Of::b, Of::c, Of::result}});
    CHECK(beside.tensors[Of::b].over == -1);
    CHECK(beside.tensors[Of::c].over == -1);
}

TEST_CASE("an argument that is there twice is no place") {
    CHECK(
        sums_in_place(
            {{Of::given, Of::given, Of::a}, {Of::a, Of::a, Of::b}, {Of::b, Of::given, Of::result}})
            .tensors[Of::b]
            .over == -1);
}
