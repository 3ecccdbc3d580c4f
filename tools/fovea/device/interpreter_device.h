// The interpreter of PTX as a device: what runs is the text that a GPU would be given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "codegen/ptx/interpret.h"
#include "runtime/device/device.h"

namespace fovea::tool {

/// Kernels see no more than the tensors of their launch, so that an access outside of them is an
/// error, as a race is, or a register that holds nothing. Fresh memory holds values that are no
/// numbers. Launches take turns in the schedules of the interpreter.
class InterpreterDevice : public runtime::device::Device {
  public:
    using Address = runtime::device::Address;

    std::string name() const override { return "the interpreter of PTX"; }
    std::string choose(std::span<const std::string> architectures) const override;
    int load(const std::string& text) override;

    Address allocate(std::size_t bytes) override;
    void release(Address address) noexcept override;
    void copy_in(Address to, const void* from, std::size_t bytes) override;
    void copy_out(void* to, Address from, std::size_t bytes) override;
    void copy(Address to, Address from, std::size_t bytes) override;
    void clear(Address to, std::size_t bytes) override;

    void launch(const runtime::device::LaunchCall& call) override;
    void synchronize() override {}

    /// Of warps, since the device was made.
    std::uint64_t instructions() const { return instructions_; }
    std::uint64_t launches() const { return launches_; }

  private:
    /// The host's address of `bytes` bytes of the device; InternalError where they are not its.
    std::byte* host(Address address, std::size_t bytes);

    std::vector<ptx::Module> modules_;
    std::vector<ptx::Schedule> schedules_ = ptx::schedules();
    std::map<Address, std::vector<std::byte>> blocks_;
    Address next_ = 0x100000;
    std::uint64_t instructions_ = 0, launches_ = 0;
};

}  // namespace fovea::tool
