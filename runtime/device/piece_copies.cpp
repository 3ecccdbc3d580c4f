#include "piece_copies.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace fovea::runtime::device {

PieceCopies::~PieceCopies() {
    for (const Half& half : halves_)
        if (half.done) driver_.event_destroy(half.done);
    if (memory_) driver_.host_memory_free(memory_);
}

bool PieceCopies::has_memory() {
    if (has_asked_) return memory_;
    has_asked_ = true;
    for (Half& half : halves_)
        driver_.check(driver_.event_create(&half.done, kCuEventWithoutTime), "make an event");
    if (driver_.host_memory_allocate(&memory_, halves_.size() * kPiece) != 0) memory_ = nullptr;
    if (!memory_) return false;
    auto* place = static_cast<std::byte*>(memory_);
    for (Half& half : halves_) half.memory = place, place += kPiece;
    return true;
}

void PieceCopies::start(Half& half, CuStream stream) {
    driver_.check(driver_.event_record(half.done, stream), "mark the end of a copy");
    half.is_under_way = true;
}

void PieceCopies::wait(Half& half) {
    if (!half.is_under_way) return;
    half.is_under_way = false;
    driver_.check(driver_.event_synchronize(half.done), "finish a copy");
}

bool PieceCopies::to_device(CuPointer to, const void* from, std::size_t bytes, CuStream stream) {
    if (!has_memory()) return false;
    const auto* source = static_cast<const std::byte*>(from);
    for (std::size_t at = 0, piece = 0; at < bytes; at += kPiece, ++piece) {
        Half& half = halves_[piece % 2];
        const std::size_t count = std::min(kPiece, bytes - at);
        wait(half);
        std::memcpy(half.memory, source + at, count);
        driver_.check(driver_.copy_in(to + at, half.memory, count, stream),
                      "copy " + std::to_string(count) + " bytes to the GPU");
        start(half, stream);
    }
    return true;
}

bool PieceCopies::from_device(void* to, CuPointer from, std::size_t bytes, CuStream stream) {
    if (!has_memory()) return false;
    auto* target = static_cast<std::byte*>(to);
    const auto ask = [&](std::size_t piece) {
        const std::size_t at = piece * kPiece;
        if (at >= bytes) return;
        Half& half = halves_[piece % 2];
        wait(half);
        const std::size_t count = std::min(kPiece, bytes - at);
        driver_.check(driver_.copy_out(half.memory, from + at, count, stream),
                      "copy " + std::to_string(count) + " bytes from the GPU");
        start(half, stream);
    };
    ask(0);
    for (std::size_t at = 0, piece = 0; at < bytes; at += kPiece, ++piece) {
        ask(piece + 1);
        Half& half = halves_[piece % 2];
        wait(half);
        std::memcpy(target + at, half.memory, std::min(kPiece, bytes - at));
    }
    return true;
}

}  // namespace fovea::runtime::device
