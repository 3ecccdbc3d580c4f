// ldmatrix, stmatrix and mma.sync.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/fragments.h"

namespace fovea::ptx {
namespace {

template <int kColumns>
void accumulate_columns(const float* a, const float* b, float* c, int depth, int columns) {
    for (int row = 0; row < 16; ++row) {
        float sums[kColumns];
        for (int n = 0; n < kColumns; ++n) sums[n] = c[row * columns + n];
        for (int k = 0; k < depth; ++k)
            for (int n = 0; n < kColumns; ++n) sums[n] += a[row * depth + k] * b[k * columns + n];
        for (int n = 0; n < kColumns; ++n) c[row * columns + n] = sums[n];
    }
}

constexpr int kMatrixRows = 8;          // of ldmatrix, 16 bytes each
constexpr std::uint32_t kRowBytes = 16;

/// Lane 8 i + r gives the address of row r of matrix i; each lane gets two numbers of each matrix.
void load_matrices(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    const bool transposed = op.immediate;
    for (int i = 0; i < op.results; ++i) {
        std::uint16_t rows[kMatrixRows][8];
        for (int r = 0; r < kMatrixRows; ++r) {
            const int lane = i * kMatrixRows + r;
            const std::uint64_t at = warp.address(op.source(), lane) & ~kWindowMask;
            std::memcpy(rows[r], warp.block.shared(warp, lane, at, kRowBytes, Intent::read),
                        kRowBytes);
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            const int g = lane / 4, t = lane % 4 * 2;
            const std::uint32_t low = transposed ? rows[t][g] : rows[g][t];
            const std::uint32_t high = transposed ? rows[t + 1][g] : rows[g][t + 1];
            warp.lanes<std::uint32_t>(op.result(i))[lane] = low | high << 16;
        }
    }
}

void store_matrices(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    const bool transposed = op.immediate;
    for (int i = 0; i + 1 < op.sources; ++i) {
        std::uint16_t rows[kMatrixRows][8];
        for (int lane = 0; lane < kLanes; ++lane) {
            const int g = lane / 4, t = lane % 4 * 2;
            const std::uint32_t bits = warp.lanes<std::uint32_t>(op.source(1 + i))[lane];
            (transposed ? rows[t][g] : rows[g][t]) = std::uint16_t(bits);
            (transposed ? rows[t + 1][g] : rows[g][t + 1]) = std::uint16_t(bits >> 16);
        }
        for (int r = 0; r < kMatrixRows; ++r) {
            const int lane = i * kMatrixRows + r;
            const std::uint64_t at = warp.address(op.source(), lane) & ~kWindowMask;
            std::memcpy(warp.block.shared(warp, lane, at, kRowBytes, Intent::write, rows[r]),
                        rows[r], kRowBytes);
        }
    }
}

/// c += a b for 16 rows, `depth` and 8 columns; sources: the registers of a, of b and of c.
template <Type kType, int kDepth, bool kHalfSums>
void multiply(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    if (mask != kAllLanes)
        warp.fail(FaultKind::divergent, 0, "mma.sync in a warp without its 32 threads");
    constexpr int kPer = per_register(kType);
    constexpr int kRegistersA = 16 * kDepth / (kLanes * kPer), kRegistersB = kRegistersA / 2;
    constexpr int kFirstC = kRegistersA + kRegistersB;
    float a[16 * kDepth], b[kDepth * 8], c[16 * 8];
    for (int number = 0; number < kRegistersA; ++number) {
        const auto* bits = warp.lanes<std::uint32_t>(op.source(number));
        for (int lane = 0; lane < kLanes; ++lane)
            for (int part = 0; part < kPer; ++part) {
                const Element at = element_of_a(lane, number, part, kPer);
                a[at.row * kDepth + at.column] = read_number(bits[lane], part, kType);
            }
    }
    for (int number = 0; number < kRegistersB; ++number) {
        const auto* bits = warp.lanes<std::uint32_t>(op.source(kRegistersA + number));
        for (int lane = 0; lane < kLanes; ++lane)
            for (int part = 0; part < kPer; ++part) {
                const Element at = element_of_b(lane, number, part, kPer);
                b[at.row * 8 + at.column] = read_number(bits[lane], part, kType);
            }
    }
    for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < 4; ++i) {
            const Element at = element_of_c(lane, i);
            const auto* bits =
                warp.lanes<std::uint32_t>(op.source(kFirstC + (kHalfSums ? i / 2 : i)));
            c[at.row * 8 + at.column] =
                read_number(bits[lane], kHalfSums ? i % 2 : 0, kHalfSums ? Type::f16 : Type::f32);
        }
    accumulate(a, b, c, kDepth, 8);
    for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < 4; i += kHalfSums ? 2 : 1) {
            const Element at = element_of_c(lane, i);
            const float* sum = &c[at.row * 8 + at.column];
            warp.lanes<std::uint32_t>(op.result(kHalfSums ? i / 2 : i))[lane] =
                kHalfSums ? std::uint32_t(to_f16(sum[0])) | std::uint32_t(to_f16(sum[1])) << 16
                          : std::bit_cast<std::uint32_t>(sum[0]);
        }
}

