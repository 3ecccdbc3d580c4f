// One name a type.
#include "codegen/ptx/text/type.h"

#include <array>

namespace fovea::ptx {
namespace {

/// In the order of `Type`.
constexpr std::array<std::string_view, 20> kNames = {
    "pred", "b8",  "u8",  "s8",    "b16",    "u16",  "s16", "f16", "bf16", "b32",
    "u32",  "s32", "f32", "f16x2", "bf16x2", "tf32", "b64", "u64", "s64",  "f64"};

}  // namespace

std::optional<Type> type_named(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return Type(i);
    return std::nullopt;
}

std::string_view name_of(Type type) { return kNames[std::size_t(type)]; }

bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

Type bits_type(unsigned bytes) {
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}

}  // namespace fovea::ptx
