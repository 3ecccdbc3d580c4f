// Memory of an arena: the C library for small blocks, mapped pages for large ones.
#include "arena.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "../error.h"

namespace fovea::runtime {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kHuge = std::size_t{4} << 20;  // large pages start to pay
constexpr std::size_t kPage = 4096;

void* map_pages(std::size_t bytes) {
    constexpr int kAccess = PROT_READ | PROT_WRITE, kKind = MAP_PRIVATE | MAP_ANONYMOUS;
    void* address = mmap(nullptr, bytes, kAccess, kKind, -1, 0);
    if (address == MAP_FAILED) return nullptr;
    // Advice only: where it is refused, small pages do.
    if (bytes >= kHuge) (void)madvise(address, bytes, MADV_HUGEPAGE);
    return address;
}

void* allocate(std::size_t bytes) {
    if (bytes >= kLarge) return map_pages(bytes);
    void* address = std::aligned_alloc(kAlignment, bytes);
    if (address) std::memset(address, 0, bytes);
    return address;
}

}  // namespace

Arena::Arena(Arena&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      is_lent_(std::exchange(other.is_lent_, false)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    if (this == &other) return *this;
    release();
    address_ = std::exchange(other.address_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
    is_lent_ = std::exchange(other.is_lent_, false);
    return *this;
}

void Arena::lend(std::span<std::byte> memory) {
    release();
    is_lent_ = !memory.empty();
    void* address = memory.data();
    std::size_t left = memory.size();
    if (!is_lent_ || !std::align(kAlignment, 0, address, left)) return;
    address_ = address;
    capacity_ = left;
}

void Arena::reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    if (is_lent_)
        throw UserError(
            "these sizes take a workspace of {} bytes; the caller's has {} from a "
            "multiple of {} on",
            {bytes, capacity_, kAlignment});
    release();
    const std::size_t unit = bytes >= kLarge ? kPage : kAlignment;
    const bool representable = bytes <= PTRDIFF_MAX - unit;
    const std::size_t rounded = representable ? (bytes + unit - 1) / unit * unit : bytes;
    address_ = representable ? allocate(rounded) : nullptr;
    if (!address_) {
        throw UserError("not enough memory: {} bytes are needed in one block", {bytes});
    }
    capacity_ = rounded;
}

void Arena::release() noexcept {
    if (is_lent_) {
        is_lent_ = false;
    } else if (capacity_ >= kLarge) {
        munmap(address_, capacity_);
    } else {
        std::free(address_);
    }
    address_ = nullptr;
    capacity_ = 0;
}

}  // namespace fovea::runtime
