// FOVEA_PROFILE as a user sets it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/run_fovea.h"

namespace {

fovea::tool::ProcessResult run_softmax(const std::filesystem::path& folder,
                                       const std::string& trace) {
    return fovea::test::run_fovea(
        {"run", "masked_softmax", "--inputs",
         FOVEA_SOURCE_DIR "/tests/parity/masked_softmax-0/inputs.safetensors", "--outputs",
         (folder / "out.safetensors").string()},
        {"FOVEA_PROFILE=" + trace});
}

}  // namespace

TEST_CASE("FOVEA_PROFILE writes a trace, and prints a table") {
    const fovea::tool::TemporaryFolder folder;
    const std::string trace = (folder.path() / "trace.json").string();
    const auto result = run_softmax(folder.path(), trace);
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    CHECK(result.output.find("\nmasked_softmax.forward  masked_softmax ") != std::string::npos);
    CHECK(result.output.find("\n1 runs in ") != std::string::npos);
    const auto events = nlohmann::json::parse(fovea::test::read_text(trace));
    std::size_t kernels = 0;
    for (const auto& event : events) kernels += event.at("cat") == "kernel";
    CHECK(kernels == 1);

    const auto empty = run_softmax(folder.path(), "");
    CHECK(empty.status == 0);
    CHECK(empty.output.find("runs in") == std::string::npos);

    const auto wrong = run_softmax(folder.path(), "/no/such/trace.json");
    CHECK(wrong.status == 2);
    CHECK(
        wrong.output.ends_with("fovea: FOVEA_PROFILE: cannot write '/no/such/trace.json': No "
                               "such file or directory\n"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "trace-2.json"));
}
