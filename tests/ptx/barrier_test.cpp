// Barriers that reduce, the cluster's barrier, and other instructions that only order threads.
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

std::vector<std::uint32_t> run_block(const std::string& body) {
    std::vector<std::uint32_t> x(64), y(64);
    for (const Schedule& schedule : schedules()) {
        Memory memory;
        const auto from = memory.add(std::span(x)), to = memory.add(std::span(y));
        interpret(parse(kernel_text(body + R"(
    mul.wide.u32 %d0, %t, 4;
    add.s64 %d1, %y, %d0;
    st.global.u32 [%d1], %r1;
)",
                                    ".shared .align 16 .b8 buffer[256];")),
                  "k",
                  {.block = {64, 1, 1}, .arguments = {argument(from), argument(to), argument(0)}},
                  memory, schedule);
    }
    return y;
}

const std::string kExchange = R"(
    shl.b32 %r2, %t, 2;
    mov.u32 %r3, buffer;
    add.u32 %r2, %r3, %r2;
    st.shared.u32 [%r2], %t;
)";
const std::string kRead = "xor.b32 %r2, %r2, 252; ld.shared.u32 %r1, [%r2];";

}  // namespace

TEST_CASE("bar.red counts and combines the predicates of all threads") {
    const std::string some = "setp.lt.u32 %p1, %t, 40;";
    for (std::size_t i : {0u, 31u, 63u}) {
        CHECK(run_block(some + "bar.red.popc.u32 %r1, 0, %p1;")[i] == 40);
        CHECK(run_block(some + "bar.red.popc.u32 %r1, 0, !%p1;")[i] == 24);
        CHECK(run_block(some + "bar.red.and.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;")[i] == 0);
        CHECK(run_block(some +
                        "barrier.cta.red.or.pred %p2, 1, 64, %p1; selp.u32 %r1, 1, 0, %p2;")[i] ==
              1);
    }
}

TEST_CASE("the cluster's barrier orders the threads of its one block, more than once") {
    const std::string barrier = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    const auto y = run_block(kExchange + barrier + kRead + barrier + kExchange);
    for (std::size_t i = 0; i < 64; ++i) CHECK(y[i] == 63 - i);
    CHECK_THROWS_AS(run_block(kExchange + barrier + kRead + kExchange), Fault);
    CHECK_THROWS_AS(run_block(kExchange + "barrier.cluster.arrive.aligned;" + kRead), Fault);
}

TEST_CASE("instructions that hint or order change nothing") {
    const auto y = run_block(R"(
    membar.gl;
    fence.acq_rel.gpu;
    fence.proxy.async;
    griddepcontrol.wait;
    nanosleep.u32 20;
    mov.u32 %r5, %clock;
    mov.u64 %d5, %globaltimer;
    prefetch.global.L2 [%x];
    isspacep.shared %p1, %x;
    selp.u32 %r1, 1, 0, %p1;
    isspacep.global %p2, %x;
    selp.u32 %r4, 2, 0, %p2;
    add.u32 %r1, %r1, %r4;
)");
    CHECK(y[5] == 2);
}

TEST_CASE("each schedule is one that a GPU may follow") {
    // The order in which warps add to a list differs between the schedules; its sum does not.
    const Module module = parse(kernel_text(R"(
    setp.eq.u32 %p1, %t, 0;
    @%p1 st.shared.u32 [buffer], 0;
    bar.sync 0;
    atom.shared.add.u32 %r1, [buffer], 1;
    mul.wide.u32 %d0, %r1, 4;
    add.s64 %d1, %y, %d0;
    st.global.u32 [%d1], %t;
)",
                                            ".shared .align 16 .b8 buffer[16];"));
    std::vector<std::vector<std::uint32_t>> orders;
    for (const Schedule& schedule : schedules()) {
        std::vector<std::uint32_t> y(64);
        Memory memory;
        const auto to = memory.add(std::span(y));
        interpret(module, "k",
                  {.block = {64, 1, 1}, .arguments = {argument(to), argument(to), argument(0)}},
                  memory, schedule);
        std::uint32_t sum = 0;
        for (std::uint32_t value : y) sum += value;
        CHECK(sum == 63 * 32);
        orders.push_back(y);
    }
    CHECK(orders[0] != orders[1]);
}

}  // namespace fovea::ptx::test
