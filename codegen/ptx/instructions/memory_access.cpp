// ld and st.
#include <cstring>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

/// What a load or store does besides its operands: Op::extra.
struct Access {
    Space space = Space::generic;
    Intent intent = Intent::read;
    bool sign = false;  // narrow loads are sign-extended

    static Access of(const Op& op) {
        return {Space(op.extra & 15), Intent(op.extra >> 4 & 15), bool(op.extra >> 8 & 1)};
    }
    std::int64_t packed() const {
        return std::int64_t(space) | std::int64_t(intent) << 4 | std::int64_t(sign) << 8;
    }
};

/// Where the values lie that a lane reads, one for each result.
template <class T>
const std::byte* checked_values(Warp& warp, const Op& op, int lane, const Access& access) {
    const std::uint64_t address = warp.address(op.source(), lane) + std::uint64_t(op.immediate);
    return warp.block.access(warp, lane, access.space, address,
                             std::uint32_t(sizeof(T)) * unsigned(op.results), access.intent);
}

/// Registers as wide as the values.
template <class T>
void load(Warp& warp, const Op& op, Mask mask) {
    const Access access = Access::of(op);
    const int count = op.results;
    for_lanes(mask, [&](int lane) {
        const std::byte* host = checked_values<T>(warp, op, lane, access);
        for (int i = 0; i < count; ++i)
            std::memcpy(&warp.lanes<T>(op.result(i))[lane], host + sizeof(T) * std::size_t(i),
                        sizeof(T));
    });
}

/// Wider registers: values are extended.
template <class T>
void load_narrow(Warp& warp, const Op& op, Mask mask) {
    const Access access = Access::of(op);
    const int count = op.results;
    for_lanes(mask, [&](int lane) {
        const std::byte* host = checked_values<T>(warp, op, lane, access);
        for (int i = 0; i < count; ++i) {
            T value;
            std::memcpy(&value, host + sizeof(T) * std::size_t(i), sizeof(T));
            const std::int64_t extended = std::int64_t(std::make_signed_t<T>(value));
            warp.set_bits(op.result(i), lane, access.sign ? std::uint64_t(extended) : value);
        }
    });
}

/// Sources: the address, then the values, of which the low bits are stored.
template <class T>
void store(Warp& warp, const Op& op, Mask mask) {
    const Access access = Access::of(op);
    const int count = op.sources - 1;
    for_lanes(mask, [&](int lane) {
        const std::uint64_t address = warp.address(op.source(), lane) + std::uint64_t(op.immediate);
        T values[8];
        for (int i = 0; i < count; ++i) values[i] = T(warp.bits(op.source(i + 1), lane));
        const std::uint32_t bytes = std::uint32_t(sizeof(T)) * unsigned(count);
        std::byte* host =
            warp.block.access(warp, lane, access.space, address, bytes, access.intent, values);
        std::memcpy(host, values, bytes);
    });
}

Handler load_of(Type type, bool exact) {
    switch (bytes_of(type)) {
        case 1: return exact ? load<std::uint8_t> : load_narrow<std::uint8_t>;
        case 2: return exact ? load<std::uint16_t> : load_narrow<std::uint16_t>;
        case 4: return exact ? load<std::uint32_t> : load_narrow<std::uint32_t>;
        default: return load<std::uint64_t>;
    }
}

Handler store_of(Type type) {
    switch (bytes_of(type)) {
        case 1: return store<std::uint8_t>;
        case 2: return store<std::uint16_t>;
        case 4: return store<std::uint32_t>;
        default: return store<std::uint64_t>;
    }
}

/// Hints for caches, the scope of the ordering, and how many values there are.
struct AccessForm {
    Access access;
    Type type;
};

AccessForm form_of(Decoder& decoder, Modifiers& modifiers, bool is_store, const Operand& address,
                   const Decoder::Address& at, std::size_t values) {
    AccessForm form{};
    const bool strong = modifiers.take("volatile") || modifiers.take("relaxed") ||
                        modifiers.take("acquire") || modifiers.take("release");
    modifiers.ignore({"weak", "mmio", "cta", "cluster", "gpu", "sys", "nc", "ca", "cg", "cs", "lu",
                      "cv", "wb", "wt"});
    modifiers.take_prefix("L1::");
    modifiers.take_prefix("L2::");
    modifiers.take_prefix("L2::");
    form.access.intent = is_store ? (strong ? Intent::atomic : Intent::write)
                                  : (strong ? Intent::peek : Intent::read);
    form.access.space = modifiers.space();
    const bool of_variable = address.parts[0].kind == Operand::Kind::variable;
    if (form.access.space == Space::param)
        form.access.space = of_variable ? at.space : decoder.parameter_space();
    else if (form.access.space == Space::generic && of_variable) form.access.space = at.space;
    form.type = modifiers.type();
    form.access.sign = is_signed(form.type);
    const auto vector = modifiers.take_one({"v2", "v4", "v8"});
    const std::size_t expected = vector ? std::size_t(2) << *vector : 1;
    if (values != expected || values * bytes_of(form.type) > 32)
        decoder.fail("the values are not as many as the instruction says");
    return form;
}

std::size_t values_of_operand(const Operand& operand) {
    return operand.kind == Operand::Kind::list ? operand.parts.size() : 1;
}

void decode_load(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    if (at.size() < 2) decoder.require(instruction, 2);
    const Decoder::Address address = decoder.address(at[1]);
    const AccessForm form =
        form_of(decoder, modifiers, false, at[1], address, values_of_operand(at[0]));
    const std::vector<Slot> results = decoder.results(at[0], form.type, true);
    bool exact = true;
    for (const Slot& slot : results) exact &= slot.bytes() == bytes_of(form.type);
    Op& op = decoder.emit(instruction, load_of(form.type, exact), results, {address.base});
    op.immediate = address.offset;
    op.extra = form.access.packed();
}

void decode_store(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    if (at.size() < 2) decoder.require(instruction, 2);
    const Decoder::Address address = decoder.address(at[0]);
    const AccessForm form =
        form_of(decoder, modifiers, true, at[0], address, values_of_operand(at[1]));
    std::vector<Slot> sources = decoder.sources(at[1], form.type, true);
    sources.insert(sources.begin(), address.base);
    Op& op = decoder.emit(instruction, store_of(form.type), {}, sources);
    op.immediate = address.offset;
    op.extra = form.access.packed();
}

/// Hints without effect.
void decode_nothing(Decoder&, const Instruction& instruction, Modifiers& modifiers) {
    for (const std::string& modifier : instruction.modifiers) modifiers.take(modifier);
}

}  // namespace

void add_memory(OpcodeTable& table) {
    table["ld"] = decode_load;
    table["ldu"] = decode_load;
    table["st"] = decode_store;
    for (const char* hint : {"prefetch", "prefetchu", "applypriority"})
        table[hint] = decode_nothing;
}

}  // namespace fovea::ptx
