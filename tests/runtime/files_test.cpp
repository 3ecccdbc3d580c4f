// Atomic writing: the old file survives every failure and no temporary file stays behind.
#include "runtime/files/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

namespace {

std::string content(const std::string& path) {
    const auto bytes = read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Lets files grow to `bytes` only, while it lives; what is over fails as on a full disk.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit old_{};
    void (*handler_)(int);
};

}  // namespace

TEST_CASE("files: parts are written one after another, over an old file too") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    const std::vector<Bytes> parts = {bytes_of("one "), {}, bytes_of("two")};
    write_file_atomically(path, parts);
    CHECK(content(path) == "one two");
    write_file_atomically(path, "new");
    CHECK(content(path) == "new");
    write_file_atomically(path, "");
    CHECK(content(path).empty());
    CHECK(folder.file_count() == 1);
}

TEST_CASE("files: a full disk leaves the old file and no temporary one") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    write_file_atomically(path, "old");
    std::string message;
    {
        const FileSizeLimit limit(4096);
        try {
            write_file_atomically(path, std::string(100000, 'x'));
        } catch (const UserError& error) {
            message = error.what();
        }
    }
    CHECK(message == "cannot write '" + path + "': " + std::strerror(EFBIG));
    CHECK(content(path) == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("files: devices are written in place and say when they are full") {
    if (!std::filesystem::exists("/dev/full")) return;
    CHECK_THROWS_WITH_AS(write_file_atomically("/dev/full", "text"),
                         "cannot write '/dev/full': No space left on device", UserError);
    write_file_atomically("/dev/null", "text");
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("files: missing folders, folders and missing files are named") {
    const TemporaryFolder folder;
    const std::string nowhere = folder.file("no/such/file"), here = folder.file(".");
    CHECK_THROWS_WITH_AS(write_file_atomically(nowhere, "x"),
                         ("cannot write '" + nowhere + "': No such file or directory").c_str(),
                         UserError);
    CHECK_THROWS_WITH_AS(write_file_atomically(here, "x"),
                         ("cannot write '" + here + "': Is a directory").c_str(), UserError);
    CHECK_THROWS_WITH_AS(read_file(nowhere),
                         ("cannot read '" + nowhere + "': No such file or directory").c_str(),
                         UserError);
    CHECK_THROWS_WITH_AS(read_file("/dev/zero"),
                         "cannot read '/dev/zero': it is a device, not a file", UserError);
    CHECK(read_file("/dev/null").empty());
    CHECK_THROWS_WITH_AS(read_file(here), ("cannot read '" + here + "': Is a directory").c_str(),
                         UserError);
}

TEST_CASE("files: symbolic links and permissions stay") {
    const TemporaryFolder folder;
    const std::string target = folder.file("target"), link = folder.file("link");
    write_file_atomically(target, "old");
    std::filesystem::permissions(target, std::filesystem::perms(0640));
    std::filesystem::create_symlink("target", link);
    write_file_atomically(link, "new");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(content(target) == "new");
    CHECK(std::filesystem::status(target).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("files: a link to a file that is not there yet is followed, a circle is refused") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("far"));
    std::filesystem::create_symlink("far/target", folder.file("link"));
    std::filesystem::create_symlink(folder.file("link"), folder.file("link to link"));
    write_file_atomically(folder.file("link to link"), "text");
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(std::filesystem::is_symlink(folder.file("link to link")));
    CHECK(content(folder.file("far/target")) == "text");
    const std::string one = folder.file("one"), two = folder.file("two");
    std::filesystem::create_symlink("two", one);
    std::filesystem::create_symlink("one", two);
    CHECK_THROWS_WITH_AS(write_file_atomically(one, "text"),
                         ("cannot write '" + one + "': " + std::strerror(ELOOP)).c_str(),
                         UserError);
    CHECK(std::filesystem::is_symlink(one));
    CHECK(std::filesystem::is_symlink(two));
}

TEST_CASE("files: what a killed writer leaves was never wider than the file, and goes away") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    write_file_atomically(path, "old");
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const FileSizeLimit limit(4096);
        std::signal(SIGXFSZ, SIG_DFL);
        write_file_atomically(path, std::string(100000, 'x'));
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(content(path) == "old");
    REQUIRE(folder.file_count() == 2);
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(".")))
        CHECK(entry.status().permissions() == std::filesystem::perms(0600));
    write_file_atomically(path, "new");
    CHECK(folder.file_count() == 1);
    CHECK(content(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0600));
}
