// Files through the system's own calls: the C++ streams can neither sync nor say why they failed.
#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <exception>

#include "../error.h"
#include "locked_file.h"

namespace fovea::runtime {
namespace {

[[noreturn]] void fail_at(const std::string& what, const std::string& path, int error) {
    throw UserError("cannot {} '{}': {}", {what, path, std::strerror(error)});
}

/// Removes a file unless it is told to keep it.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    void keep() { path_.clear(); }

  private:
    std::string path_;
};

/// 0, or the error.
int write_all(int descriptor, Bytes bytes) {
    // Linux writes at most 2 GiB at once.
    constexpr std::size_t kLargestWrite = std::size_t{1} << 30;
    while (!bytes.empty()) {
        const std::size_t size = bytes.size() < kLargestWrite ? bytes.size() : kLargestWrite;
        const ssize_t written = ::write(descriptor, bytes.data(), size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

void write_in_place(const std::string& path, std::span<const Bytes> parts) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0) fail_at("write", path, errno);
    for (const Bytes& part : parts) {
        if (const int error = write_all(file.number(), part)) fail_at("write", path, error);
    }
    if (const int error = file.close()) fail_at("write", path, error);
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// After a rename: makes it last. File systems that cannot sync a directory say EINVAL.
void sync_directory(const std::string& path) {
    Descriptor directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() < 0) return;  // readable directories are not required
    if (::fsync(directory.number()) != 0 && errno != EINVAL && errno != EROFS) {
        fail_at("sync the directory of", path, errno);
    }
}

}  // namespace

std::string write_target(const std::string& path) {
    constexpr int kMostLinks = 40;  // as the system has it
    struct stat status{};
    // A pipe or a device may stand behind a link that names no file (/dev/stdout).
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return path;
    std::string target = path;
    for (int links = 0; links <= kMostLinks; ++links) {
        char link[PATH_MAX];
        const ssize_t length = ::readlink(target.c_str(), link, sizeof link);
        if (length < 0) return target;  // no link, or what opening it will tell
        const std::string next(link, static_cast<std::size_t>(length));
        const std::size_t folder = next.starts_with('/') ? 0 : target.rfind('/') + 1;
        target = target.substr(0, folder) + next;
    }
    fail_at("write", path, ELOOP);
}

void write_file_atomically(const std::string& path, std::span<const Bytes> parts) {
    const std::string target = write_target(path);
    struct stat status{};
    const bool exists = ::stat(target.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail_at("write", path, EISDIR);
    if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, parts);

    const std::string temporary = target + kPartialSuffix;
    const mode_t mode = exists ? status.st_mode & 0777 : 0666;
    Descriptor file = create_locked_file(temporary, mode | S_IRUSR | S_IWUSR, true);
    if (!file.is_open()) fail_at("write", path, errno);
    TemporaryFile cleanup(temporary);
    // A replaced file keeps its permissions; where that is not allowed, the usual ones do.
    if (exists) (void)!::fchmod(file.number(), mode);
    for (const Bytes& part : parts) {
        if (const int error = write_all(file.number(), part)) fail_at("write", path, error);
    }
    if (::fsync(file.number()) != 0) fail_at("write", path, errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail_at("write", path, errno);
    cleanup.keep();
    if (const int error = file.close()) fail_at("write", path, error);
    sync_directory(target);
}

void write_file_atomically(const std::string& path, std::string_view text) {
    const Bytes part = bytes_of(text);
    write_file_atomically(path, std::span(&part, 1));
}

std::vector<std::byte> read_file(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status{};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) fail_at("read", path, errno);
    if (S_ISDIR(status.st_mode)) fail_at("read", path, EISDIR);
    // The size is a hint only: pipes have none, and a file may grow.
    constexpr std::size_t kLeast = std::size_t{1} << 16;
    std::vector<std::byte> bytes;
    try {
        bytes.resize(static_cast<std::size_t>(status.st_size) + 1);
    } catch (const std::exception&) {
        fail_at("read", path, ENOMEM);
    }
    std::size_t filled = 0;
    for (;;) {
        if (filled == bytes.size()) bytes.resize(bytes.size() * 2 + kLeast);
        const ssize_t got = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_at("read", path, errno);
        if (got == 0) break;
        // As /dev/zero, which has no end.
        if (S_ISCHR(status.st_mode) && ::isatty(file.number()) == 0)
            throw UserError("cannot read '{}': it is a device, not a file", {path});
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

}  // namespace fovea::runtime
