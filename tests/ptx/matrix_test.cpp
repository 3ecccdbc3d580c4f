// Matrix instructions in their forms, and bulk copies, against plain products.
#include <bit>
#include <cmath>

#include "codegen/ptx/instructions/half.h"
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

float element_number(std::size_t i) {
    return float(std::sin(double(i) * 2.1) * (1 + double(i % 3)));
}

/// Runs the body with x read and y written, after kernel_text.
template <class T, class U>
void run_matrix(const std::string& body, const std::vector<T>& x, std::vector<U>& y,
                u32 threads = 32, const std::string& declarations = "") {
    const Module module = parse(kernel_text(body, declarations));
    for (const Schedule& schedule : schedules()) {
        Memory memory;
        const auto from = memory.add(std::span<const T>(x)), to = memory.add(std::span<U>(y));
        interpret(module, "k",
                  {.block = {threads, 1, 1},
                   .dynamic_shared_bytes = 65536,
                   .arguments = {argument(from), argument(to), argument(0)}},
                  memory, schedule);
    }
}

struct MmaForm {
    std::string shape, type;
    int depth, bytes;  // of an input
};

/// The registers of a fragment of `rows` times depth numbers, as PTX ISA lists them for A (16 rows)
/// and B (8 columns): loaded from x, A at its start as [16, depth], B behind it as [8, depth].
std::string load_fragments(const MmaForm& form) {
    const int per = 4 / form.bytes, rows_of_a = 16;
    std::string text = "shr.u32 %r30, %t, 2;\nand.b32 %r31, %t, 3;\n";
    const auto load = [&](const std::string& to, int first_row, int first_column) {
        text += "add.u32 %r32, %r30, " + std::to_string(first_row) + ";\n";
        text += "mad.lo.u32 %r33, %r31, " + std::to_string(per) + ", " +
                std::to_string(first_column) + ";\n";
        text += "mad.lo.u32 %r32, %r32, " + std::to_string(form.depth) + ", %r33;\n";
        text +=
            "mul.wide.u32 %d1, %r32, " + std::to_string(form.bytes) + ";\nadd.s64 %d1, %x, %d1;\n";
        text += "ld.global.b32 " + to + ", [%d1];\n";
    };
    const int half = 4 * per;
    int at = 0;
    for (int column = 0; column < form.depth; column += half)
        for (int row : {0, 8}) load("%r" + std::to_string(++at), row, column);
    for (int column = 0; column < form.depth; column += half)
        load("%r" + std::to_string(++at), rows_of_a, column);
    return text;
}

std::string registers(int first, int count) {
    std::string text = "{";
    for (int i = first; i < first + count; ++i)
        text += (i > first ? ", %r" : "%r") + std::to_string(i);
    return text + "}";
}

template <class T, class Read>
void check_mma(const MmaForm& form, const std::vector<T>& x, Read read) {
    CAPTURE(form.shape);
    CAPTURE(form.type);
    const int count = 16 * form.depth * form.bytes / 128;
    const std::string multiply = "mma.sync.aligned." + form.shape + ".row.col.f32." + form.type +
                                 "." + form.type + ".f32 " + "{%f1, %f2, %f3, %f4}, " +
                                 registers(1, count) + ", " + registers(count + 1, count / 2) +
                                 ", {%f5, %f5, %f5, %f5};\n";
    const std::string store = R"(
    mad.lo.u32 %r32, %r30, 8, 0;
    mad.lo.u32 %r32, %r31, 2, %r32;
    mul.wide.u32 %d1, %r32, 4;
    add.s64 %d1, %y, %d1;
    st.global.v2.f32 [%d1], {%f1, %f2};
    st.global.v2.f32 [%d1+256], {%f3, %f4};
)";
    std::vector<float> y(16 * 8);
    run_matrix("mov.f32 %f5, 0f3F800000;\n" + load_fragments(form) + multiply + store, x, y);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            double sum = 1;
            for (int k = 0; k < form.depth; ++k)
                sum += double(read(x[std::size_t(row * form.depth + k)])) *
                       double(read(x[std::size_t((16 + column) * form.depth + k)]));
            CHECK(y[std::size_t(row * 8 + column)] == doctest::Approx(sum).epsilon(1e-5));
        }
}

}  // namespace

TEST_CASE("mma.sync of every shape and type") {
    std::vector<u16> bf16, f16;
    std::vector<u32> tf32;
    for (std::size_t i = 0; i < 24 * 16; ++i) {
        bf16.push_back(to_bf16(element_number(i)));
        f16.push_back(to_f16(element_number(i)));
        tf32.push_back(to_tf32(element_number(i)));
    }
    check_mma({"m16n8k16", "bf16", 16, 2}, bf16, from_bf16);
    check_mma({"m16n8k8", "bf16", 8, 2}, bf16, from_bf16);
    check_mma({"m16n8k16", "f16", 16, 2}, f16, from_f16);
    check_mma({"m16n8k8", "f16", 8, 2}, f16, from_f16);
    check_mma({"m16n8k8", "tf32", 8, 4}, tf32, [](u32 bits) { return std::bit_cast<float>(bits); });
    check_mma({"m16n8k4", "tf32", 4, 4}, tf32, [](u32 bits) { return std::bit_cast<float>(bits); });
    CHECK_THROWS_AS(parse(kernel_text(
                        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, "
                        "{%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4};")),
                    ParseError);
}

