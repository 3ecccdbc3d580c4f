#include "host_stage.h"

#include <cstring>

namespace fovea::runtime::device {

HostStage::~HostStage() {
    if (memory_) driver_.host_memory_free(memory_);
}

std::byte* HostStage::take(std::size_t bytes) {
    if (!has_asked_) {
        has_asked_ = true;
        void* memory = nullptr;
        if (driver_.host_memory_allocate(&memory, kBytes) == 0)
            memory_ = static_cast<std::byte*>(memory);
    }
    constexpr std::size_t kApart = 64;
    const std::size_t room = (bytes + kApart - 1) / kApart * kApart;
    if (!memory_ || bytes > kLargest || room > kBytes - used_) return nullptr;
    std::byte* const place = memory_ + used_;
    used_ += room;
    return place;
}

void HostStage::bring(void* to, const std::byte* from, std::size_t bytes) {
    brought_.push_back({to, from, bytes});
}

void HostStage::finish() {
    for (const Brought& one : brought_) std::memcpy(one.to, one.from, one.bytes);
    brought_.clear();
    used_ = 0;
}

}  // namespace fovea::runtime::device
