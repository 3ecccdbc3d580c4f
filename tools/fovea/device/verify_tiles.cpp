// wgmma, with the tiles as the host lays them out.
#include "tools/fovea/device/verify_tiles.h"

#include <fmt/format.h>

#include <bit>

#include "codegen/kernel/kernel.h"
#include "runtime/memory/halves.h"
#include "tools/fovea/runtime_dtype.h"

namespace fovea::tool {

namespace {

using kernel::Factors;
using Words = std::vector<std::uint32_t>;

constexpr int kTileThreads = 128;
constexpr int kRows = 64, kTileColumns = 128, kDepth = 64;  // of a product of halves
constexpr int kTileStep = 16,
              kTileSteps = kDepth / kTileStep;      // along the depth, of one instruction
constexpr int kRow = 64;                                // elements in a row of 128 bytes
constexpr int kTf32Depth = 32;                          // of a product of tf32, of as many bytes
constexpr int kBytesOfA = kRows * kDepth * 2, kBytesOfB = kTileColumns * kDepth * 2;
constexpr int kTileBytesOfThread = (kBytesOfA + kBytesOfB) / kTileThreads;
constexpr int kSums = kTileColumns / 2;  // of a thread

/// Where neighbours of an operand differ, or that it lies in registers.
enum class Lies { along_depth, across, registers };

const char* name_of(Lies lies) {
    constexpr const char* kNames[] = {"along_depth", "across", "registers"};
    return kNames[int(lies)];
}

/// The operands of a product.
struct Operands {
    Lies a, b;
    Factors factors = Factors::bf16;

