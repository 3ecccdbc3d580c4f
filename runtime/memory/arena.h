// One aligned, zero-initialised block of memory that can grow.
#pragma once

#include <cstddef>
#include <span>

namespace fovea::runtime {

/// Every start of a tensor is a multiple of this many bytes.
inline constexpr std::size_t kAlignment = 64;

/// `bytes` rounded up to a multiple of kAlignment.
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Owns a block, or uses one that is lent. Its own starts at a multiple of 64 bytes, or of 4096
/// when it is large (1 MiB and more; large blocks are mapped, so that their pages belong to the
/// thread that first writes them).
class Arena {
  public:
    Arena() = default;
    explicit Arena(std::size_t bytes) { reserve(bytes); }
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() { release(); }

    /// From here on the block is the aligned part of `memory`, which must outlive its use, and
    /// whose bytes may be anything; with an empty span it is one of its own again.
    void lend(std::span<std::byte> memory);
    bool is_lent() const { return is_lent_; }
    /// Makes room for `bytes`. A block that is too small is replaced by one that holds zeros, so
    /// addresses and contents are lost; otherwise nothing changes. UserError when there is no
    /// memory, the arena is then empty, or when what is lent is too small.
    void reserve(std::size_t bytes);
    std::size_t capacity() const { return capacity_; }  // bytes
    template <class T>
    T* as() {
        return static_cast<T*>(address_);
    }
    template <class T>
    const T* as() const {
        return static_cast<const T*>(address_);
    }

  private:
    void release() noexcept;

    void* address_ = nullptr;
    std::size_t capacity_ = 0;
    bool is_lent_ = false;
};

}  // namespace fovea::runtime
