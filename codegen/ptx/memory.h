// The buffers that a kernel may touch, and how a host side describes tensors to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea::ptx {

/// Buffers by the addresses that the kernel sees. Registered buffers never overlap.
class Memory {
  public:
    struct Buffer {
        std::uint64_t address = 0;
        std::byte* host = nullptr;
        std::uint64_t bytes = 0;
        bool writable = false;
    };

    /// Makes the bytes visible at an address of the interpreter's choice, which it returns: a
    /// multiple of 256, with a gap behind each buffer, and the same for the same sequence of calls.
    template <class T>
    std::uint64_t add(std::span<T> values) {
        return place(const_cast<std::byte*>(reinterpret_cast<const std::byte*>(values.data())),
                     values.size_bytes(), !std::is_const_v<T>);
    }

    /// Makes the bytes visible at `address`.
    void add_at(std::uint64_t address, std::byte* host, std::uint64_t bytes, bool writable);

    /// The buffer that holds the byte at `address`, or null.
    const Buffer* find(std::uint64_t address) const;

    const std::vector<Buffer>& buffers() const { return buffers_; }

  private:
    std::uint64_t place(std::byte* host, std::uint64_t bytes, bool writable);

    std::vector<Buffer> buffers_;  // by address
    std::uint64_t next_ = 0x100000;
};

/// What cuTensorMapEncodeTiled describes. Dimension 0 is the fastest; its elements are contiguous.
struct TensorMap {
    std::uint64_t address = 0;
    std::uint32_t rank = 0;  // 1 to 5
    std::uint32_t element_bytes = 0;  // 1, 2, 4 or 8
    std::array<std::uint64_t, 5> extents{};
    std::array<std::uint64_t, 5> strides{};  // bytes; strides[0] is the element's
    std::array<std::uint32_t, 5> box{};  // elements that one copy moves
    std::uint32_t swizzle = 0;  // bytes: 0, 32, 64 or 128
    bool rounds_to_tf32 = false;  // floats on their way to shared memory
};

/// The 128 bytes that a kernel of the interpreter takes for a tensor map.
std::array<std::byte, 128> encode(const TensorMap& map);

}  // namespace fovea::ptx
