// mov, selp, slct, and addresses between spaces. What is moved may be undefined: using it is what
// faults.
#include <fmt/format.h>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

void pass_defined(Warp& warp, const Slot& to, Mask source, Mask mask) {
    Mask& defined = warp.defined[to.number];
    defined = (defined & ~mask) | (source & mask);
}

template <class T>
void move(Warp& warp, const Op& op, Mask mask) {
    T values[kLanes];
    std::memcpy(values, warp.lanes<T>(op.source()), sizeof values);
    store_lanes(warp.lanes<T>(op.result()), values, mask);
    pass_defined(warp, op.result(), warp.defined[op.source().number], mask);
}

void move_predicate(Warp& warp, const Op& op, Mask mask) {
    Mask& to = warp.mask(op.result());
    to = (to & ~mask) | (warp.mask(op.source()) & mask);
    pass_defined(warp, op.result(), warp.defined[op.source().number], mask);
}

/// {a, b} into one register.
void pack(Warp& warp, const Op& op, Mask mask) {
    Mask defined = kAllLanes;
    for (int i = 0; i < op.sources; ++i) defined &= warp.defined[op.source(i).number];
    for_lanes(mask, [&](int lane) {
        std::uint64_t bits = 0;
        for (int i = 0; i < op.sources; ++i)
            bits |= warp.bits(op.source(i), lane) << (8 * op.source(i).bytes() * unsigned(i));
        warp.set_bits(op.result(), lane, bits);
    });
    pass_defined(warp, op.result(), defined, mask);
}

void unpack(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint64_t bits = warp.bits(op.source(), lane);
        for (int i = 0; i < op.results; ++i)
            warp.set_bits(op.result(i), lane, bits >> (8 * op.result(i).bytes() * unsigned(i)));
    });
    for (int i = 0; i < op.results; ++i)
        pass_defined(warp, op.result(i), warp.defined[op.source().number], mask);
}

template <class T>
void select(Warp& warp, const Op& op, Mask mask) {
    warp.require_defined(op.source(2), mask);
    const Mask chosen = warp.mask(op.source(2));
    const T* a = warp.lanes<T>(op.source(0));
    const T* b = warp.lanes<T>(op.source(1));
    T values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = chosen >> lane & 1 ? a[lane] : b[lane];
    store_lanes(warp.lanes<T>(op.result()), values, mask);
    const Mask defined = (warp.defined[op.source(0).number] & chosen) |
                         (warp.defined[op.source(1).number] & ~chosen);
    pass_defined(warp, op.result(), defined, mask);
}

/// a where c is not negative, else b.
template <class T, class C>
void select_by_sign(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const bool first = warp.lanes<C>(op.source(2))[lane] >= 0;
        warp.lanes<T>(op.result())[lane] = warp.lanes<T>(op.source(first ? 0 : 1))[lane];
    });
}

/// Adds the window of a space to an address, or takes it off.
void to_generic(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        warp.set_bits(op.result(), lane,
                      warp.address(op.source(), lane) + std::uint64_t(op.immediate));
    });
}

void from_generic(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint64_t address = warp.address(op.source(), lane);
        if ((address & kWindowMask) != std::uint64_t(op.immediate))
            warp.fail(FaultKind::bounds, lane,
                      fmt::format("the generic address {:#x} is none of that space", address));
        warp.set_bits(op.result(), lane, address - std::uint64_t(op.immediate));
    });
}

void is_in_space(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint64_t window = warp.address(op.source(), lane) & kWindowMask;
        const bool elsewhere =
            window == kSharedWindow || window == kLocalWindow || window == kParamWindow;
        warp.set_bits(op.result(), lane,
                      op.immediate ? window == std::uint64_t(op.immediate) : !elsewhere);
    });
}

/// A clock that counts the warp's instructions.
void read_clock(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) { warp.set_bits(op.result(), lane, warp.executed); });
}

/// A nanosecond for each of the warp's instructions, and the time in which all warps waited.
void read_timer(Warp& warp, const Op& op, Mask mask) {
    const std::uint64_t now = warp.executed + warp.block.idle_nanoseconds;
    for_lanes(mask, [&](int lane) { warp.set_bits(op.result(), lane, now); });
}

Handler move_of(unsigned bytes) {
    switch (bytes) {
        case 1: return move<std::uint8_t>;
        case 2: return move<std::uint16_t>;
        case 4: return move<std::uint32_t>;
        default: return move<std::uint64_t>;
    }
}

