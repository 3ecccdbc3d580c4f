// Probing and locking of output files.
#include "output_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../error.h"
#include "../files/files.h"

namespace fovea::runtime {

namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
    throw UserError("cannot write '" + path + "': " + std::strerror(error));
}

}  // namespace

void verify_writable(const std::string& path) {
    if (path.empty()) throw UserError("cannot write a file without a name");
    const std::string target = write_target(path);
    struct stat status{};
    if (::stat(target.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) fail_to_write(path, EISDIR);
        if (!S_ISREG(status.st_mode)) {  // a device or a pipe is written in place
            if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno);
            return;
        }
    }
    const std::string probe = target + kPartialSuffix;
    const Descriptor file = create_locked_file(probe, S_IRUSR | S_IWUSR, false);
    if (file.is_open()) ::unlink(probe.c_str());
    else if (errno != EWOULDBLOCK) fail_to_write(path, errno);  // else somebody writes it
}

OutputLock::OutputLock(const std::string& path) {
    const std::string target = write_target(path);
    struct stat status{};
    if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
    lock_path_ = target + ".lock";
    file_ = create_locked_file(lock_path_, S_IRUSR | S_IWUSR, false);
    if (file_.is_open()) return;
    if (errno != EWOULDBLOCK) fail_to_write(lock_path_, errno);
    throw UserError("another training writes '" + path +
                    "'; wait until it has ended, or choose other --weights and --checkpoint");
}

OutputLock::~OutputLock() {
    if (file_.is_open()) ::unlink(lock_path_.c_str());
}

}  // namespace fovea::runtime
