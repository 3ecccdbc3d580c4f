// Runs the translator's main function as a shell would, in this process, in a folder of its own.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../../runtime/translator/translator.h"

namespace fake {

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A folder that is the current one, and empty, until the destructor removes it.
class CurrentFolder {
  public:
    CurrentFolder() : before_(std::filesystem::current_path()) {
        std::string path = (std::filesystem::temp_directory_path() / "fovea_XXXXXX").string();
        path_ = mkdtemp(path.data());
        std::filesystem::current_path(path_);
    }
    ~CurrentFolder() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(path_);
    }
    CurrentFolder(const CurrentFolder&) = delete;
    CurrentFolder& operator=(const CurrentFolder&) = delete;

  private:
    std::filesystem::path before_, path_;
};

/// The names in the current folder, sorted, but for the redirections' own.
inline std::vector<std::string> file_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(".")) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("std")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

struct Result {
    int status = 0;
    std::string out, err;
};

/// Points a file descriptor elsewhere while it lives.
class Redirection {
  public:
    Redirection(int descriptor, const char* path, int flags)
        : descriptor_(descriptor), saved_(dup(descriptor)) {
        const int file = open(path, flags, 0644);
        dup2(file, descriptor);
        close(file);
    }
    ~Redirection() {
        dup2(saved_, descriptor_);
        close(saved_);
    }
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

  private:
    int descriptor_, saved_;
};

inline Result run_translator(const fovea::runtime::Model& model, std::vector<std::string> arguments,
                             const std::string& input = "") {
    write_text("stdin", input);
    arguments.insert(arguments.begin(), "translator");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    Result result;
    std::fflush(stdout);
    std::fflush(stderr);
    {
        const Redirection in(0, "stdin", O_RDONLY);
        const Redirection out(1, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
        const Redirection err(2, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
        std::clearerr(stdin);
        result.status =
            fovea::runtime::translator_main(static_cast<int>(arguments.size()), argv.data(), model);
        std::fflush(stdin);  // what was not read must not reach the next run
        std::fflush(stdout);
        std::fflush(stderr);
    }
    result.out = read_text("stdout");
    result.err = read_text("stderr");
    return result;
}

}  // namespace fake
