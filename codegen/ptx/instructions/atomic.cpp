// atom and red.
#include <cstring>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/half.h"

namespace fovea::ptx {
namespace {

enum class Update : std::uint8_t {
    add,
    min,
    max,
    conjunction,
    disjunction,
    exclusive,
    exchange,
    swap,
    increment,
    decrement
};

template <class T>
T as(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// The new value from the old one and one operand, or, for swap, two.
template <class T>
std::uint64_t updated(Update update, std::uint64_t old, std::uint64_t operand) {
    const T a = as<T>(old), b = as<T>(operand);
    switch (update) {
        case Update::add:
            if constexpr (std::is_floating_point_v<T>) return bits_of(a + b);
            else return bits_of(T(std::uint64_t(a) + std::uint64_t(b)));
        case Update::min: return bits_of(b < a ? b : a);
        case Update::max: return bits_of(a < b ? b : a);
        case Update::conjunction: return old & operand;
        case Update::disjunction: return old | operand;
        case Update::exclusive: return old ^ operand;
        case Update::increment: return a >= b ? 0 : bits_of(T(a + T(1)));
        case Update::decrement: return a == T(0) || a > b ? operand : bits_of(T(a - T(1)));
        default: return operand;
    }
}

std::uint64_t half_sum(Type type, std::uint64_t old, std::uint64_t operand) {
    const bool bf16 = type == Type::bf16 || type == Type::bf16x2;
    std::uint64_t sum = 0;
    for (unsigned part = 0; part < bytes_of(type) / 2; ++part) {
        const auto a = std::uint16_t(old >> (16 * part)), b = std::uint16_t(operand >> (16 * part));
        const std::uint16_t both = bf16 ? to_bf16(double(from_bf16(a)) + from_bf16(b))
                                        : to_f16(double(from_f16(a)) + from_f16(b));
        sum |= std::uint64_t(both) << (16 * part);
    }
    return sum;
}

std::uint64_t updated(Type type, Update update, std::uint64_t old, std::uint64_t operand) {
    switch (type) {
        case Type::s32: return updated<std::int32_t>(update, old, operand) & 0xffffffff;
        case Type::u32:
        case Type::b32: return updated<std::uint32_t>(update, old, operand);
        case Type::s64: return updated<std::int64_t>(update, old, operand);
        case Type::u64:
        case Type::b64: return updated<std::uint64_t>(update, old, operand);
        case Type::f32: return updated<float>(update, old, operand);
        case Type::f64: return updated<double>(update, old, operand);
        case Type::b16: return updated<std::uint16_t>(update, old, operand);
        default: return half_sum(type, old, operand);
    }
}

/// Space, update and type, packed in Op::extra; sources: the address, the operands.
template <bool kReturns>
void atomic(Warp& warp, const Op& op, Mask mask) {
    const auto space = Space(op.extra & 15);
    const auto update = Update(op.extra >> 4 & 15);
    const auto type = Type(op.extra >> 8);
    const std::uint32_t bytes = bytes_of(type);
    const int values = update == Update::swap ? 1 : op.sources - 1;
    for_lanes(mask, [&](int lane) {
        const std::uint64_t address = warp.address(op.source(), lane) + std::uint64_t(op.immediate);
        for (int i = 0; i < values; ++i) {
            std::byte* host = warp.block.access(warp, lane, space, address + bytes * unsigned(i),
                                                bytes, Intent::atomic);
            std::uint64_t old = 0;
            std::memcpy(&old, host, bytes);
            const std::uint64_t operand = warp.bits(op.source(1 + i), lane);
            std::uint64_t fresh;
            if (update == Update::swap)
                fresh = old == operand ? warp.bits(op.source(2), lane) : old;
            else fresh = updated(type, update, old, operand);
            std::memcpy(host, &fresh, bytes);
            if (kReturns) warp.set_bits(op.result(i), lane, old);
        }
    });
}

template <bool kReturns>
void decode_atomic(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    constexpr std::size_t kAddress = kReturns ? 1 : 0;
    modifiers.ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys",
                      "noftz", "async"});
    modifiers.take_prefix("L2::");
    Space space = modifiers.space();
    const auto update =
        modifiers.take_one({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
    if (!update) decoder.fail("an atomic without its operation");
    const Type type = modifiers.type();
    const auto vector = modifiers.take_one({"v2", "v4", "v8"});
    const bool swaps = Update(*update) == Update::swap;
    decoder.require(instruction, kAddress + (swaps ? 3 : 2));
    const Decoder::Address address = decoder.address(at[kAddress]);
    if (space == Space::generic && at[kAddress].parts[0].kind == Operand::Kind::variable)
        space = address.space;
    std::vector<Slot> sources = decoder.sources(at[kAddress + 1], type);
    const bool fits = is_float(type) ? *update == 0 || (bytes_of(type) >= 4 && *update == 6) : true;
    if (!fits || sources.size() != (vector ? std::size_t(2) << *vector : 1))
        decoder.fail(instruction.spelling() + " is not interpreted");
    sources.insert(sources.begin(), address.base);
    if (swaps) sources.push_back(decoder.source(at[kAddress + 2], type));
    const auto results = kReturns ? decoder.results(at[0], type) : std::vector<Slot>{};
    Op& op = decoder.emit(instruction, atomic<kReturns>, results, sources);
    op.immediate = address.offset;
    op.extra = std::int64_t(space) | std::int64_t(*update) << 4 | std::int64_t(type) << 8;
}

}  // namespace

void add_atomic(OpcodeTable& table) {
    table["atom"] = decode_atomic<true>;
    table["red"] = decode_atomic<false>;
}

}  // namespace fovea::ptx
