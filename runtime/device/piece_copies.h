// Large copies between the host and the GPU, in pieces: each goes through one of two halves of
// memory that the GPU reads and writes by itself, so that the processor fills or empties one half
// while the other is under way.
#pragma once

#include <array>
#include <cstddef>

#include "cuda_driver.h"

namespace fovea::runtime::device {

class PieceCopies {
  public:
    static constexpr std::size_t kPiece = 2 << 20;  // bytes

    explicit PieceCopies(const CudaDriver& driver) : driver_(driver) {}
    PieceCopies(const PieceCopies&) = delete;
    PieceCopies& operator=(const PieceCopies&) = delete;
    ~PieceCopies();

    /// Both are in the order of `stream`, and false where the driver gives no such memory: nothing
    /// is copied then. Throws as CudaDriver::check.
    /// On return `from` is read; the last pieces may still be under way.
    bool to_device(CuPointer to, const void* from, std::size_t bytes, CuStream stream);
    /// On return all is there.
    bool from_device(void* to, CuPointer from, std::size_t bytes, CuStream stream);

  private:
    struct Half {
        std::byte* memory = nullptr;
        CuEvent done = nullptr;  // when its copy is
        bool is_under_way = false;
    };

    bool has_memory();
    void start(Half& half, CuStream stream);
    void wait(Half& half);

    const CudaDriver& driver_;
    void* memory_ = nullptr;
    bool has_asked_ = false;
    std::array<Half, 2> halves_;
};

}  // namespace fovea::runtime::device
