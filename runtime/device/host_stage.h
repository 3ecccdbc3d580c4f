// Memory of the host that the GPU copies to and from by itself, without the processor's waiting for
// it: what is copied goes through here.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda_driver.h"

namespace fovea::runtime::device {

class HostStage {
  public:
    /// More bytes go in pieces, through memory that is used again sooner (`PieceCopies`).
    static constexpr std::size_t kLargest = 1 << 20;

    explicit HostStage(const CudaDriver& driver) : driver_(driver) {}
    HostStage(const HostStage&) = delete;
    HostStage& operator=(const HostStage&) = delete;
    ~HostStage();

    /// Room for at most kLargest bytes, kept until `finish`; null where too little is left, or the
    /// driver gives no such memory.
    std::byte* take(std::size_t bytes);
    /// At `finish`, copies `bytes` bytes from there.
    void bring(void* to, const std::byte* from, std::size_t bytes);
    /// When all copies are done: hands over what was to be brought, and all room is free again.
    void finish();
    /// When they failed: nothing is brought.
    void forget() { brought_.clear(); }

  private:
    static constexpr std::size_t kBytes = 4 * kLargest;
    struct Brought {
        void* to;
        const std::byte* from;
        std::size_t bytes;
    };

    const CudaDriver& driver_;
    std::byte* memory_ = nullptr;
    bool has_asked_ = false;
    std::size_t used_ = 0;
    std::vector<Brought> brought_;
};

}  // namespace fovea::runtime::device