void decode_move(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const Type type = modifiers.type();
    decoder.require(instruction, 2);
    const auto width_of = [&](const Operand& list) {
        return bits_type(bytes_of(type) / unsigned(list.parts.size()));
    };
    if (at[1].kind == Operand::Kind::special && at[1].name.find("clock") != std::string::npos) {
        decoder.emit(instruction, read_clock, {decoder.result(at[0], type)}, {});
    } else if (at[1].kind == Operand::Kind::special && at[1].name == "%globaltimer") {
        decoder.emit(instruction, read_timer, {decoder.result(at[0], type)}, {});
    } else if (at[0].kind == Operand::Kind::list) {
        decoder
            .emit(instruction, unpack, decoder.results(at[0], width_of(at[0])),
                  {decoder.source(at[1], type)})
            .check = Check::passing;
    } else if (at[1].kind == Operand::Kind::list) {
        decoder
            .emit(instruction, pack, {decoder.result(at[0], type)},
                  decoder.sources(at[1], width_of(at[1])))
            .check = Check::passing;
    } else {
        decoder
            .emit(instruction, type == Type::pred ? move_predicate : move_of(bytes_of(type)),
                  {decoder.result(at[0], type)}, {decoder.source(at[1], type)})
            .check = Check::passing;
    }
}

void decode_select(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const Type type = modifiers.type();
    decoder.require(instruction, 4);
    const Handler run = bytes_of(type) == 2   ? select<std::uint16_t>
                        : bytes_of(type) == 4 ? select<std::uint32_t>
                                              : select<std::uint64_t>;
    decoder
        .emit(instruction, run, {decoder.result(at[0], type)},
              {decoder.source(at[1], type), decoder.source(at[2], type), decoder.predicate(at[3])})
        .check = Check::passing;
}

void decode_select_by_sign(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    modifiers.take("ftz");
    const Type type = modifiers.type(), sign = modifiers.type();
    decoder.require(instruction, 4);
    const auto handler = [&](auto zero) -> Handler {
        using T = decltype(zero);
        return sign == Type::f32 ? select_by_sign<T, float> : select_by_sign<T, std::int32_t>;
    };
    const Handler run = bytes_of(type) == 2   ? handler(std::uint16_t{})
                        : bytes_of(type) == 4 ? handler(std::uint32_t{})
                                              : handler(std::uint64_t{});
    decoder.emit(
        instruction, run, {decoder.result(at[0], type)},
        {decoder.source(at[1], type), decoder.source(at[2], type), decoder.source(at[3], sign)});
}

std::uint64_t window_of(Space space) {
    switch (space) {
        case Space::shared: return kSharedWindow;
        case Space::local: return kLocalWindow;
        case Space::param: return kParamWindow;
        default: return 0;
    }
}

void decode_address(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const bool to_space = modifiers.take("to");
    Space space = modifiers.space();
    if (space == Space::param) space = decoder.parameter_space();
    const Type type = modifiers.type();
    decoder.require(instruction, 2);
    const std::uint64_t window = window_of(space);
    const Handler run = !window ? move_of(bytes_of(type)) : to_space ? from_generic : to_generic;
    Op& op = decoder.emit(instruction, run, {decoder.result(at[0], type)},
                          {decoder.source(at[1], type)});
    op.immediate = std::int64_t(window);
}

void decode_is_in_space(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const std::uint64_t window = window_of(modifiers.space());
    decoder.require(instruction, 2);
    decoder
        .emit(instruction, is_in_space, {decoder.result(instruction.operands[0], Type::pred)},
              {decoder.source(instruction.operands[1], Type::b64)})
        .immediate = std::int64_t(window);
}

/// In a cluster of one block every address of shared memory is the block's own.
void decode_map(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.space();
    const Type type = modifiers.type();
    decoder.require(instruction, 3);
    decoder.emit(instruction, move_of(bytes_of(type)),
                 {decoder.result(instruction.operands[0], type)},
                 {decoder.source(instruction.operands[1], type)});
}

}  // namespace

void add_move(OpcodeTable& table) {
    table["mov"] = decode_move;
    table["selp"] = decode_select;
    table["slct"] = decode_select_by_sign;
    table["cvta"] = decode_address;
    table["isspacep"] = decode_is_in_space;
    table["mapa"] = decode_map;
}

}  // namespace fovea::ptx
