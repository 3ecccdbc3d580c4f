// The cache of compiled kernels: what is broken in it is made anew.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/tools/run_fovea.h"

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
