// setp and set: comparisons, combined with a predicate; a second result is the combination with the
// opposite.
#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/half.h"

namespace fovea::ptx {
namespace {

struct Equal {
    template <class T>
    bool operator()(T a, T b) const {
        return a == b;
    }
};
struct NotEqual {  // of numbers: false for NaNs
    template <class T>
    bool operator()(T a, T b) const {
        return a < b || a > b;
    }
};
struct Less {
    template <class T>
    bool operator()(T a, T b) const {
        return a < b;
    }
};
struct LessEqual {
    template <class T>
    bool operator()(T a, T b) const {
        return a <= b;
    }
};
struct Greater {
    template <class T>
    bool operator()(T a, T b) const {
        return a > b;
    }
};
struct GreaterEqual {
    template <class T>
    bool operator()(T a, T b) const {
        return a >= b;
    }
};
struct Numbers {
    template <class T>
    bool operator()(T a, T b) const {
        return a == a && b == b;
    }
};
/// True for NaNs as well.
template <class F>
struct OrUnordered {
    template <class T>
    bool operator()(T a, T b) const {
        return F{}(a, b) || a != a || b != b;
    }
};
struct Never {
    template <class T>
    bool operator()(T, T) const {
        return false;
    }
};

/// How the comparison and the predicate are combined, in Op::immediate.
enum class Combine : std::int64_t { none, both, either, one };

Mask combined(Combine how, Mask compared, Mask predicate) {
    switch (how) {
        case Combine::both: return compared & predicate;
        case Combine::either: return compared | predicate;
        case Combine::one: return compared ^ predicate;
        default: return compared;
    }
}

template <class T, class F>
Mask compare_lanes(Warp& warp, const Op& op) {
    const T* a = warp.lanes<T>(op.source(0));
    const T* b = warp.lanes<T>(op.source(1));
    Mask holds = 0;
    for (int lane = 0; lane < kLanes; ++lane) holds |= Mask(F{}(a[lane], b[lane])) << lane;
    return holds;
}

/// f16, or bf16, numbers.
template <bool kBf16, class F>
Mask compare_halves(Warp& warp, const Op& op) {
    const auto* a = warp.lanes<std::uint16_t>(op.source(0));
    const auto* b = warp.lanes<std::uint16_t>(op.source(1));
    Mask holds = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto read = [](std::uint16_t bits) {
            return kBf16 ? from_bf16(bits) : from_f16(bits);
        };
        holds |= Mask(F{}(read(a[lane]), read(b[lane]))) << lane;
    }
    return holds;
}

using Comparison = Mask (*)(Warp&, const Op&);

template <Comparison kCompare>
void set_predicate(Warp& warp, const Op& op, Mask mask) {
    const auto how = Combine(op.immediate);
    const Mask compared = kCompare(warp, op);
    const Mask predicate = how == Combine::none ? 0 : warp.mask(op.source(2));
    const Mask values[] = {combined(how, compared, predicate), combined(how, ~compared, predicate)};
    for (int i = 0; i < op.results; ++i) {
        Mask& to = warp.mask(op.result(i));
        to = (to & ~mask) | (values[i] & mask);
    }
}

/// All ones, or 1.0, where it holds.
template <Comparison kCompare>
void set_value(Warp& warp, const Op& op, Mask mask) {
    const auto how = Combine(op.immediate);
    const Mask predicate = how == Combine::none ? 0 : warp.mask(op.source(2));
    const Mask holds = combined(how, kCompare(warp, op), predicate);
    for_lanes(mask, [&](int lane) {
        warp.lanes<std::uint32_t>(op.result())[lane] =
            holds >> lane & 1 ? std::uint32_t(op.extra) : 0;
    });
}

template <class F, bool kSetsValue>
Handler comparison_of(Type type) {
    const auto handler = [](auto compare) -> Handler {
        constexpr Comparison kCompare = decltype(compare)::value;
        return kSetsValue ? set_value<kCompare> : set_predicate<kCompare>;
    };
    switch (type) {
        case Type::f16:
            return handler(std::integral_constant<Comparison, compare_halves<false, F>>{});
        case Type::bf16:
            return handler(std::integral_constant<Comparison, compare_halves<true, F>>{});
        case Type::f32:
            return handler(std::integral_constant<Comparison, compare_lanes<float, F>>{});
        case Type::f64:
            return handler(std::integral_constant<Comparison, compare_lanes<double, F>>{});
        default:
            return for_integer(type, [&](auto zero) -> Handler {
                using T = decltype(zero);
                return handler(std::integral_constant<Comparison, compare_lanes<T, F>>{});
            });
    }
}

Type unsigned_type(Type type) { return is_float(type) ? type : bits_type(bytes_of(type)); }

template <bool kSetsValue>
Handler comparison(Modifiers& modifiers, Decoder& decoder, Type type) {
    const auto named =
        modifiers.take_one({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                            "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
    if (!named) decoder.fail("a comparison without its operator");
    switch (*named) {
        case 0: return comparison_of<Equal, kSetsValue>(type);
        case 1: return comparison_of<NotEqual, kSetsValue>(type);
        case 2: return comparison_of<Less, kSetsValue>(type);
        case 3: return comparison_of<LessEqual, kSetsValue>(type);
        case 4: return comparison_of<Greater, kSetsValue>(type);
        case 5: return comparison_of<GreaterEqual, kSetsValue>(type);
        case 6: return comparison_of<Less, kSetsValue>(unsigned_type(type));
        case 7: return comparison_of<LessEqual, kSetsValue>(unsigned_type(type));
        case 8: return comparison_of<Greater, kSetsValue>(unsigned_type(type));
        case 9: return comparison_of<GreaterEqual, kSetsValue>(unsigned_type(type));
        case 10: return comparison_of<OrUnordered<Equal>, kSetsValue>(type);
        case 11: return comparison_of<OrUnordered<NotEqual>, kSetsValue>(type);
        case 12: return comparison_of<OrUnordered<Less>, kSetsValue>(type);
        case 13: return comparison_of<OrUnordered<LessEqual>, kSetsValue>(type);
        case 14: return comparison_of<OrUnordered<Greater>, kSetsValue>(type);
        case 15: return comparison_of<OrUnordered<GreaterEqual>, kSetsValue>(type);
        case 16: return comparison_of<Numbers, kSetsValue>(type);
        default: return comparison_of<OrUnordered<Never>, kSetsValue>(type);
    }
}

template <bool kSetsValue>
void decode_comparison(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    modifiers.take("ftz");
    const Type wanted = kSetsValue ? modifiers.type() : Type::pred;
    const Type type = modifiers.type();
    const Handler run = comparison<kSetsValue>(modifiers, decoder, type);
    auto how = Combine::none;
    if (const auto named = modifiers.take_one({"and", "or", "xor"})) how = Combine(*named + 1);
    decoder.require(instruction, how == Combine::none ? 3 : 4);
    std::vector<Slot> results;
    if (at[0].kind == Operand::Kind::pair)
        for (const Operand& part : at[0].parts) results.push_back(decoder.result(part, wanted));
    else results.push_back(decoder.result(at[0], wanted));
    std::vector<Slot> sources = {decoder.source(at[1], type), decoder.source(at[2], type)};
    if (how != Combine::none) sources.push_back(decoder.predicate(at[3]));
    Op& op = decoder.emit(instruction, run, results, sources);
    op.immediate = std::int64_t(how);
    op.extra = wanted == Type::f32 ? 0x3f800000 : 0xffffffff;
}

}  // namespace

void add_compare(OpcodeTable& table) {
    table["setp"] = decode_comparison<false>;
    table["set"] = decode_comparison<true>;
}

}  // namespace fovea::ptx
