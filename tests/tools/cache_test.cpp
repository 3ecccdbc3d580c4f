// The cache of compiled kernels: what is broken in it is made anew.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>

#include "tests/tools/run_fovea.h"
#include "tools/fovea/compiler.h"

using fovea::test::run_fovea;

namespace fs = std::filesystem;

TEST_CASE("a library in the cache that is cut off, no library or another one is made anew") {
    const fovea::tool::TemporaryFolder folder;
    const std::string inputs = FOVEA_SOURCE_DIR "/tests/parity/masked_softmax-0/inputs.safetensors";
    const auto run = [&] {
        const auto result = run_fovea({"run", "masked_softmax", "--inputs", inputs, "--outputs",
                                       (folder.path() / "out.safetensors").string()},
                                      {"XDG_CACHE_HOME=" + folder.path().string()});
        CAPTURE(result.output);
        CHECK(result.status == 0);
    };
    run();
    const auto libraries = [&] {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(folder.path() / "fovea"))
            all.push_back(entry.path());
        return all;
    };
    REQUIRE(libraries().size() == 1);
    const fs::path library = libraries()[0];
    const auto whole = fs::file_size(library);
    fs::resize_file(library, whole / 2);
    run();
    CHECK(fs::file_size(library) == whole);
    std::ofstream(library) << "no library";
    run();
    CHECK(fs::file_size(library) == whole);
    fs::copy_file("/proc/self/exe", library, fs::copy_options::overwrite_existing);
    run();
    CHECK(fs::file_size(library) == whole);
    CHECK(libraries().size() == 1);
}

TEST_CASE("a model's file is compiled once, and again when it or what it includes is another") {
    const fovea::tool::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
        // Files that change while the compiler reads them are not kept.
        fs::last_write_time(folder.path() / name,
                            fs::file_time_type::clock::now() - std::chrono::seconds(5));
    };
    const std::string compiler = folder.path() / "compiler", log = folder.path() / "log";
    write("compiler", "#!/bin/sh\ncase \"$*\" in *entry.so*) echo compiled >>'" + log +
                          "';; esac\nexec " + fovea::tool::find_compiler()[0] + " \"$@\"\n");
    fs::permissions(compiler, fs::perms::owner_all);
    write("width.h", "constexpr int kWidth = 4;\n");
    write("model.cpp", R"(#include <fovea.h>
#include "width.h"
void doubled(fovea::Scope s) { s.output("y", s.input("x", {kWidth}) * 2.0); }
void tripled(fovea::Scope s) { s.output("y", s.input("x", {kWidth}) * 3.0); }
)");
    const auto compiled_for = [&](const std::string& function, const std::string& shape) {
        fs::remove(log);
        const auto result =
            run_fovea({"show", (folder.path() / "model.cpp").string() + ":" + function},
                      {"XDG_CACHE_HOME=" + (folder.path() / "cache").string(), "CXX=" + compiler});
        CAPTURE(result.output);
        CHECK(result.status == 0);
        CHECK(result.output.find(shape) != result.output.npos);
        return fs::exists(log);
    };
    CHECK(compiled_for("doubled", "[4]"));
    CHECK(!compiled_for("doubled", "[4]"));
    CHECK(compiled_for("tripled", "[4]"));
    CHECK(!compiled_for("doubled", "[4]"));
    write("width.h", "constexpr int kWidth = 12;\n");
    CHECK(compiled_for("doubled", "[12]"));
    CHECK(!compiled_for("doubled", "[12]"));
    for (const auto& entry : fs::directory_iterator(folder.path() / "cache/fovea"))
        fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
    CHECK(compiled_for("doubled", "[12]"));
    CHECK(!compiled_for("doubled", "[12]"));
}
