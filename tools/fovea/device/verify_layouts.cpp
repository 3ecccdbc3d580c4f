#include "tools/fovea/device/verify_layouts.h"

#include <bit>

#include "runtime/memory/halves.h"
#include "tools/fovea/device/verify_tiles.h"

namespace fovea::tool {

namespace {

constexpr int kWarpLanes = 32;
using Words = std::vector<std::uint32_t>;

constexpr const char* kLayoutHead = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// One warp; lane l reads words 6l to 6l + 5 (a0 to a3, b0, b1) and writes 4l to 4l + 3.
std::string mma_text(const std::string& name, const std::string& form) {
    return ".visible .entry " + name + R"((.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<20>;
    .reg .f32 %f<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 24;
    add.u64 %d0, %d0, %d2;
    mul.wide.u32 %d3, %r0, 16;
    add.u64 %d1, %d1, %d3;
    ld.global.u32 %r1, [%d0];
    ld.global.u32 %r2, [%d0+4];
    ld.global.u32 %r3, [%d0+8];
    ld.global.u32 %r4, [%d0+12];
    ld.global.u32 %r5, [%d0+16];
    ld.global.u32 %r6, [%d0+20];
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.)" +
           form + R"(.f32 {%f1, %f2, %f3, %f4},
        {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f0, %f0, %f0};
    st.global.f32 [%d1], %f1;
    st.global.f32 [%d1+4], %f2;
    st.global.f32 [%d1+8], %f3;
    st.global.f32 [%d1+12], %f4;
    ret;
}
)";
}

/// Lane l puts words 4l to 4l + 3 into row l of shared memory, and writes the words it is given.
std::string ldmatrix_text(const std::string& name, const std::string& transposed) {
    return ".visible .entry " + name + R"((.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<20>;
    .reg .b64 %d<8>;
    .shared .align 128 .b8 rows[512];
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 16;
    add.u64 %d0, %d0, %d2;
    add.u64 %d1, %d1, %d2;
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0];
    mov.u32 %r5, rows;
    shl.b32 %r6, %r0, 4;
    add.u32 %r5, %r5, %r6;
    st.shared.v4.u32 [%r5], {%r1, %r2, %r3, %r4};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4)" +
           transposed + R"(.shared.b16 {%r7, %r8, %r9, %r10}, [%r5];
    st.global.v4.u32 [%d1], {%r7, %r8, %r9, %r10};
    ret;
}
)";
}

/// Small whole numbers are exact in all types.
std::uint32_t tf32(int value) { return std::bit_cast<std::uint32_t>(float(value)); }
std::uint32_t pair(runtime::DType half, int low, int high) {
    const auto bits = [&](int value) {
        return std::uint32_t(runtime::half_of_float(half, float(value)));
    };
    return bits(low) | bits(high) << 16;
}

/// Elements of a [16, 16] and b [16, 8] without symmetry.
int a_layout_element(int row, int column) { return (7 * row + 3 * column) % 11 - 5; }
int b_layout_element(int row, int column) { return (5 * row + 2 * column) % 13 - 6; }

/// The products of a and b along `depth`, as lanes hold them.
Words products(int depth) {
    Words words;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + (i / 2) * 8, column = lane % 4 * 2 + i % 2;
            int expected = 0;
            for (int k = 0; k < depth; ++k)
                expected += a_layout_element(row, k) * b_layout_element(k, column);
            words.push_back(tf32(expected));
        }
    }
    return words;
}

Words halves_input(runtime::DType half) {
    Words input;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int group = lane / 4, first = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) {
            const int row = group + (i % 2) * 8, column = first + (i / 2) * 8;
            input.push_back(
                pair(half, a_layout_element(row, column), a_layout_element(row, column + 1)));
        }
        for (int i = 0; i < 2; ++i)
            input.push_back(pair(half, b_layout_element(first + 8 * i, group),
                                 b_layout_element(first + 8 * i + 1, group)));
    }
    return input;
}

Words tf32_input() {
    Words input;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int group = lane / 4, first = lane % 4;
        for (int i = 0; i < 4; ++i)
            input.push_back(tf32(a_layout_element(group + (i % 2) * 8, first + (i / 2) * 4)));
        for (int i = 0; i < 2; ++i) input.push_back(tf32(b_layout_element(first + 4 * i, group)));
    }
    return input;
}

/// Row r of shared memory holds the numbers 8r to 8r + 7; matrix m is rows 8m to 8m + 7.
Words matrices_input() {
    Words input;
    for (std::uint32_t word = 0; word < kWarpLanes * 4; ++word)
        input.push_back(2 * word | (2 * word + 1) << 16);
    return input;
}

Words matrices(bool transposed) {
    Words words;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane)
        for (std::uint32_t matrix = 0; matrix < 4; ++matrix) {
            std::uint32_t word = 0;
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t major = lane / 4, minor = lane % 4 * 2 + half;
                const std::uint32_t row = transposed ? minor : major;
                const std::uint32_t column = transposed ? major : minor;
                word |= ((8 * matrix + row) * 8 + column) << (16 * half);
            }
            words.push_back(word);
        }
    return words;
}

bundle::Probe of_warp(const std::string& name, const std::string& entry, const std::string& text,
                      Words input, Words expected, bool of_floats) {
    return {.name = name,
            .architecture = "sm_80",
            .text = kLayoutHead + text,
            .entry = entry,
            .threads = kWarpLanes,
            .input = std::move(input),
            .expected = std::move(expected),
            .of_floats = of_floats};
}

}  // namespace

std::vector<bundle::Probe> layout_probes() {
    std::vector<bundle::Probe> probes = {
        of_warp("mma.m16n8k16 bf16", "probe_mma",
                mma_text("probe_mma", "m16n8k16.row.col.f32.bf16.bf16"),
                halves_input(runtime::DType::bf16), products(16), true),
        of_warp("mma.m16n8k16 f16", "probe_mma_f16",
                mma_text("probe_mma_f16", "m16n8k16.row.col.f32.f16.f16"),
                halves_input(runtime::DType::f16), products(16), true),
        of_warp("mma.m16n8k8 tf32", "probe_mma_tf32",
                mma_text("probe_mma_tf32", "m16n8k8.row.col.f32.tf32.tf32"), tf32_input(),
                products(8), true),
        of_warp("ldmatrix.x4", "probe_ldmatrix", ldmatrix_text("probe_ldmatrix", ""),
                matrices_input(), matrices(false), false),
        of_warp("ldmatrix.x4.trans", "probe_ldmatrix_trans",
                ldmatrix_text("probe_ldmatrix_trans", ".trans"), matrices_input(), matrices(true),
                false)};
    for (auto* more : {product_probes, box_probes, register_probes})
        for (bundle::Probe& probe : more()) probes.push_back(std::move(probe));
    return probes;
}

std::vector<VerifyRow> verify_layouts(const Target& target) {
    const OpenTarget open = open_target(target);
    std::vector<VerifyRow> rows;
    for (const bundle::Probe& probe : layout_probes()) {
        if (open.device->choose({&probe.architecture, 1}).empty()) continue;
        const double error = bundle::error_of(*open.device, probe);
        rows.push_back({"layouts", probe.name, "", error, std::nullopt, error == 0});
    }
    return rows;
}

}  // namespace fovea::tool
