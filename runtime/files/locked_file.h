// Files that one process at a time holds; one that a killed process left is no obstacle.
#pragma once

#include <sys/types.h>

#include <string>

namespace fovea::runtime {

/// A file descriptor that closes itself, which ends its lock.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    /// 0, or the error that closing reports (a network file system may write only then).
    int close();

  private:
    int number_ = -1;
};

/// Takes the exclusive lock of an open file (flock): of one open file at a time, until it is closed
/// or its process ends. False when another holds it and `waits` is not set. A file system without
/// locks gives each what it asks for.
bool lock_file(int descriptor, bool waits);

/// Creates `path`, empty, and locks it. A file of this name that nobody holds was left by a process
/// that was killed: it is removed before. Where one is held, waits for its end or, unless `waits`,
/// fails with EWOULDBLOCK. On failure the descriptor is not open and errno says why.
Descriptor create_locked_file(const std::string& path, mode_t mode, bool waits);

}  // namespace fovea::runtime
