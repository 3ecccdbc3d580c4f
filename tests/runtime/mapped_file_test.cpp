// Files that are mapped, and others, which are read as they come.
#include "runtime/files/mapped_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "runtime/files/files.h"
#include "runtime/files/lost_pages.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

namespace {

/// Opens a named pipe, and writes to it at once.
void write_pipe(const std::string& path, const std::vector<std::byte>& bytes) {
    const int pipe = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t written = ::write(pipe, bytes.data() + at, bytes.size() - at);
        if (written < 0) break;
        at += std::size_t(written);
    }
    ::close(pipe);
}

}  // namespace

TEST_CASE("a named pipe is opened once: nothing that is written to it is lost") {
    const TemporaryFolder folder;
    const std::string path = folder.file("pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    void (*const handler)(int) = std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::byte> bytes(300'000, std::byte{7});
    int whole = 0;
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round) {
        std::thread writer([&] { write_pipe(path, bytes); });
        const MappedFile file = map_file(path);
        writer.join();
        whole += std::ranges::equal(file.bytes, bytes) && !file.is_mapped;
    }
    std::signal(SIGPIPE, handler);
    CHECK(whole == kRounds);
}

TEST_CASE("a file that is cut off while a program reads it is named") {
    const TemporaryFolder folder;
    const std::string path = folder.file("weights"), said = folder.file("said");
    write_file_atomically(path, std::string(100'000, 'x'));
    const MappedFile file = map_file(path), other = map_file(path);
    REQUIRE(::truncate(path.c_str(), 0) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open(said.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        report_lost_pages("folder/program");
        const volatile std::byte byte = file.bytes[50'000];
        ::_exit(int(byte));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
    const std::vector<std::byte> sentence = read_file(said);
    CHECK(std::string(reinterpret_cast<const char*>(sentence.data()), sentence.size()) ==
          "program: '" + path +
              "' was cut off while it was read: run this again, and replace a file that a "
              "program reads (mv) in place of writing into it\n");
    CHECK(path_of_mapped(other.bytes.data()) == path);
    CHECK(path_of_mapped(&status) == nullptr);
}

TEST_CASE("a regular file is mapped, unless it is empty") {
    const TemporaryFolder folder;
    const std::string path = folder.file("file");
    write_file_atomically(path, "some bytes");
    const MappedFile file = map_file(path);
    CHECK(file.is_mapped);
    CHECK(std::ranges::equal(file.bytes, bytes_of("some bytes")));
    write_file_atomically(path, "");
    CHECK(!map_file(path).is_mapped);
    CHECK(file.bytes.size() == 10);
}