struct MatrixForm {
    std::string_view shape;
    Type inputs;
    Handler run;
    int a, b, c;  // registers
};

constexpr MatrixForm kForms[] = {
    {"m16n8k16", Type::bf16, multiply<Type::bf16, 16, false>, 4, 2, 4},
    {"m16n8k8", Type::bf16, multiply<Type::bf16, 8, false>, 2, 1, 4},
    {"m16n8k16", Type::f16, multiply<Type::f16, 16, false>, 4, 2, 4},
    {"m16n8k8", Type::f16, multiply<Type::f16, 8, false>, 2, 1, 4},
    {"m16n8k8", Type::tf32, multiply<Type::tf32, 8, false>, 4, 2, 4},
    {"m16n8k4", Type::tf32, multiply<Type::tf32, 4, false>, 2, 1, 4},
};

constexpr MatrixForm kHalfForms[] = {
    {"m16n8k16", Type::f16, multiply<Type::f16, 16, true>, 4, 2, 2},
    {"m16n8k8", Type::f16, multiply<Type::f16, 8, true>, 2, 1, 2},
};

/// Registers of 32 bits, which LLVM declares .b32 or .f32.
std::vector<Slot> registers(Decoder& decoder, const Operand& operand, int count, bool results) {
    const auto slots =
        results ? decoder.results(operand, Type::b32) : decoder.sources(operand, Type::b32);
    if (int(slots.size()) != count)
        decoder.fail(fmt::format("a fragment of {} registers; it has {}", slots.size(), count));
    return slots;
}

void decode_mma(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    modifiers.ignore({"sync", "aligned", "row", "col"});
    const Type d = modifiers.type(), a = modifiers.type(), b = modifiers.type(),
               c = modifiers.type();
    decoder.require(instruction, 4);
    const bool half = d == Type::f16;
    if (a != b || c != d || !(half || d == Type::f32)) decoder.fail("mma.sync of mixed types");
    const MatrixForm* begin = half ? std::begin(kHalfForms) : std::begin(kForms);
    const MatrixForm* end = half ? std::end(kHalfForms) : std::end(kForms);
    const MatrixForm* form = std::find_if(begin, end, [&](const MatrixForm& known) {
        return known.inputs == a && modifiers.take(known.shape);
    });
    if (form == end) decoder.fail(instruction.spelling() + " is not interpreted");
    std::vector<Slot> sources = registers(decoder, at[1], form->a, false);
    for (const Slot& slot : registers(decoder, at[2], form->b, false)) sources.push_back(slot);
    for (const Slot& slot : registers(decoder, at[3], form->c, false)) sources.push_back(slot);
    decoder.emit(instruction, form->run, registers(decoder, at[0], form->c, true), sources);
}

int matrices(Decoder& decoder, Modifiers& modifiers) {
    modifiers.ignore({"sync", "aligned", "m8n8", "b16"});
    modifiers.space();
    const auto count = modifiers.take_one({"x1", "x2", "x4"});
    if (!count) decoder.fail("matrices without their number");
    return 1 << *count;
}

void decode_load_matrix(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const int count = matrices(decoder, modifiers);
    decoder.require(instruction, 2);
    const bool transposed = modifiers.take("trans");
    decoder
        .emit(instruction, load_matrices, registers(decoder, at[0], count, true),
              {decoder.whole_address(at[1])})
        .immediate = transposed;
}

void decode_store_matrix(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const int count = matrices(decoder, modifiers);
    decoder.require(instruction, 2);
    const bool transposed = modifiers.take("trans");
    std::vector<Slot> sources = registers(decoder, at[1], count, false);
    sources.insert(sources.begin(), decoder.whole_address(at[0]));
    decoder.emit(instruction, store_matrices, std::vector<Slot>{}, sources).immediate = transposed;
}

}  // namespace

void accumulate(const float* a, const float* b, float* c, int depth, int columns) {
    for (int n = 0; n < columns; n += 8) accumulate_columns<8>(a, b + n, c + n, depth, columns);
}

void add_matrix(OpcodeTable& table) {
    table["ldmatrix"] = decode_load_matrix;
    table["stmatrix"] = decode_store_matrix;
    table["mma"] = decode_mma;
}

}  // namespace fovea::ptx
