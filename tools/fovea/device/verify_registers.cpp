// setmaxnreg between groups of warps, with a barrier in shared memory.
#include <fmt/format.h>

#include "tools/fovea/device/verify_tiles.h"

namespace fovea::tool {

namespace {

using Words = std::vector<std::uint32_t>;

constexpr int kGroup = 128, kTakers = 2, kGroupsThreads = kGroup * (1 + kTakers);
constexpr int kHeld = 160;  // values that a taker holds at once, more than it had registers for
constexpr std::uint32_t kFactor = 3;

/// Group 0 gives registers back, triples the input and puts it into shared memory. The others take
/// more, hold many multiples of what they find there, and write the sum of all.
std::string text() {
    std::string multiples, sums;
    for (int i = 0; i < kHeld; ++i) {
        multiples += fmt::format(
            "    mul.lo.u32 %v{0}, %r7, {1};\n    xor.b32 %v{0}, %v{0}, %r0;\n", i, i + 1);
    }
    // In the other order: all of them are held until the last is there.
    for (int i = kHeld; i-- > 0;) sums += fmt::format("    add.u32 %r8, %r8, %v{};\n", i);
    return fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry probe_registers(.param .u64 in, .param .u64 out)
.maxntid {0}, 1, 1
.minnctapersm 1
{{
    .shared .align 16 .b8 values[{1}];
    .shared .align 8 .b8 full[8];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b32 %v<{2}>;
    .reg .b64 %d<5>;
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, values;
    mov.u32 %r2, full;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], {3};
READY:
    bar.sync 0;
    setp.ge.u32 %p1, %r0, {3};
    @%p1 bra TAKE;
    setmaxnreg.dec.sync.aligned.u32 40;
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d2, %d0, %d2;
    ld.global.u32 %r3, [%d2];
    mul.lo.u32 %r3, %r3, {4};
    shl.b32 %r4, %r0, 2;
    add.u32 %r4, %r4, %r1;
    st.shared.u32 [%r4], %r3;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    bra END;
TAKE:
    setmaxnreg.inc.sync.aligned.u32 216;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    sub.u32 %r5, %r0, {3};
    and.b32 %r6, %r5, {5};
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r6, %r1;
    ld.shared.u32 %r7, [%r6];
    mov.u32 %r8, 0;
)",
                       kGroupsThreads, 4 * kGroup, kHeld, kGroup, kFactor, kGroup - 1) +
           multiples + sums + R"(    mul.wide.u32 %d3, %r5, 4;
    add.u64 %d3, %d1, %d3;
    st.global.u32 [%d3], %r8;
END:
    ret;
}
)";
}

}  // namespace

std::vector<bundle::Probe> register_probes() {
    Words input, expected;
    for (std::uint32_t i = 0; i < kGroup; ++i) input.push_back(7 * i + 5);
    for (std::uint32_t i = 0; i < kGroup * kTakers; ++i) {
        std::uint32_t sum = 0;
        for (std::uint32_t k = 0; k < kHeld; ++k)
            sum += (kFactor * input[i % kGroup] * (k + 1)) ^ (i + kGroup);
        expected.push_back(sum);
    }
    return {{.name = "setmaxnreg, registers of one group of warps for two others",
             .architecture = "sm_90a",
             .text = text(),
             .entry = "probe_registers",
             .threads = kGroupsThreads,
             .input = std::move(input),
             .expected = std::move(expected)}};
}

}  // namespace fovea::tool
