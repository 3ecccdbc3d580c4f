// Loads, stores, atomics, address spaces, exchanges between lanes.
#include <numeric>

#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

using u32 = std::uint32_t;

std::vector<u32> numbers(std::size_t count = 32) {
    std::vector<u32> x(count);
    std::iota(x.begin(), x.end(), 0);
    return x;
}

const std::string kAddresses = R"(
    mul.wide.u32 %d0, %t, 4;
    add.s64 %d1, %x, %d0;
    add.s64 %d2, %y, %d0;
    ld.global.u32 %r1, [%d1];
)";
const std::string kStore = "    st.global.u32 [%d2], %r0;\n";

std::vector<u32> run(const std::string& body, const std::vector<u32>& x = numbers()) {
    return run_lanes(kAddresses + body + kStore, x);
}

}  // namespace

TEST_CASE("loads and stores of every width, and vectors") {
    const auto x = std::vector<u32>(64, 0x8190a2f3);
    auto y = run("ld.global.s8 %r0, [%d1+1];", x);
    CHECK(y[3] == u32(std::int8_t(0xa2)));
    CHECK(run("ld.global.u8 %h1, [%d1+2]; cvt.u32.u16 %r0, %h1;", x)[9] == 0x90);
    CHECK(run("ld.global.nc.L1::no_allocate.u16 %r0, [%d1+2];", x)[9] == 0x8190);
    y = run_lanes(R"(
    mul.wide.u32 %d0, %t, 16;
    add.s64 %d1, %x, %d0;
    add.s64 %d2, %y, %d0;
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];
    st.global.v2.b32 [%d2+8], {%r1, %r2};
    st.global.v2.b64 [%d2+-0], {%d0, %d0};
    st.global.v2.b32 [%d2], {%r3, %r4};
)",
                  numbers(128));
    CHECK(y[20] == 22);
    CHECK(y[21] == 23);
    CHECK(y[22] == 5 * 16);
}

TEST_CASE("shared, local and constant memory, and generic addresses of them") {
    const std::string declarations = R"(
.const .align 4 .b32 table[4] = {10, 20, 30, 40};
.global .align 4 .u32 counter = 5;
.extern .shared .align 16 .b8 dynamic[];
)";
    const std::string body = R"(
    .shared .align 4 .b8 fixed[128];
    .local .align 8 .b8 depot[16];
    mov.u64 %d5, depot;
    cvta.local.u64 %d6, %d5;
    st.u32 [%d6+4], %r1;
    ld.local.u32 %r2, [depot+4];
    mov.u32 %r3, dynamic;
    shl.b32 %r4, %t, 2;
    add.u32 %r3, %r3, %r4;
    st.shared.u32 [%r3], %r2;
    mov.u64 %d7, fixed;
    cvta.shared.u64 %d8, %d7;
    add.s64 %d8, %d8, %d0;
    st.u32 [%d8], 1000;
    bar.sync 0;
    ld.shared.u32 %r5, [dynamic+8];
    cvta.to.shared.u64 %d9, %d8;
    ld.shared.u32 %r6, [%d9];
    and.b32 %r7, %t, 3;
    mul.wide.u32 %d10, %r7, 4;
    mov.u64 %d11, table;
    add.s64 %d11, %d11, %d10;
    ld.const.u32 %r8, [%d11];
    ld.global.u32 %r9, [counter];
    add.u32 %r0, %r5, %r6;
    add.u32 %r0, %r0, %r8;
    add.u32 %r0, %r0, %r9;
)";
    auto x = numbers();
    std::vector<u32> y(32);
    Memory memory;
    const auto from = memory.add(std::span<const u32>(x)), to = memory.add(std::span(y));
    interpret(parse(kernel_text(kAddresses + body + kStore, declarations)), "k",
              {.block = {32, 1, 1},
               .dynamic_shared_bytes = 128,
               .arguments = {argument(from), argument(to), argument(0)}},
              memory);
    for (u32 i = 0; i < 32; ++i) CHECK(y[i] == 2 + 1000 + 10 * (i % 4 + 1) + 5);
}

