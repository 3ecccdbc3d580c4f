// Each check by a kernel that must fail it, and by one that must not.
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

using Kind = FaultKind;

/// The address of the thread's word of `buffer` in %r10, of y in %d10.
const std::string kWord = R"(
    shl.b32 %r9, %t, 2;
    mov.u32 %r10, buffer;
    add.u32 %r10, %r10, %r9;
    cvt.u64.u32 %d9, %r9;
    add.s64 %d10, %y, %d9;
    add.s64 %d11, %x, %d9;
)";

/// Makes the bytes of `buffer` that the threads use defined.
const std::string kZeros = "st.shared.u32 [%r10], 0; bar.sync 0;";

std::optional<Kind> fault(const std::string& body, std::uint32_t threads = 64,
                          std::uint32_t blocks = 1) {
    return fault_of_body(kWord + body, threads, blocks);
}

}  // namespace

TEST_CASE("bounds, alignment and permission of global memory") {
    CHECK(!fault("ld.global.u32 %r1, [%d11]; st.global.u32 [%d10], %r1;"));
    CHECK(fault("ld.global.u32 %r1, [%d11+4096];") == Kind::bounds);
    CHECK(fault("ld.global.u32 %r1, [%d11+-4];") == Kind::bounds);
    CHECK(fault("ld.global.u64 %d1, [%x+4092];") == Kind::bounds);
    CHECK(fault("ld.global.u32 %r1, [%x+2];") == Kind::alignment);
    CHECK(fault("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%x+8];") == Kind::alignment);
    CHECK(fault("st.global.u32 [%d11], %t;") == Kind::read_only);
    CHECK(fault("red.global.add.u32 [%x], 1;") == Kind::read_only);
    CHECK(fault("mov.u64 %d1, 0; ld.global.u8 %r1, [%d1];") == Kind::bounds);
}

TEST_CASE("bounds and alignment of the other spaces") {
    CHECK(!fault("st.shared.u32 [%r10], %t;"));
    CHECK(fault("st.shared.u32 [%r10+4096], %t;") == Kind::bounds);
    CHECK(fault("st.shared.u32 [buffer+2], %t;") == Kind::alignment);
    CHECK(fault(".local .align 4 .b8 depot[16]; st.local.u32 [depot+16], %t;") == Kind::bounds);
    CHECK(fault("cvta.to.shared.u64 %d1, %x;") == Kind::bounds);
    CHECK(fault("mov.u32 %r1, 4072; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", 32) ==
          Kind::alignment);
}

TEST_CASE("what is read must have been written") {
    std::string message;
    CHECK(fault_of_body("add.u32 %r1, %r2, 1;", 32, 1, {}, &message) == Kind::uninitialised);
    CHECK(message ==
          "uninitialised: a register is read that was not written before (kernel k, PTX line 19: "
          "add.u32 %r1, %r2, 1;; block 0,0,0 thread 0,0,0)");
    CHECK(fault("setp.lt.u32 %p1, %t, 3; @%p1 mov.u32 %r1, 5; add.u32 %r2, %r1, 1;") ==
          Kind::uninitialised);
    CHECK(fault("@%p1 add.u32 %r2, %t, 1;") == Kind::uninitialised);
    // Passing an undefined value on is no use of it.
    CHECK(!fault("setp.lt.u32 %p1, %t, 3; mov.u32 %r1, %r2; selp.u32 %r3, %r1, %t, %p1;"));
    CHECK(fault("setp.lt.u32 %p1, %t, 3; selp.u32 %r3, %r1, %t, %p1; add.u32 %r3, %r3, 1;") ==
          Kind::uninitialised);
    CHECK(fault("ld.shared.u32 %r1, [%r10];") == Kind::uninitialised);
    CHECK(fault("mov.b32 %r3, {%h1, %h2}; st.global.u32 [%d10], %r3;") == Kind::uninitialised);
}

