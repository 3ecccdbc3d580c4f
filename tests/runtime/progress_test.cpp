// Progress in a pipe is plain lines, on a terminal a bar that is redrawn; and thread counts.
#include "runtime/trainer/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/error.h"
#include "runtime/threads.h"

using namespace fovea::runtime;

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string content_of_stream(std::FILE* file) {
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    REQUIRE(std::fseek(file, 0, SEEK_SET) == 0);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    return text;
}

}  // namespace

TEST_CASE("progress: in a pipe a line for each tenth, without escapes") {
    const File file(std::tmpfile(), std::fclose);
    {
        Progress progress("epoch 1/2", 20, Progress::Style::lines, file.get());
        for (int i = 0; i <= 20; ++i) progress.update(i, "loss 2");
        progress.finish("done");
    }
    const std::string text = content_of_stream(file.get());
    CHECK(text.starts_with("epoch 1/2: 2/20  loss 2\nepoch 1/2: 4/20  loss 2\n"));
    CHECK(text.ends_with("epoch 1/2: 20/20  loss 2\nepoch 1/2: done\n"));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 11);
}

TEST_CASE("progress: the bar is cleared at the end") {
    const File file(std::tmpfile(), std::fclose);
    {
        Progress progress("load", 10, Progress::Style::bar, file.get());
        progress.update(5);
        progress.update(6);  // too soon after the last to be drawn
        progress.update(10);
    }
    const std::string text = content_of_stream(file.get());
    CHECK(text.find("load [###############...............] 5/10") != std::string::npos);
    CHECK(text.find(" 6/10") == std::string::npos);
    CHECK(text.find("[##############################] 10/10") != std::string::npos);
    CHECK(text.ends_with("\r\x1b[K"));
}

TEST_CASE("threads: counts are checked and kept") {
    const int before = thread_count();
    CHECK_THROWS_AS(set_threads(0), UserError);
    CHECK_THROWS_AS(set_threads(-3), UserError);
    CHECK_THROWS_WITH_AS(set_threads(1025),
                         "the number of threads should be from 1 to 1024, but is 1025", UserError);
#ifdef _OPENMP
    set_threads(3);
    CHECK(thread_count() == 3);
#endif
    set_threads(before);
    CHECK(thread_count() == before);
}
