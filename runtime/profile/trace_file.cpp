#include "trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../error.h"

namespace fovea::runtime {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

std::string numbered(const std::string& path, int number) {
    if (number == 1) return path;
    const std::size_t slash = path.find_last_of('/') + 1;
    std::size_t dot = path.find_last_of('.');
    if (dot == std::string::npos || dot <= slash) dot = path.size();
    return path.substr(0, dot) + "-" + std::to_string(number) + path.substr(dot);
}

/// Whether it is this writer's now, and empty. What is no regular file needs no lock.
bool take(int descriptor) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return true;
    return lock_file(descriptor, false) && ::ftruncate(descriptor, 0) == 0;
}

}  // namespace

TraceFile::TraceFile(const std::string& path) {
    for (int number = 1; !file_.is_open(); ++number) {
        path_ = numbered(path, number);
        Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
        if (!file.is_open())
            throw UserError("FOVEA_PROFILE: cannot write '{}': {}", {path_, std::strerror(errno)});
        if (take(file.number())) file_ = std::move(file);
    }
}

void TraceFile::add(std::string_view event) {
    text_ += is_first_ ? "[\n" : ",\n";
    text_ += event;
    is_first_ = false;
    if (text_.size() >= kPiece) flush();
}

bool TraceFile::flush() {
    std::string_view rest = text_;
    while (error_ == 0 && !rest.empty()) {
        const ssize_t written = ::write(file_.number(), rest.data(), rest.size());
        if (written >= 0) rest.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR) error_ = errno;
    }
    text_.clear();
    errno = error_;
    return error_ == 0;
}

bool TraceFile::close() {
    text_ += is_first_ ? "[]\n" : "\n]\n";
    const bool is_written = flush();
    const int error = file_.close();
    if (is_written && error != 0) errno = error;
    return is_written && error == 0;
}

}  // namespace fovea::runtime
