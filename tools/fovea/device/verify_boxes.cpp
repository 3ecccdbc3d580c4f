// cp.async.bulk.tensor, with what lies in shared memory after it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/fovea/device/verify_tiles.h"

namespace fovea::tool {

namespace {

namespace device = runtime::device;

using Words = std::vector<std::uint32_t>;

/// Boxes of 2 x 16 rows of at most 32 words, over the edges of a tensor of three axes.
constexpr int kBoxRows = 16, kBoxPlanes = 2, kBoxBytes = 128 * kBoxRows * kBoxPlanes;
constexpr int kBoxThreads = 128, kBytesOfThread = kBoxBytes / kBoxThreads;
constexpr std::array<int, 3> kTensor = {40, 20, 3}, kFirst = {24, -5, 2};

std::string copy_text() {
    std::string clear, stores;
    for (int i = 0; i < kBytesOfThread; i += 4) {
        clear += fmt::format("    st.shared.u32 [%r6+{}], %r7;\n", i);
        stores += fmt::format(
            "    ld.shared.u32 %r7, [%r6+{0}];\n    st.global.u32 [%d1+{0}], %r7;\n", i);
    }
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry probe_boxes(.param .u64 in, .param .u64 out, .param .u64 bytes,
    .param .align 64 .b8 map[128])
.maxntid {}, 1, 1
{{
    .shared .align 1024 .b8 tile[{}];
    .shared .align 8 .b8 full[8];
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d3, [bytes];
    mov.b64 %d2, map;
    cvta.param.u64 %d2, %d2;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    mov.u32 %r2, full;
    mul.lo.u32 %r6, %r0, {};
    mul.wide.u32 %d4, %r0, {};
    add.u64 %d1, %d1, %d4;
    add.u32 %r6, %r6, %r1;
    mov.u32 %r7, -1;
)",
                       kBoxThreads, kBoxBytes, kBytesOfThread, kBytesOfThread) +
           clear +
           fmt::format(R"(    fence.proxy.async;
    bar.sync 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    cvt.u32.u64 %r8, %d3;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r8;
    mov.u32 %r9, {};
    mov.u32 %r10, {};
    mov.u32 %r11, {};
    cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r1], [%d2, {{%r9, %r10, %r11}}], [%r2];
READY:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra WAIT;
)",
                       kFirst[0], kFirst[1], kFirst[2]) +
           stores + "    ret;\n}\n";
}

/// Words of a tensor, and what a copy makes of them.
using Value = std::uint32_t (*)(std::size_t);
std::uint32_t numbered(std::size_t i) { return std::uint32_t(i + 1); }
/// Floats from 1 on that are no halves between two of tf32, up and down in turns.
std::uint32_t unrounded(std::size_t i) {
    return 0x3f800000 + std::uint32_t(i << 13) + (i % 2 ? 0x1001 : 0x0fff);
}
std::uint32_t nearest_tf32(std::size_t i) { return 0x3f800000 + std::uint32_t((i + i % 2) << 13); }

/// A box whose rows have `width` words, -1 in what it does not fill.
bundle::Probe box(std::string name, int swizzle, int width, Value value, Value copied) {
    const auto [columns, rows, planes] = kTensor;
    device::MappedTensor tensor{.axes = {}, .swizzle = swizzle, .rounds_to_tf32 = value != copied};
    tensor.axes = {{std::uint64_t(columns), 4, std::uint32_t(width)},
                   {std::uint64_t(rows), std::uint64_t(columns) * 4, kBoxRows},
                   {std::uint64_t(planes), std::uint64_t(columns * rows) * 4, kBoxPlanes}};
    Words input(std::size_t(columns * rows * planes));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = value(i);
    Words expected(kBoxBytes / 4, 0xffffffff);
    for (int i = 0; i < width * kBoxRows * kBoxPlanes; ++i) {
        const int column = kFirst[0] + i % width, row = kFirst[1] + i / width % kBoxRows;
        const int plane = kFirst[2] + i / width / kBoxRows;
        const bool inside = column < columns && row >= 0 && row < rows && plane < planes;
        const int pieces = swizzle / 16;  // of a row, exchanged by the number of 128 bytes
        const int byte = pieces ? (4 * i) ^ (4 * i / 128 % pieces * 16) : 4 * i;
        expected[std::size_t(byte / 4)] =
            inside ? copied(std::size_t((plane * rows + row) * columns + column)) : 0;
    }
    return {.name = std::move(name),
            .architecture = "sm_90",
            .text = copy_text(),
            .entry = "probe_boxes",
            .threads = kBoxThreads,
            .input = std::move(input),
            .expected = std::move(expected),
            .more_arguments = {std::uint64_t(width * kBoxRows * kBoxPlanes) * 4},
            .tensor = std::move(tensor)};
}

}  // namespace

std::vector<bundle::Probe> box_probes() {
    std::vector<bundle::Probe> probes;
    for (const auto& [swizzle, width] : {std::array{0, 20}, {32, 8}, {64, 16}, {128, 32}})
        probes.push_back(box(
            fmt::format("cp.async.bulk.tensor, swizzle {}, rows of {} bytes", swizzle, 4 * width),
            swizzle, width, numbered, numbered));
    probes.push_back(
        box("cp.async.bulk.tensor of tf32, rounded to nearest", 128, 32, unrounded, nearest_tf32));
    return probes;
}

}  // namespace fovea::tool
