#include "tools/fovea/device/verify_layouts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "runtime/device/device.h"
#include "tools/fovea/device/verify_tiles.h"

namespace fovea::tool {

namespace {

namespace device = runtime::device;

constexpr int kLanes = 32;
using Words = std::vector<std::uint32_t>;

constexpr const char* kHead = ".version 7.8\n.target sm_80\n.address_size 64\n";

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

Words run(device::Device& on, const std::string& entry, const Words& input) {
    const std::size_t bytes = input.size() * 4, out_bytes = kLanes * 16;
    device::Allocation in(on), out(on);
    in.reserve(bytes);
    out.reserve(out_bytes);
    on.copy_in(in.address(), input.data(), bytes);
    const std::uint64_t arguments[] = {in.address(), out.address()};
    const device::Region memory[] = {{in.address(), bytes, false},
                                     {out.address(), out_bytes, true}};
    on.launch({entry, entry, 1, kLanes, 0, arguments, memory});
    Words result(kLanes * 4);
    on.copy_out(result.data(), out.address(), out_bytes);
    on.synchronize();
    return result;
}

/// Small whole numbers are exact in bfloat16 and tf32.
std::uint32_t tf32(int value) { return std::bit_cast<std::uint32_t>(float(value)); }
std::uint32_t bfloat16(int value) { return tf32(value) >> 16; }
std::uint32_t pair(int low, int high) { return bfloat16(low) | bfloat16(high) << 16; }

/// Elements of a [16, 16] and b [16, 8] without symmetry.
int a_element(int row, int column) { return (7 * row + 3 * column) % 11 - 5; }
int b_element(int row, int column) { return (5 * row + 2 * column) % 13 - 6; }

/// The largest error of the products of a and b, whose first `depth` columns and rows lie in
/// `input`.
double product_error(device::Device& on, const std::string& entry, const Words& input, int depth) {
    const Words output = run(on, entry, input);
    double error = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + (i / 2) * 8, column = lane % 4 * 2 + i % 2;
            int expected = 0;
            for (int k = 0; k < depth; ++k) expected += a_element(row, k) * b_element(k, column);
            const float actual = std::bit_cast<float>(output[std::size_t(lane * 4 + i)]);
            error = std::max(error, std::abs(double(actual) - expected));
        }
    }
    return error;
}

double bfloat16_error(device::Device& on) {
    Words input;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int group = lane / 4, first = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) {
            const int row = group + (i % 2) * 8, column = first + (i / 2) * 8;
            input.push_back(pair(a_element(row, column), a_element(row, column + 1)));
        }
        for (int i = 0; i < 2; ++i)
            input.push_back(
                pair(b_element(first + 8 * i, group), b_element(first + 8 * i + 1, group)));
    }
    return product_error(on, "probe_mma", input, 16);
}

double tf32_error(device::Device& on) {
    Words input;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int group = lane / 4, first = lane % 4;
        for (int i = 0; i < 4; ++i)
            input.push_back(tf32(a_element(group + (i % 2) * 8, first + (i / 2) * 4)));
        for (int i = 0; i < 2; ++i) input.push_back(tf32(b_element(first + 4 * i, group)));
    }
    return product_error(on, "probe_mma_tf32", input, 8);
}

/// Row r of shared memory holds the numbers 8r to 8r + 7; matrix m is rows 8m to 8m + 7.
double ldmatrix_error(device::Device& on, bool transposed) {
    Words input;
    for (std::uint32_t word = 0; word < kLanes * 4; ++word)
        input.push_back(2 * word | (2 * word + 1) << 16);
    const Words output = run(on, transposed ? "probe_ldmatrix_trans" : "probe_ldmatrix", input);
    double error = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (std::uint32_t matrix = 0; matrix < 4; ++matrix) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t major = lane / 4, minor = lane % 4 * 2 + half;
                const std::uint32_t row = transposed ? minor : major;
                const std::uint32_t column = transposed ? major : minor;
                const std::uint32_t actual = output[lane * 4 + matrix] >> (16 * half) & 0xffff;
                error = std::max(
                    error, std::abs(double(actual) - double((8 * matrix + row) * 8 + column)));
            }
        }
    }
    return error;
}

}  // namespace

std::vector<VerifyRow> verify_layouts(const Target& target) {
    const OpenTarget open = open_target(target);
    open.device->load(kHead + mma_text("probe_mma", "m16n8k16.row.col.f32.bf16.bf16") +
                      mma_text("probe_mma_tf32", "m16n8k8.row.col.f32.tf32.tf32") +
                      ldmatrix_text("probe_ldmatrix", "") +
                      ldmatrix_text("probe_ldmatrix_trans", ".trans"));
    std::vector<VerifyRow> rows;
    const auto add = [&](const std::string& instruction, double error) {
        rows.push_back({"layouts", instruction, "", error, std::nullopt, error == 0});
    };
    add("mma.m16n8k16 bf16", bfloat16_error(*open.device));
    add("mma.m16n8k8 tf32", tf32_error(*open.device));
    add("ldmatrix.x4", ldmatrix_error(*open.device, false));
    add("ldmatrix.x4.trans", ldmatrix_error(*open.device, true));
    const auto runs = [&](const std::string& architecture) {
        return !open.device->choose({&architecture, 1}).empty();
    };
    const auto append = [&](const std::vector<VerifyRow>& more) {
        rows.insert(rows.end(), more.begin(), more.end());
    };
    if (runs("sm_90a")) append(verify_products(*open.device));
    if (runs("sm_90")) append(verify_boxes(*open.device));
    return rows;
}

}  // namespace fovea::tool