TEST_CASE("races in shared memory") {
    const std::string write = kZeros + "st.shared.u32 [%r10], %t;";
    const std::string read_other = "xor.b32 %r11, %r10, 128; ld.shared.u32 %r1, [%r11];";
    const std::string read_lane = "xor.b32 %r11, %r10, 4; ld.shared.u32 %r1, [%r11];";
    CHECK(fault(write + read_other) == Kind::race);
    CHECK(!fault(write + "bar.sync 0;" + read_other));
    CHECK(!fault(write + "barrier.sync 3, 64;" + read_other));
    // A barrier of each warp alone orders only its lanes.
    CHECK(fault(write + "bar.warp.sync -1;" + read_other) == Kind::race);
    CHECK(fault(write + read_lane) == Kind::race);
    CHECK(!fault(write + "bar.warp.sync -1;" + read_lane));
    CHECK(!fault(write + "ld.shared.u32 %r1, [%r10];"));
    // A read before a write, too.
    CHECK(fault(write + "bar.sync 0;" + read_other + "st.shared.u32 [%r10], %t;") == Kind::race);
    CHECK(!fault(write + "bar.sync 0;" + read_other + "bar.sync 0;" + write));
    // Threads that write the same word: of several warps, or different values.
    CHECK(fault("st.shared.u32 [buffer], 1;") == Kind::race);
    CHECK(fault("st.shared.u32 [buffer], %t;", 32) == Kind::race);
    CHECK(!fault("st.shared.u32 [buffer], 1;", 32));
    // Bytes of a word may belong to different threads.
    const std::string bytes =
        "mov.u32 %r12, buffer; add.u32 %r12, %r12, %t; st.shared.u8 [%r12], %t;";
    CHECK(!fault(bytes));
    CHECK(fault(bytes + "ld.shared.u32 %r1, [%r10];", 32) == Kind::race);
    CHECK(!fault(
        bytes +
        "bar.sync 0; shr.u32 %r13, %t, 2; shl.b32 %r13, %r13, 2; ld.shared.u32 %r1, [%r13];"));
    // Atomics do not race with each other, but with others.
    const std::string zero = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [buffer], 0; bar.sync 0;";
    CHECK(
        !fault(zero + "red.shared.add.u32 [buffer], 1; bar.sync 0; ld.shared.u32 %r1, [buffer];"));
    CHECK(fault(zero + "red.shared.add.u32 [buffer], 1; ld.shared.u32 %r1, [buffer];") ==
          Kind::race);
    CHECK(fault("red.shared.add.u32 [buffer], 1;") == Kind::uninitialised);
}

TEST_CASE("races in global memory, within a block and between blocks") {
    const std::string shifted =
        "xor.b32 %r11, %r9, 128; cvt.u64.u32 %d12, %r11; add.s64 %d12, %y, %d12; ld.global.u32 "
        "%r1, [%d12];";
    CHECK(fault("st.global.u32 [%d10], %t;" + shifted) == Kind::race);
    CHECK(!fault("st.global.u32 [%d10], %t; bar.sync 0;" + shifted));
    CHECK(fault("st.global.u32 [%d10], %t;", 64, 2) == Kind::race);
    CHECK(fault("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%d10], %t;"
                "@!%p1 ld.global.u32 %r2, [%d10];",
                64, 2) == Kind::race);
    CHECK(fault("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 st.global.u32 [%d10], %t;"
                "@!%p1 ld.global.u32 %r2, [%d10];",
                64, 2) == Kind::race);
    CHECK(!fault("red.global.add.u32 [%y], 1;", 64, 3));
    CHECK(
        !fault("mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; cvt.u64.u32 %d12, %r1; add.s64 %d12, "
               "%d12, %d10;"
               "st.global.u32 [%d12], %t;",
               64, 3));
}

TEST_CASE("collectives that a part of the threads reaches") {
    const std::string half = "setp.lt.u32 %p1, %t, 16;";
    CHECK(fault(half + "@%p1 bar.sync 0;") == Kind::divergent);
    CHECK(fault(half + "@%p1 shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;") == Kind::divergent);
    CHECK(!fault(half + "@%p1 shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xffff;", 32));
    CHECK(fault(half + "@%p1 shfl.sync.bfly.b32 %r1, %t, 16, 31, 0xffff;", 32) == Kind::divergent);
    CHECK(fault(half + "@%p1 bar.warp.sync -1;") == Kind::divergent);
    CHECK(fault(half + "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [buffer];") ==
          Kind::divergent);
    CHECK(fault(half + "@%p1 bra SKIP; bar.sync 0; SKIP: bar.warp.sync -1;") == Kind::divergent);
}

TEST_CASE("deadlocks and endless loops") {
    CHECK(fault("setp.lt.u32 %p1, %t, 32; @%p1 bra SKIP; bar.sync 0; SKIP: bar.warp.sync -1;") ==
          Kind::deadlock);
    CHECK(fault("bar.sync 1, 96;") == Kind::deadlock);
    CHECK(fault("setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B:") ==
          Kind::deadlock);
    CHECK(!fault(
        "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.arrive 1, 64; bra B; A: bar.sync 1, 64; B:"));
    CHECK(fault("LOOP: bra LOOP;") == Kind::budget);
    CHECK(fault("bar.sync 0, 32;") == std::nullopt);
    CHECK(fault("setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.arrive 1, 64; bra B; A: bar.sync 1, "
                "96; B:") == Kind::barrier);
    CHECK(fault("trap;") == Kind::trap);
}

