// Locks by flock, which the system drops when a process ends, however it ends.
#include "locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace fovea::runtime {

namespace {

/// Whether `path` still names the open file: another process may have removed it meanwhile.
bool is_named(int descriptor, const std::string& path) {
    struct stat open_file{}, named{};
    return ::fstat(descriptor, &open_file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/// Removes a file that nobody holds. False, with errno, where that fails.
bool remove_left_file(const std::string& path, bool waits) {
    const Descriptor left(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!left.is_open()) return errno == ENOENT;
    if (!lock_file(left.number(), waits)) {
        errno = EWOULDBLOCK;
        return false;
    }
    return !is_named(left.number(), path) || ::unlink(path.c_str()) == 0;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        if (is_open()) ::close(number_);
        number_ = other.number_;
        other.number_ = -1;
    }
    return *this;
}

Descriptor::~Descriptor() {
    const int error = errno;
    if (is_open()) ::close(number_);
    errno = error;
}

int Descriptor::close() {
    const int status = ::close(number_);
    number_ = -1;
    return status == 0 ? 0 : errno;
}

bool lock_file(int descriptor, bool waits) {
    while (::flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0)
        if (errno != EINTR) return errno != EWOULDBLOCK;
    return true;
}

Descriptor create_locked_file(const std::string& path, mode_t mode, bool waits) {
    for (;;) {
        Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        if (file.is_open()) {
            // Whoever takes it for a file that was left holds it for a moment, and removes it.
            lock_file(file.number(), true);
            if (is_named(file.number(), path)) return file;
        } else if (errno != EEXIST || !remove_left_file(path, waits)) {
            return {};
        }
    }
}

}  // namespace fovea::runtime
