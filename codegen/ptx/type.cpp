// One row a type.
#include "codegen/ptx/type.h"

#include <array>

namespace fovea::ptx {
namespace {

struct Row {
    std::string_view name;
    unsigned bytes;
};

/// In the order of `Type`.
constexpr std::array<Row, 20> kTypes = {{
    {"pred", 1},   {"b8", 1},   {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2},
    {"f16", 2},    {"bf16", 2}, {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4}, {"f16x2", 4},
    {"bf16x2", 4}, {"tf32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8},
}};

}  // namespace

std::optional<Type> type_named(std::string_view name) {
    for (std::size_t i = 0; i < kTypes.size(); ++i)
        if (kTypes[i].name == name) return Type(i);
    return std::nullopt;
}

std::string_view name_of(Type type) { return kTypes[std::size_t(type)].name; }

unsigned bytes_of(Type type) { return kTypes[std::size_t(type)].bytes; }

bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

Type bits_type(unsigned bytes) {
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}

}  // namespace fovea::ptx
