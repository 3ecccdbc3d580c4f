// Probing of output files.
#include "output_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "../error.h"

namespace fovea::runtime {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
    throw UserError("cannot write '" + path + "': " + std::strerror(error));
}

bool is_same_file(const std::string& a, const std::string& b) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path real_a = fs::weakly_canonical(a, error), real_b = fs::weakly_canonical(b, error);
    return real_a == real_b || fs::equivalent(real_a, real_b, error);
}

}  // namespace

void verify_writable(const std::string& path) {
    if (path.empty()) throw UserError("cannot write a file without a name");
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
        if (!S_ISREG(status.st_mode)) {  // a device or a pipe is written in place
            if (::access(path.c_str(), W_OK) != 0) fail(path, errno);
            return;
        }
    }
    const std::string probe = path + ".probe-" + std::to_string(::getpid());
    const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) fail(path, errno);
    ::close(descriptor);
    ::unlink(probe.c_str());
}

void verify_distinct(const std::vector<NamedPath>& paths) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (!is_same_file(paths[i].path, paths[j].path)) continue;
            throw UserError(paths[j].option + " and " + paths[i].option + " are one file, '" +
                            paths[i].path + "'");
        }
    }
}

}  // namespace fovea::runtime