TEST_CASE("atomics") {
    const std::string body = R"(
    atom.global.add.u32 %r0, [%y], 2;
    red.global.max.u32 [%y+4], %t;
    atom.global.cas.b32 %r2, [%y+8], 0, %t;
    red.relaxed.gpu.global.add.f32 [%y+12], 0f3F000000;
    red.global.add.noftz.f16x2 [%y+16], %r5;
    atom.global.inc.u32 %r3, [%y+20], 6;
    atom.global.exch.b32 %r4, [%y+24], 9;
    red.global.or.b32 [%y+28], %r6;
)";
    const auto y = run_lanes("mov.u32 %r5, 0x3c003800; shl.b32 %r6, 1, %t;\n" + body, numbers());
    CHECK(y[0] == 64);
    CHECK(y[1] == 31);
    CHECK(y[2] == 1);
    CHECK(y[3] == 0x41800000);
    CHECK(y[4] == 0x50004c00);
    CHECK(y[5] == 32 % 7);
    CHECK(y[6] == 9);
    CHECK(y[7] == 0xffffffff);
}

TEST_CASE("exchanges between lanes") {
    for (u32 i = 0; i < 32; ++i) {
        CAPTURE(i);
        CHECK(run("shfl.sync.bfly.b32 %r0, %r1, 5, 31, -1;")[i] == (i ^ 5));
        CHECK(run("shfl.sync.idx.b32 %r0, %r1, 3, 0x181f, -1;")[i] == (i & 24) + 3);
        CHECK(run("shfl.sync.up.b32 %r0|%p1, %r1, 2, 0, -1; @!%p1 mov.u32 %r0, 77;")[i] ==
              (i < 2 ? 77 : i - 2));
        CHECK(run("shfl.sync.down.b32 %r0|%p1, %r1, 4, 31, -1; @!%p1 mov.u32 %r0, 77;")[i] ==
              (i + 4 > 31 ? 77 : i + 4));
        CHECK(run("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r0, %p1, -1;")[i] == 31);
        CHECK(run("setp.lt.u32 %p1, %r1, 5; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, "
                  "%p2;")[i] == 1);
        CHECK(run("setp.lt.u32 %p1, %r1, 5; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, "
                  "%p2;")[i] == 0);
        CHECK(run("shr.u32 %r2, %r1, 3; match.any.sync.b32 %r0, %r2, -1;")[i] ==
              0xffu << (i / 8 * 8));
        CHECK(run("redux.sync.add.u32 %r0, %r1, -1;")[i] == 31 * 16);
        CHECK(run("redux.sync.min.s32 %r0, %r1, -1;")[i] == 0);
        CHECK(run("elect.sync %r2|%p1, -1; selp.u32 %r0, 1, 0, %p1;")[i] == (i == 0));
        CHECK(run("mov.u32 %r0, 0; setp.gt.u32 %p1, %r1, 7; @%p1 activemask.b32 %r0;")[i] ==
              (i > 7 ? 0xffffff00u : 0));
    }
}

TEST_CASE("a block of three dimensions and a grid") {
    std::vector<u32> y(2 * 3 * 5 * 4);
    Memory memory;
    const auto to = memory.add(std::span(y));
    // y[thread of the grid] = the thread's place, digit by digit.
    interpret(parse(kernel_text(R"(
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %tid.z;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r2, 3, %r1;
    mad.lo.u32 %r5, %r5, %r4, %t;
    mad.lo.u32 %r5, %r3, 30, %r5;
    mul.wide.u32 %d0, %r5, 4;
    add.s64 %d0, %y, %d0;
    mad.lo.u32 %r6, %r2, 10, %r1;
    mad.lo.u32 %r6, %r6, 10, %t;
    mov.u32 %r7, %nctaid.x;
    mad.lo.u32 %r6, %r7, 1000, %r6;
    st.global.u32 [%d0], %r6;
)")),
              "k",
              {.grid = {4, 1, 1},
               .block = {2, 3, 5},
               .arguments = {argument(to), argument(to), argument(0)}},
              memory);
    for (u32 i = 0; i < y.size(); ++i)
        CHECK(y[i] == 4000 + i % 30 / 6 * 100 + i % 6 / 2 * 10 + i % 2);
}

}  // namespace fovea::ptx::test