TEST_CASE("ldmatrix and stmatrix, plain and transposed") {
    std::vector<u16> x(8 * 8 * 4), y(8 * 8 * 4);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = u16(i);
    // Each thread brings a row of 16 bytes; the matrices go through registers and back.
    const auto move = [](const std::string& load, const std::string& store) {
        return R"(
    .shared .align 16 .b8 tile[1024];
    mul.wide.u32 %d0, %t, 16;
    add.s64 %d1, %x, %d0;
    add.s64 %d2, %y, %d0;
    shl.b32 %r9, %t, 4;
    mov.u32 %r10, tile;
    add.u32 %r9, %r10, %r9;
    ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1];
    st.shared.v4.b32 [%r9], {%r1, %r2, %r3, %r4};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4)" +
               load + R"(.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];
    stmatrix.sync.aligned.m8n8.x4)" +
               store + R"(.shared.b16 [%r9+512], {%r1, %r2, %r3, %r4};
    bar.warp.sync -1;
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r9+512];
    st.global.v4.b32 [%d2], {%r1, %r2, %r3, %r4};
)";
    };
    run_matrix(move("", ""), x, y);
    CHECK(y == x);
    run_matrix(move(".trans", ".trans"), x, y);
    CHECK(y == x);
    run_matrix(move(".trans", ""), x, y);
    for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(y[i] == x[i / 64 * 64 + i % 8 * 8 + i / 8 % 8]);
}

TEST_CASE("wgmma with A in registers and B along the columns") {
    // A [64, 16] in registers, B [16, 64] in shared memory as it lies in x: rows of 128 bytes.
    std::vector<u16> x(64 * 16 + 16 * 64);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = to_bf16(element_number(i));
    std::string body = R"(
    mov.u32 %r20, memory;
    shl.b32 %r21, %t, 4;
    add.u32 %r21, %r20, %r21;
    shr.u32 %r22, %t, 3;
    and.b32 %r22, %r22, 7;
    shl.b32 %r22, %r22, 4;
    xor.b32 %r21, %r21, %r22;          // the swizzle of 128 bytes
    mul.wide.u32 %d0, %t, 16;
    add.s64 %d0, %x, %d0;
    ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0+2048];
    st.shared.v4.b32 [%r21], {%r1, %r2, %r3, %r4};
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r23, %t, 5;
    and.b32 %r24, %t, 31;
    shr.u32 %r25, %r24, 2;
    and.b32 %r26, %r24, 3;
    mad.lo.u32 %r27, %r23, 16, %r25;
    mad.lo.u32 %r28, %r27, 16, 0;
    mad.lo.u32 %r28, %r26, 2, %r28;
    mul.wide.u32 %d1, %r28, 2;
    add.s64 %d1, %x, %d1;
    ld.global.b32 %r1, [%d1];
    ld.global.b32 %r2, [%d1+256];
    ld.global.b32 %r3, [%d1+16];
    ld.global.b32 %r4, [%d1+272];
    shr.u32 %r29, %r20, 4;
    cvt.u64.u32 %d2, %r29;
    or.b64 %d2, %d2, 0x4000004000400000;
    setp.ne.u32 %p1, %r20, %r20;
)";
    std::string sums, stores;
    for (int i = 0; i < 32; ++i) sums += (i ? ", %f" : "%f") + std::to_string(i);
    for (int j = 0; j < 8; ++j)
        for (int half = 0; half < 2; ++half)
            stores += "st.global.v2.f32 [%d3+" + std::to_string(32 * j + 2048 * half) + "], {%f" +
                      std::to_string(4 * j + 2 * half) + ", %f" +
                      std::to_string(4 * j + 2 * half + 1) + "};\n";
    const std::string product = "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" + sums +
                                "}, {%r1, %r2, %r3, %r4}, %d2, %p1, 1, -1, 1;\n";
    const std::string end =
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "mad.lo.u32 %r27, %r27, 64, 0;\nmad.lo.u32 %r27, %r26, 2, %r27;\n"
        "mul.wide.u32 %d3, %r27, 4;\nadd.s64 %d3, %y, %d3;\n" +
        stores;
    const std::string declaration = ".extern .shared .align 1024 .b8 memory[];";
    std::vector<float> y(64 * 64);
    run_matrix(body + "wgmma.fence.sync.aligned;\n" + product + end, x, y, 128, declaration);
    for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 64; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 16; ++k)
                sum -= double(from_bf16(x[i * 16 + k])) * from_bf16(x[1024 + k * 64 + j]);
            CHECK(y[i * 64 + j] == doctest::Approx(sum).epsilon(1e-4));
        }
    const auto fails = [&](const std::string& text) {
        Memory memory;
        const auto from = memory.add(std::span<const u16>(x));
        const auto to = memory.add(std::span<float>(y));
        return fault_of(parse(kernel_text(text, declaration)),
                        {.block = {128, 1, 1},
                         .dynamic_shared_bytes = 65536,
                         .arguments = {argument(from), argument(to), argument(0)}},
                        memory);
    };
    const std::string fence = "wgmma.fence.sync.aligned;\n";
    CHECK(!fails(body + fence + product + end));
    CHECK(fails(body + product + end) == FaultKind::in_flight);
    CHECK(fails(body + fence + "mov.u32 %r1, %r2;\n" + product + end) == FaultKind::in_flight);
    CHECK(fails(body + fence + product + "mov.u32 %r1, 0;\n" + end) == FaultKind::in_flight);
    CHECK(fails(body + fence + product + "add.f32 %f0, %f1, %f1;\n" + end) == FaultKind::in_flight);
    CHECK(fails(body + fence + product + "st.shared.b32 [%r21], %r1;\n" + end) == FaultKind::race);
    std::string unfenced = body;
    unfenced.replace(unfenced.find("fence.proxy.async;"), 18, "");
    CHECK(fails(unfenced + fence + product + end) == FaultKind::race);
}

