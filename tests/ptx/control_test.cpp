// Paths of lanes: branches, loops, tables, calls, returns.
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

std::vector<std::uint32_t> lane_numbers() {
    std::vector<std::uint32_t> x(32);
    for (std::uint32_t i = 0; i < 32; ++i) x[i] = i;
    return x;
}

/// Each lane stores %r1 at its place.
const std::string kStoreLanes = R"(
    mul.wide.u32 %d0, %t, 4;
    add.s64 %d1, %y, %d0;
    st.global.u32 [%d1], %r1;
)";

}  // namespace

TEST_CASE("lanes part at a branch and meet again") {
    const auto y = run_lanes(R"(
    mov.u32 %r1, 100;
    and.b32 %r2, %t, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    add.u32 %r1, %r1, %t;
    bra.uni MEET;
EVEN:
    sub.u32 %r1, %r1, %t;
MEET:
    // All lanes are together again: the vote sees all of them.
    vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
    add.u32 %r1, %r1, %r3;
)" + kStoreLanes,
                             lane_numbers());
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(y[i] == (i % 2 ? 100 + i : 100 - i) + 0x55555555u);
}

TEST_CASE("a loop runs as often as each lane says, also inside another") {
    const auto y = run_lanes(R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
OUTER:
    setp.ge.u32 %p1, %r2, %t;
    @%p1 bra DONE;
    mov.u32 %r3, 0;
INNER:
    add.u32 %r1, %r1, 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r2;
    @%p2 bra INNER;
    add.u32 %r2, %r2, 1;
    bra.uni OUTER;
DONE:
    bar.warp.sync 0xffffffff;
)" + kStoreLanes,
                             lane_numbers());
    for (std::uint32_t i = 0; i < 32; ++i) {
        std::uint32_t expected = 0;
        for (std::uint32_t j = 0; j < i; ++j) expected += std::max(j, 1u);
        CHECK(y[i] == expected);
    }
}

TEST_CASE("brx.idx goes where each lane's index says") {
    const auto y = run_lanes(R"(
    rem.u32 %r2, %t, 3;
TABLE: .branchtargets A, B, C;
    brx.idx %r2, TABLE;
A:  mov.u32 %r1, 10;
    bra MEET;
B:  mov.u32 %r1, 20;
    bra MEET;
C:  mov.u32 %r1, 30;
MEET:
    bar.warp.sync 0xffffffff;
)" + kStoreLanes,
                             lane_numbers());
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(y[i] == 10 * (i % 3 + 1));
}

TEST_CASE("functions take parameters, return where their caller is, and may return early") {
    const std::string function = R"(
.func (.param .b32 twice_result) twice(.param .b32 twice_value)
{
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [twice_value];
    setp.lt.u32 %p1, %r1, 5;
    st.param.b32 [twice_result], 7;
    @%p1 ret;
    shl.b32 %r2, %r1, 1;
    st.param.b32 [twice_result], %r2;
    ret;
}
)";
    const std::string call = R"(
    {
    .param .b32 given;
    st.param.b32 [given], %t;
    .param .b32 back;
    call.uni (back), twice, (given);
    ld.param.b32 %r1, [back];
    }
    bar.warp.sync 0xffffffff;
)" + kStoreLanes;
    std::vector<std::uint32_t> x(32), y(32);
    Memory memory;
    const auto from = memory.add(std::span(x)), to = memory.add(std::span(y));
    interpret(parse(kernel_text(call, function)), "k",
              {.block = {32, 1, 1}, .arguments = {argument(from), argument(to), argument(0)}},
              memory);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(y[i] == (i < 5 ? 7 : 2 * i));
}

TEST_CASE("labels and registers in braces hide those outside") {
    const auto y = run_lanes(R"(
    mov.u32 %r1, 1;
    { .reg .b32 %r1; mov.u32 %r1, 50; bra OUT; OUT: }
    { .reg .pred q; setp.lt.u32 q, %t, 4; @q bra OUT; add.u32 %r1, %r1, 1; OUT: }
)" + kStoreLanes,
                             lane_numbers());
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(y[i] == (i < 4 ? 1 : 2));
}

TEST_CASE("lanes that exit do not come back") {
    std::vector<std::uint32_t> expected(32);
    for (std::uint32_t i = 8; i < 32; ++i) expected[i] = 5;
    CHECK(run_lanes("mov.u32 %r1, 5; setp.lt.u32 %p1, %t, 8; @%p1 exit;" + kStoreLanes,
                    lane_numbers()) == expected);
}

TEST_CASE("what is no PTX is refused with its line") {
    CHECK_THROWS_WITH_AS(parse(kernel_text("    frobnicate.b32 %r1, %r2;")),
                         doctest::Contains("does not know 'frobnicate.b32'"), ParseError);
    CHECK_THROWS_WITH_AS(parse(kernel_text("    add.sideways.u32 %r1, %r2, %r3;")),
                         doctest::Contains("does not know '.sideways'"), ParseError);
    CHECK_THROWS_WITH_AS(parse(kernel_text("    bra NOWHERE;")), "PTX line 19: no label 'NOWHERE'",
                         ParseError);
    CHECK_THROWS_AS(parse(kernel_text("    add.u32 %r1, %r2;")), ParseError);
    CHECK_THROWS_AS(parse(kernel_text("    add.u32 %r1, %h2, %r3;")), ParseError);
    CHECK_THROWS_AS(parse(".version 8.0\n.entry k() { mov.u32 %r1, 1 "), ParseError);
}

TEST_CASE("a launch must fit its kernel") {
    const Module module = parse(kernel_text(""));
    const Memory memory;
    const auto run = [&](const Launch& launch) { interpret(module, "k", launch, memory); };
    const Argument pointer = argument(std::uint64_t(0)), number = argument(1);
    CHECK_NOTHROW(run({.arguments = {pointer, pointer, number}}));
    CHECK_THROWS_WITH_AS(run({.arguments = {pointer}}), "kernel k takes 3 arguments, not 1",
                         UserError);
    CHECK_THROWS_WITH_AS(run({.arguments = {pointer, number, number}}),
                         "argument k_y of kernel k has 4 bytes, not 8", UserError);
    CHECK_THROWS_AS(run({.block = {2000, 1, 1}, .arguments = {pointer, pointer, number}}),
                    UserError);
    CHECK_THROWS_WITH_AS(interpret(module, "other", {}, memory), "the module has no kernel 'other'",
                         UserError);
}

}  // namespace fovea::ptx::test