    bool tf32() const { return factors == Factors::tf32; }
    int bytes() const { return tf32() ? 4 : 2; }
    int depth() const { return tf32() ? kTf32Depth : kDepth; }
    std::string type() const {
        return tf32() ? "tf32" : std::string(fovea::name_of(dtype_of(factors)));
    }
    std::string entry() const {
        return fmt::format("probe_wgmma_{}_{}{}", name_of(a), name_of(b),
                           factors == Factors::bf16 ? "" : "_" + type());
    }
};

/// The fields of a descriptor but for the start, which swizzle 128 bytes.
std::uint64_t descriptor(Lies lies) {
    const std::uint64_t column = lies == Lies::across ? kDepth * kRow * 2 / 16 : 1;
    return column << 16 | std::uint64_t(1024 / 16) << 32 | std::uint64_t(1) << 62;
}
/// What it grows by for the next elements along the depth.
int step_of(Lies lies) {
    return (lies == Lies::across ? kTileStep * kRow * 2 : kTileStep * 2) / 16;
}

/// The thread's share of the tiles, as they lie in `in`, to shared memory.
std::string copies_text() {
    std::string text;
    for (int i = 0; i < kTileBytesOfThread; i += 16)
        text += fmt::format(
            "    ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d2+{0}];\n"
            "    st.shared.v4.u32 [%r3+{0}], {{%r4, %r5, %r6, %r7}};\n",
            i);
    return text;
}

/// Four registers of a for each step along the depth, %r10 on: they follow the tiles in `in`.
std::string registers_text() {
    std::string text;
    for (int i = 0; i < 4 * kTileSteps; i += 4)
        text += fmt::format("    ld.global.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%d3+{}];\n", 10 + i,
                            11 + i, 12 + i, 13 + i, 4 * i);
    return text;
}

/// One instruction for each step, with the sums %f0 on; descriptors in %d4 and %d5.
std::string steps_text(const Operands& of) {
    const Lies a = of.a, b = of.b;
    const bool tf32 = of.tf32();
    std::string sums, text;
    for (int i = 0; i < kSums; ++i) sums += fmt::format("{}%f{}", i ? ", " : "", i);
    for (int i = 0; i < kTileSteps; ++i) {
        const std::string left = a != Lies::registers
                                     ? "%d4"
                                     : fmt::format("{{%r{}, %r{}, %r{}, %r{}}}", 10 + 4 * i,
                                                   11 + 4 * i, 12 + 4 * i, 13 + 4 * i);
        std::string transposed;  // tf32 lies along the depth, and nothing is said about it
        if (!tf32 && a != Lies::registers) transposed = fmt::format(", {}", int(a == Lies::across));
        if (!tf32) transposed += fmt::format(", {}", int(b == Lies::across));
        text += fmt::format(
            "    wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {{{}}},\n"
            "        {}, %d5, %p0, 1, 1{};\n"
            "    add.u64 %d4, %d4, {};\n    add.u64 %d5, %d5, {};\n",
            kTileColumns, tf32 ? 8 : 16, of.type(), of.type(), sums, left, transposed, step_of(a),
            step_of(b));
    }
    return text;
}

std::string descriptors_text(Lies a, Lies b) {
    return fmt::format(R"(    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r8, %r1, 4;
    and.b32 %r8, %r8, 16383;
    cvt.u64.u32 %d4, %r8;
    add.u64 %d5, %d4, {};
    or.b64 %d4, %d4, {};
    or.b64 %d5, %d5, {};
    setp.eq.u32 %p0, %r8, %r8;
)",
                       kBytesOfA / 16, descriptor(a), descriptor(b));
}

std::string product_text(const Operands& of) {
    const auto [a, b, tf32] = of;
    std::string zeros, stores;
    for (int i = 0; i < kSums; ++i) {
        zeros += fmt::format("    mov.f32 %f{}, 0f00000000;\n", i);
        stores += fmt::format("    st.global.f32 [%d1+{}], %f{};\n", 4 * i, i);
    }
    const std::string head = fmt::format(R"(.visible .entry {0}(.param .u64 in, .param .u64 out)
.maxntid {1}, 1, 1
{{
    .shared .align 1024 .b8 tiles[{2}];
    .reg .pred %p<2>;
    .reg .b32 %r<30>;
    .reg .f32 %f<{3}>;
    .reg .b64 %d<8>;
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, {4};
    add.u64 %d2, %d0, %d2;
    mul.wide.u32 %d3, %r0, 64;
    add.u64 %d3, %d0, %d3;
    add.u64 %d3, %d3, {2};
    mul.wide.u32 %d6, %r0, {5};
    add.u64 %d1, %d1, %d6;
    mov.u32 %r1, tiles;
    mul.lo.u32 %r2, %r0, {4};
    add.u32 %r3, %r1, %r2;
)",
                                         of.entry(), kTileThreads, kBytesOfA + kBytesOfB, kSums,
                                         kTileBytesOfThread, 4 * kSums);
    return head + copies_text() + (a == Lies::registers ? registers_text() : "") +
           descriptors_text(a, b) + zeros + "    wgmma.fence.sync.aligned;\n" + steps_text(of) +
           "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n" + stores +
           "    ret;\n}\n";
}

/// Small whole numbers without symmetry, exact in all types.
int a_element(int row, int depth) { return (7 * row + 3 * depth) % 11 - 5; }
int b_element(int depth, int column) { return (5 * depth + 2 * column) % 13 - 6; }
/// The byte of an element: rows of 128 bytes, whose pieces of 16 bytes are exchanged by the number
/// of the row, column of rows after column.
int byte_of(const Operands& of, Lies lies, int outer, int depth) {
    constexpr int kRowBytes = kRow * 2;
    const int row = lies == Lies::across ? depth : outer;
    const int at = (lies == Lies::across ? outer : depth) * of.bytes();
    return at / kRowBytes * kDepth * kRowBytes + row * kRowBytes +
           ((at % kRowBytes) ^ (row % 8 * 16));
}

void put(const Operands& of, Words& words, int byte, int value) {
    const auto half = runtime_dtype(dtype_of(of.factors));
    words[std::size_t(byte / 4)] |=
        of.tf32() ? std::bit_cast<std::uint32_t>(float(value))
                  : std::uint32_t(runtime::half_of_float(half, float(value))) << (byte % 4 * 8);
}

/// The tiles, and the registers of a: words 4 i to 4 i + 3 of a thread for step i.
Words product_input(const Operands& of) {
    Words words(std::size_t(kBytesOfA + kBytesOfB) / 4 + std::size_t(kTileThreads) * 16);
    for (int depth = 0; depth < of.depth(); ++depth) {
        for (int row = 0; row < kRows; ++row)
            put(of, words, byte_of(of, of.a, row, depth), a_element(row, depth));
        for (int column = 0; column < kTileColumns; ++column)
            put(of, words, kBytesOfA + byte_of(of, of.b, column, depth), b_element(depth, column));
    }
    for (int thread = 0; thread < kTileThreads; ++thread) {
        const int group = thread % 32 / 4 + thread / 32 * 16;
        for (int word = 0; word < 16; ++word)
            for (int half = 0; half < 2; ++half) {
                const int row = group + word % 2 * 8;
                const int depth = word / 4 * kTileStep + word % 4 / 2 * 8 + thread % 4 * 2 + half;
                put(of, words, kBytesOfA + kBytesOfB + thread * 64 + word * 4 + half * 2,
                    a_element(row, depth));
            }
    }
    return words;
}

/// Lane 4 r + c of warp w has columns 2 c and 2 c + 1 of rows 16 w + r and 16 w + r + 8, in every
/// eight columns.
Words product_output(const Operands& of) {
    Words words;
    for (int thread = 0; thread < kTileThreads; ++thread) {
        for (int i = 0; i < kSums; ++i) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
            const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            int expected = 0;
            for (int k = 0; k < of.depth(); ++k)
                expected += a_element(row, k) * b_element(k, column);
            words.push_back(std::bit_cast<std::uint32_t>(float(expected)));
        }
    }
    return words;
}

}  // namespace

std::vector<bundle::Probe> product_probes() {
    struct Form {
        Operands operands;
        const char* name;
    };
    constexpr Form kForms[] = {
        {{Lies::along_depth, Lies::along_depth}, "wgmma bf16, rows by columns"},
        {{Lies::along_depth, Lies::across}, "wgmma bf16, rows by rows"},
        {{Lies::across, Lies::along_depth}, "wgmma bf16, columns by columns"},
        {{Lies::across, Lies::across}, "wgmma bf16, columns by rows"},
        {{Lies::registers, Lies::along_depth}, "wgmma bf16, registers by columns"},
        {{Lies::registers, Lies::across}, "wgmma bf16, registers by rows"},
        {{Lies::along_depth, Lies::across, Factors::f16}, "wgmma f16, rows by rows"},
        {{Lies::registers, Lies::along_depth, Factors::f16}, "wgmma f16, registers by columns"},
        {{Lies::along_depth, Lies::along_depth, Factors::tf32}, "wgmma tf32, rows by columns"}};
    std::vector<bundle::Probe> probes;
    for (const Form& form : kForms)
        probes.push_back({.name = form.name,
                          .architecture = "sm_90a",
                          .text = ".version 8.0\n.target sm_90a\n.address_size 64\n" +
                                  product_text(form.operands),
                          .entry = form.operands.entry(),
                          .threads = kTileThreads,
                          .input = product_input(form.operands),
                          .expected = product_output(form.operands),
                          .of_floats = true});
    return probes;
}

}  // namespace fovea::tool
