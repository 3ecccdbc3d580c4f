// Atomic writing: the old file survives every failure and no temporary file stays behind.
#include "runtime/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
