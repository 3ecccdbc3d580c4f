// Processes by posix_spawn, output through one pipe.
#include "tools/fovea/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "codegen/base/error.h"

extern char** environ;

namespace fovea::tool {

namespace {

std::string read_all(int descriptor) {
    std::string text;
    char buffer[4096];
    for (;;) {
        ssize_t count = read(descriptor, buffer, sizeof buffer);
        if (count > 0) text.append(buffer, std::size_t(count));
        else if (count == 0 || errno != EINTR) return text;
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw UserError("cannot start a program: no file handle is left");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.data()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        throw UserError(fmt::format("cannot run '{}': {}", command[0], std::strerror(error)));
    }
    ProcessResult result;
    result.output = read_all(ends[0]);
    close(ends[0]);
    result.status = wait_for(child);
    return result;
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
    const char* variable = std::getenv("PATH");
    std::string folders = variable ? variable : "/usr/bin:/bin";
    for (std::size_t start = 0; start <= folders.size();) {
        std::size_t end = std::min(folders.find(':', start), folders.size());
        std::string path = folders.substr(start, end - start) + "/" + name;
        if (access(path.c_str(), X_OK) == 0) return path;
        start = end + 1;
    }
    return "";
}

TemporaryFolder::TemporaryFolder() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    std::string path = ((error ? std::filesystem::path("/tmp") : base) / "fovea_XXXXXX").string();
    if (!mkdtemp(path.data()))
        throw UserError(
            fmt::format("cannot make a temporary folder '{}': {}", path, std::strerror(errno)));
    path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace fovea::tool
