// What runs kernels beside this machine's cores: memory of its own, modules of PTX, launches in
// order. The CUDA driver is one, the interpreter of PTX text that the `fovea` command has another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../dtype.h"
#include "../error.h"

namespace fovea::runtime::device {

/// An address in the device's memory, as kernels see it.
using Address = std::uint64_t;

/// The device has no memory left; `what` says for what.
class OutOfMemory : public UserError {
  public:
    using UserError::UserError;
};

/// Memory that a launch may touch.
struct Region {
    Address address = 0;
    std::size_t bytes = 0;
    bool written = false;
};

/// A tensor that a kernel copies in boxes. Axis 0 is the innermost: its elements lie side by side.
struct MappedTensor {
    struct Axis {
        std::uint64_t extent = 0, stride = 0;  // stride: bytes
        std::uint32_t box = 1;                 // positions that one copy takes
    };
    Address address = 0;
    DType dtype = DType::f32;
    std::vector<Axis> axes;  // 2 to 5
    int swizzle = 0;         // bytes: 0, 32, 64 or 128
    bool rounds_to_tf32 = false;  // float32 on its way

    bool is_empty() const {
        for (const Axis& axis : axes)
            if (axis.extent == 0) return true;
        return false;
    }
};

/// Stands for the first of the modules that has the entry.
inline constexpr int kAnyModule = -1;

/// One launch of an entry: blocks and threads lie along x, every argument has 64 bits. Behind the
/// arguments the entry takes a tensor map for each of `tensors`, zeros for one that is empty.
struct LaunchCall {
    const std::string& kernel;  // as errors name it
    const std::string& entry;
    std::int64_t blocks = 0;    // at least 1
    int threads = 0;
    int shared_bytes = 0;  // dynamic shared memory
    std::span<const std::uint64_t> arguments;
    std::span<const Region> memory;  // all that the arguments give it
    std::span<const MappedTensor> tensors = {};
    int module = kAnyModule;  // that has the entry, as `load` numbered it
};

/// Launches that were recorded once, to be repeated at little cost.
class Recording {
  public:
    virtual ~Recording() = default;
};

/// Work is done in the order of the calls; those that read memory into the host's wait for what
/// was asked before. UserError where the device refuses (no memory, a module that does not load),
/// InternalError where a kernel is wrong. Used by one thread at a time.
class Device {
  public:
    virtual ~Device() = default;

    /// For messages: `NVIDIA H200`, `the interpreter of PTX`.
    virtual std::string name() const = 0;
    /// The one of these architectures (`sm_80`, `sm_90`, `sm_90a`) whose code is best here; empty
    /// where none runs.
    virtual std::string choose(std::span<const std::string> architectures) const = 0;
    /// Loads PTX text beside what is loaded already, and gives the number of the new module.
    virtual int load(const std::string& text) = 0;

    /// An address that is a multiple of 256; null bytes have one too.
    virtual Address allocate(std::size_t bytes) = 0;
    virtual void release(Address address) noexcept = 0;
    virtual void copy_in(Address to, const void* from, std::size_t bytes) = 0;
    virtual void copy_out(void* to, Address from, std::size_t bytes) = 0;
    virtual void copy(Address to, Address from, std::size_t bytes) = 0;
    /// All bits 0, without a copy from the host. A recording has it.
    virtual void clear(Address to, std::size_t bytes) = 0;
    /// Like copy_out, but what is copied is there after `synchronize` alone: several wait once.
    virtual void copy_out_at_wait(void* to, Address from, std::size_t bytes) {
        copy_out(to, from, bytes);
    }

    virtual void launch(const LaunchCall& call) = 0;
    virtual void synchronize() = 0;
    /// By the clock of the device, what the launches of `work` take; waits for them. InternalError
    /// where it has no clock.
    virtual double milliseconds_of(const std::function<void()>& work);

    /// Records the copies and launches of `work` without doing them; null where the device has no
    /// such thing, and then `work` is not called.
    virtual std::unique_ptr<Recording> record(const std::function<void()>& work) {
        (void)work;
        return nullptr;
    }
    virtual void replay(const Recording& recording) { (void)recording; }
};

inline double Device::milliseconds_of(const std::function<void()>&) {
    throw InternalError(name() + " has no clock");
}

/// Device memory that is given back when it goes, and grows by being replaced.
class Allocation {
  public:
    explicit Allocation(Device& device) : device_(&device) {}
    Allocation(const Allocation&) = delete;
    Allocation& operator=(const Allocation&) = delete;
    ~Allocation() { release(); }

    /// Makes room; contents and address are lost when there was too little. Whether it was so.
    bool reserve(std::size_t bytes) {
        if (has_memory_ && bytes <= capacity_) return false;
        release();
        address_ = device_->allocate(bytes);
        capacity_ = bytes;
        has_memory_ = true;
        return true;
    }
    /// The same; fresh memory holds zeros.
    bool reserve_zeros(std::size_t bytes) {
        if (!reserve(bytes)) return false;
        if (bytes) device_->clear(address_, bytes);
        return true;
    }
    Address address() const { return address_; }
    std::size_t capacity() const { return capacity_; }

  private:
    void release() noexcept {
        if (has_memory_) device_->release(address_);
        has_memory_ = false;
    }

    Device* device_;
    Address address_ = 0;
    std::size_t capacity_ = 0;
    bool has_memory_ = false;
};

}  // namespace fovea::runtime::device
