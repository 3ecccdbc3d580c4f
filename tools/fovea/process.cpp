// Processes by posix_spawn, output through one pipe.
#include "tools/fovea/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "codegen/base/error.h"

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

/// This process's environment, but for the language of messages.
std::vector<char*> english_environment() {
    static char english[] = "LC_ALL=C";
    std::vector<char*> variables = {english};
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        if (!text.starts_with("LC_ALL=") && !text.starts_with("LANGUAGE="))
            variables.push_back(*variable);
    }
    variables.push_back(nullptr);
    return variables;
}

/// Starts a program that writes to `output`; -1 and the reason in `error` when it cannot be.
pid_t spawn(const std::vector<char*>& arguments, int output, int& error) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (ends_children_on_signals()) {
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }
    pid_t child = -1;
    error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(),
                         english_environment().data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -1 : child;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw UserError("cannot start a program: no file handle is left");
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.data()));
    arguments.push_back(nullptr);
    int error = 0;
    const pid_t child = start_child([&] { return spawn(arguments, ends[1], error); });
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        throw UserError(fmt::format("cannot run '{}': {}", command[0], std::strerror(error)));
    }
    ProcessResult result;
    result.output = read_all(ends[0]);
    close(ends[0]);
    result.status = wait_for(child);
    forget_child(child);
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

std::filesystem::path temporary_base() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    if (!error) return base;
    const char* chosen = std::getenv("TMPDIR");
    throw UserError(fmt::format("no folder for temporary files: {} is '{}', which is no folder",
                                chosen ? "TMPDIR" : "the usual one", chosen ? chosen : "/tmp"));
}

void write_temporary(const std::filesystem::path& file, const std::string& text) {
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.close();
    if (stream) return;
    throw UserError(
        fmt::format("cannot write the temporary file '{}': {}; TMPDIR names another "
                    "folder for such files",
                    file.string(), std::strerror(errno)));
}

TemporaryFolder::TemporaryFolder() {
    std::string path = (temporary_base() / "fovea_XXXXXX").string();
    if (!mkdtemp(path.data()))
        throw UserError(
            fmt::format("cannot make a temporary folder in '{}': {}; TMPDIR names "
                        "another place for it",
                        temporary_base().string(), std::strerror(errno)));
    folder_.emplace(path);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path(), ignored);
}

}  // namespace fovea::tool
