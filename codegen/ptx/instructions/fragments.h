// Which elements of a matrix the registers of a warp hold, for mma.sync and wgmma (PTX ISA,
// "Matrix Fragments for mma.m16n8k16").
#pragma once

#include <cstring>

#include "codegen/ptx/instructions/half.h"
#include "codegen/ptx/lanes.h"

namespace fovea::ptx {

struct Element {
    int row, column;
};

/// Numbers in one register: 2 of 16 bits, or 1 of 32.
constexpr int per_register(Type type) { return type == Type::f32 || type == Type::tf32 ? 1 : 2; }

/// Number `part` of register `number` of a 16-row operand A.
inline Element element_of_a(int lane, int number, int part, int per) {
    const int column = lane % 4 * per + part + (number >> 1) * 4 * per;
    return {lane / 4 + (number & 1) * 8, column};
}

/// The same of an 8-column operand B; its rows are those of the sum.
inline Element element_of_b(int lane, int number, int part, int per) {
    return {lane % 4 * per + part + number * 4 * per, lane / 4};
}

/// Number `number` of a lane's accumulators, in tiles of 16 rows and 8 columns.
inline Element element_of_c(int lane, int number) {
    return {lane / 4 + (number >> 1 & 1) * 8, number / 4 * 8 + lane % 4 * 2 + (number & 1)};
}

/// A number as the tensor cores read it.
inline float read_number(std::uint32_t bits, int part, Type type) {
    switch (type) {
        case Type::bf16: return from_bf16(std::uint16_t(bits >> (16 * part)));
        case Type::f16: return from_f16(std::uint16_t(bits >> (16 * part)));
        case Type::tf32: return std::bit_cast<float>(bits & ~0x1fffu);
        default: return std::bit_cast<float>(bits);
    }
}

/// c += a b for 16 rows, in order of the sum. a: [16, depth], b: [depth, columns],
/// c: [16, columns], a multiple of 8.
void accumulate(const float* a, const float* b, float* c, int depth, int columns);

}  // namespace fovea::ptx
