// `fovea run`: what it refuses before it compiles anything.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::read_text;
using fovea::test::run_fovea;

namespace {

/// A compiler that notes each call in a file beside it.
struct NotedCompiler {
    fovea::tool::TemporaryFolder folder;
    std::filesystem::path script = folder.path() / "noted", calls = folder.path() / "calls";

    NotedCompiler() {
        std::ofstream(script) << "#!/bin/sh\necho called >> '" << calls.string()
                              << "'\nexec g++ \"$@\"\n";
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    }
};

}  // namespace

TEST_CASE("missing weights and inputs are refused before kernels are compiled") {
    const NotedCompiler compiler;
    const std::string cases = FOVEA_SOURCE_DIR "/tests/parity/";
    const auto run = [&](const std::string& model, const std::string& inputs) {
        return run_fovea({"run", model, "--inputs", cases + inputs + "/inputs.safetensors",
                          "--outputs", (compiler.folder.path() / "out.safetensors").string()},
                         {"CXX=" + compiler.script.string(),
                          "XDG_CACHE_HOME=" + compiler.folder.path().string()});
    };
    const auto without_weights = run("add_norm", "add_norm-0");
    CHECK(without_weights.status == 2);
    CHECK(without_weights.output ==
          "fovea: add_norm has 2 parameters ('ln.weight', …); give them with --weights FILE\n");
    const auto without_input = run("masked_softmax", "add_norm-0");
    CHECK(without_input.status == 2);
    CHECK(without_input.output.find("lacks the input 'scores'") != std::string::npos);
    CHECK(read_text(compiler.calls).empty());

    CHECK(run("masked_softmax", "masked_softmax-0").status == 0);
    CHECK_FALSE(read_text(compiler.calls).empty());
}
