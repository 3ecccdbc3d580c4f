// A device that counts the time its kernels take.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "runtime/device/device.h"

namespace fovea::bundle {

/// Hands everything on, and measures each launch by the clock of the device.
class LaunchClock : public runtime::device::Device {
  public:
    using Address = runtime::device::Address;
    using LaunchCall = runtime::device::LaunchCall;

    explicit LaunchClock(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    /// Counts these kernels alone; all of them where there are none.
    void count(std::set<std::string> kernels) { counted_ = std::move(kernels); }
    void start() { milliseconds_ = 0; }
    /// With `on`, nothing is copied between host and device: kernels run on what lies there, and
    /// the clock of a run is not held up by what it does not count.
    void leave_out_copies(bool on) { copies_ = !on; }
    /// Since `start`.
    double milliseconds() const { return milliseconds_; }

    std::string name() const override { return device_->name(); }
    std::string choose(std::span<const std::string> architectures) const override {
        return device_->choose(architectures);
    }
    int load(const std::string& text) override { return device_->load(text); }
    Address allocate(std::size_t bytes) override { return device_->allocate(bytes); }
    void release(Address address) noexcept override { device_->release(address); }
    void copy_in(Address to, const void* from, std::size_t bytes) override {
        if (copies_) device_->copy_in(to, from, bytes);
    }
    void copy_out(void* to, Address from, std::size_t bytes) override {
        if (copies_) device_->copy_out(to, from, bytes);
    }
    void copy_out_at_wait(void* to, Address from, std::size_t bytes) override {
        if (copies_) device_->copy_out_at_wait(to, from, bytes);
    }
    void copy(Address to, Address from, std::size_t bytes) override {
        device_->copy(to, from, bytes);
    }
    void clear(Address to, std::size_t bytes) override { device_->clear(to, bytes); }
    void launch(const LaunchCall& call) override {
        if (!counted_.empty() && !counted_.contains(call.kernel)) return device_->launch(call);
        milliseconds_ += device_->milliseconds_of([&] { device_->launch(call); });
    }
    void synchronize() override { device_->synchronize(); }
    double milliseconds_of(const std::function<void()>& work) override {
        return device_->milliseconds_of(work);
    }

  private:
    std::shared_ptr<Device> device_;
    std::set<std::string> counted_;
    double milliseconds_ = 0;
    bool copies_ = true;
};

}  // namespace fovea::bundle