TEST_CASE("asynchronous copies are there only after their wait") {
    const std::string copy =
        kZeros + "cp.async.ca.shared.global [%r10], [%d11], 4; cp.async.commit_group;";
    const std::string read = "ld.shared.u32 %r1, [%r10]; st.global.u32 [%d10], %r1;";
    CHECK(!fault(copy + "cp.async.wait_group 0;" + read));
    CHECK(!fault(copy + "cp.async.wait_all;" + read));
    CHECK(fault(copy + read) == Kind::race);
    CHECK(fault(copy + "cp.async.wait_group 1;" + read) == Kind::race);
    CHECK(fault(copy + "cp.async.wait_group 0; xor.b32 %r10, %r10, 128;" + read) == Kind::race);
    CHECK(!fault(copy + "cp.async.wait_group 0; bar.sync 0; xor.b32 %r10, %r10, 128;" + read));
    CHECK(fault("cp.async.cg.shared.global [%r10], [%d11], 16;") == Kind::alignment);
    CHECK(fault("cp.async.ca.shared.global [%r10], [%d11+4096], 4;") == Kind::bounds);
    // Zeros beyond what is read, from nowhere.
    CHECK(!fault("cp.async.ca.shared.global [%r10], [%d11+4096], 4, 0; cp.async.wait_all;" + read));
    CHECK(fault("st.shared.u32 [%r10], 1; xor.b32 %r10, %r10, 128;" + copy) == Kind::race);
}

TEST_CASE("what is under way when the kernel ends") {
    CHECK(fault("bar.arrive 1, 96;") == Kind::barrier);
    CHECK(!fault("bar.arrive 1, 64;"));
    const std::string first = "setp.eq.u32 %p1, %t, 0;";
    const std::string init =
        first +
        "@%p1 mbarrier.init.shared.b64 [buffer+512], 1;"
        "@%p1 fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %r11, buffer;";
    const auto load = [&](int expected) {
        return init + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [buffer+512], " +
               std::to_string(expected) +
               "; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], "
               "[%x], 64, [buffer+512];";
    };
    const std::string wait =
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [buffer+512], 0; @!%p2 bra WAIT;";
    CHECK(!fault(load(64) + wait));
    CHECK(fault(load(64)) == Kind::race);
    CHECK(fault_of_body(kWord + load(80), 64, 1, schedules()[2]) == Kind::barrier);
}

TEST_CASE("registers that warps give back and take") {
    // 384 threads start with 168 each.
    const auto fault_of_groups = [](const std::string& dec, const std::string& inc) {
        return fault_of_body(
            "setp.lt.u32 %p1, %t, 256; @%p1 bra MORE; " + dec + " bra END; MORE: " + inc + " END:",
            384);
    };
    const std::string inc = "setmaxnreg.inc.sync.aligned.u32 240;";
    CHECK(!fault_of_groups("setmaxnreg.dec.sync.aligned.u32 24;", inc));
    CHECK(fault_of_groups("setmaxnreg.dec.sync.aligned.u32 32;", inc) == Kind::deadlock);
    CHECK(fault_of_groups("", inc) == Kind::deadlock);
    CHECK(fault_of_groups("setmaxnreg.dec.sync.aligned.u32 176;", "") == Kind::bounds);
    CHECK(fault_of_groups("", "setmaxnreg.inc.sync.aligned.u32 160;") == Kind::bounds);
    CHECK(fault("setp.eq.u32 %p1, %t, 0; @%p1 setmaxnreg.dec.sync.aligned.u32 24;") ==
          Kind::divergent);
    CHECK_THROWS_AS(parse(kernel_text("setmaxnreg.dec.sync.aligned.u32 25;")), ParseError);
}

TEST_CASE("barrier objects") {
    const std::string first = "setp.eq.u32 %p1, %t, 0;";
    const std::string init =
        first + "@%p1 mbarrier.init.shared.b64 [buffer+512], 64; bar.sync 0;" + kZeros;
    const std::string write = "st.shared.u32 [%r10], %t;";
    const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [buffer+512];";
    const std::string wait =
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [buffer+512], 0; @!%p2 bra WAIT;";
    const std::string read = "xor.b32 %r11, %r10, 128; ld.shared.u32 %r1, [%r11];";
    CHECK(!fault(init + write + arrive + wait + read));
    CHECK(fault(init + write + arrive + read) == Kind::race);
    CHECK(fault(init + write + wait + read) == Kind::deadlock);
    CHECK(fault(init + arrive + wait + write + read) == Kind::race);
    CHECK(fault(init + arrive + arrive + arrive) == std::nullopt);
    CHECK(fault(arrive) == Kind::barrier);
    CHECK(fault(first + "@%p1 mbarrier.init.shared.b64 [buffer+512], 64;" + arrive) !=
          std::nullopt);
    CHECK(fault(init + "@%p1 mbarrier.arrive.shared.b64 _, [buffer+512], 65;") == Kind::barrier);
    // The state of an arrival names its phase.
    CHECK(!fault(init + write +
                 "mbarrier.arrive.shared.b64 %d1, [buffer+512];"
                 "WAIT: mbarrier.test_wait.shared.b64 %p2, [buffer+512], %d1; @!%p2 bra WAIT;" +
                 read));
    // Copies of the thread arrive for it.
    CHECK(!fault(init +
                 "cp.async.ca.shared.global [%r10], [%d11], 4;"
                 "cp.async.mbarrier.arrive.noinc.shared.b64 [buffer+512];" +
                 wait + read));
}

}  // namespace fovea::ptx::test