TEST_CASE("bulk copies in both directions, by range and by tile") {
    std::vector<u32> x(256), y(256);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = u32(i);
    const std::string declaration =
        ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b8 done[8];";
    const std::string load = R"(
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra WAIT;
    mbarrier.init.shared.b64 [done], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [done], 1024;
    mov.u32 %r1, tile;
    mov.u32 %r2, done;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%x], 1024, [%r2];
WAIT:
    bar.sync 0;
TRY:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [done], 0;
    @!%p2 bra TRY;
    shl.b32 %r3, %t, 5;
    mov.u32 %r4, tile;
    add.u32 %r3, %r4, %r3;
    ld.shared.u32 %r5, [%r3];
    add.u32 %r5, %r5, 1000;
    st.shared.u32 [%r3], %r5;
)";
    const std::string store = R"(
    @%p1 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%y], [%r4], 1024;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END:
    bar.warp.sync -1;
)";
    run_matrix(load + "fence.proxy.async.shared::cta;\nbar.sync 0;\n" + store, x, y, 32,
               declaration);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == i + (i % 8 == 0 ? 1000 : 0));
    CHECK_THROWS_AS(run_matrix(load + "bar.sync 0;\n" + store, x, y, 32, declaration), Fault);
    std::string unpublished = load;
    unpublished.replace(unpublished.find("fence.mbarrier_init"), 36, "");
    CHECK_THROWS_WITH_AS(run_matrix(unpublished, x, y, 32, declaration),
                         doctest::Contains("no fence.mbarrier_init shows copies this mbarrier"),
                         Fault);
    CHECK_THROWS_AS(
        run_matrix(load + "fence.proxy.async.shared::cta;\n" + store, x, y, 32, declaration),
        Fault);
}

TEST_CASE("tiles of tensors are cut at the tensor's edges") {
    // A tensor [5, 7] of 32-bit numbers with rows of 8; boxes of [4, 4] at (column 4, row 3) and,
    // the way back, at (column -1, row 0).
    std::vector<u32> x(5 * 8);  // floats
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0x3f800000 + u32(5000 * i);
    const std::string text = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128])
{
    .shared .align 128 .b8 tile[64];
    .shared .align 8 .b8 done[8];
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .b64 %d<3>;
    mov.b64 %d1, from;
    cvta.param.u64 %d1, %d1;
    mov.b64 %d2, to;
    cvta.param.u64 %d2, %d2;
    mbarrier.init.shared.b64 [done], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [done], 64;
    mov.u32 %r1, tile;
    mov.u32 %r2, done;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r1], [%d1, {4, 3}], [%r2];
TRY:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [done], 0;
    @!%p1 bra TRY;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d2, {-1, 0}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    ret;
}
)";
    const auto check = [&](const Schedule& schedule, bool rounds) {
        std::vector<u32> y(5 * 8, 7);
        Memory memory;
        const auto map = [&](std::uint64_t address) {
            return argument(encode({.address = address,
                                    .rank = 2,
                                    .element_bytes = 4,
                                    .extents = {7, 5},
                                    .strides = {4, 32},
                                    .box = {4, 4},
                                    .swizzle = 0,
                                    .rounds_to_tf32 = rounds}));
        };
        const auto px = memory.add(std::span<const u32>(x)), py = memory.add(std::span(y));
        interpret(parse(text), "k", {.arguments = {map(px), map(py)}}, memory, schedule);
        for (std::size_t row = 0; row < 5; ++row)
            for (std::size_t column = 0; column < 8; ++column) {
                u32 expected = 7;
                if (row < 4 && column < 3) {
                    const std::size_t r = row + 3, c = column + 1 + 4;
                    expected = r < 5 && c < 7 ? x[r * 8 + c] : 0;
                    if (rounds) expected = to_tf32(std::bit_cast<float>(expected));
                }
                CHECK(y[row * 8 + column] == expected);
            }
    };
    for (const Schedule& schedule : schedules())
        for (const bool rounds : {false, true}) check(schedule, rounds);
}

}  // namespace fovea::ptx::test
