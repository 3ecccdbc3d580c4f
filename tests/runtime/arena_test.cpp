// Alignment, zeros, growth and refusal of arenas.
#include "runtime/memory/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

bool is_zero(const Arena& arena, std::size_t bytes) {
    const auto* start = arena.as<unsigned char>();
    return std::all_of(start, start + bytes, [](unsigned char byte) { return byte == 0; });
}

std::uintptr_t address(const Arena& arena) {
    return reinterpret_cast<std::uintptr_t>(arena.as<char>());
}

}  // namespace

TEST_CASE("arena: small blocks start at 64 bytes, large ones at 4096, all with zeros") {
    for (std::size_t bytes : {1UL, 63UL, 64UL, 1000UL, 1UL << 20, (1UL << 20) + 1, 5UL << 20}) {
        const Arena arena(bytes);
        CAPTURE(bytes);
        CHECK(address(arena) % (bytes >= 1UL << 20 ? 4096 : 64) == 0);
        CHECK(arena.capacity() >= bytes);
        CHECK(is_zero(arena, bytes));
    }
}

TEST_CASE("arena: reserve keeps a block that is large enough, else starts with zeros") {
    Arena arena(100);
    arena.as<float>()[3] = 5.0F;
    arena.reserve(10);
    CHECK(arena.as<float>()[3] == 5.0F);
    arena.reserve(4096);
    CHECK(is_zero(arena, 4096));
    arena.reserve(3UL << 20);
    CHECK(is_zero(arena, 3UL << 20));
}

TEST_CASE("arena: what is lent is used from a multiple of 64 bytes on, and never freed") {
    alignas(64) std::byte memory[256];
    Arena arena(100);
    arena.lend(std::span(memory).subspan(1));
    CHECK(arena.as<std::byte>() == memory + 64);
    CHECK(arena.capacity() == 192);
    arena.reserve(192);
    CHECK(arena.as<std::byte>() == memory + 64);
    CHECK_THROWS_WITH_AS(arena.reserve(193),
                         "these sizes take a workspace of 193 bytes; the caller's has 192 from a "
                         "multiple of 64 on",
                         UserError);
    Arena moved = std::move(arena);
    CHECK(moved.is_lent());
    moved.lend(std::span(memory, 10));
    moved.lend({});
    moved.reserve(300);
    CHECK(is_zero(moved, 300));
    CHECK(!moved.is_lent());
}

TEST_CASE("arena: moving takes the block along") {
    Arena first(256);
    const auto where = address(first);
    Arena second(std::move(first));
    CHECK(address(second) == where);
    CHECK(first.capacity() == 0);  // NOLINT(bugprone-use-after-move): what is left
    Arena third(2UL << 20);
    third = std::move(second);
    CHECK(address(third) == where);
    third = Arena();
    CHECK(third.as<char>() == nullptr);
}

TEST_CASE("arena: memory that cannot be had is the user's mistake, with the byte count") {
    Arena arena(64);
    CHECK_THROWS_WITH_AS(arena.reserve(std::size_t{1} << 60),
                         "not enough memory: 1152921504606846976 bytes are needed in one block",
                         UserError);
    CHECK(arena.capacity() == 0);
    CHECK_THROWS_AS(arena.reserve(SIZE_MAX), UserError);
    arena.reserve(64);
    CHECK(is_zero(arena, 64));
}
