// One program with kernels for several instruction sets: each gives what the reference gives.
#include <doctest/doctest.h>

#include "runtime/isa.h"
#include "tests/tools/block_case.h"

using fovea::test::check_alike;
using fovea::test::kBlockModel;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
namespace runtime = fovea::runtime;

namespace {

std::string names_here(const std::vector<std::string>& isas) {
    std::string text;
    for (const std::string& isa : isas)
        if (runtime::machine_has(isa)) text += (text.empty() ? "" : ", ") + isa;
    return text;
}

}  // namespace

TEST_CASE("each instruction set of a program gives values and gradients of the reference") {
    fovea::test::BlockCase files;
    REQUIRE(
        run_fovea({"build", kBlockModel, "-o", files.program}, {"-u", "FOVEA_CXXFLAGS"}).status ==
        0);
    files.write_files(run_process({files.program, "describe", "--json"}).output);
    for (bool train : {false, true}) {
        CAPTURE(train);
        std::vector<std::string> run = {"run",       "--inputs",    files.inputs,
                                        "--weights", files.weights, "--gradients"};
        if (train) run.insert(run.end(), {"--train", "--seed", "3", "--step", "5"});
        const std::string exact = files.path("exact");
        std::vector<std::string> reference = run;
        reference.insert(reference.begin() + 1, kBlockModel);
        reference.insert(reference.end(), {"--target", "reference", "--outputs", exact});
        REQUIRE(run_fovea(reference).status == 0);
        for (std::string_view name : runtime::isa_names()) {
            const std::string isa(name), own = files.path(isa);
            if (isa == "avx512_bf16") continue;  // not without products of bfloat16
            if (!runtime::machine_has(isa)) {
                MESSAGE("not run: this machine has no ", isa);
                continue;
            }
            CAPTURE(isa);
            std::vector<std::string> command = {"env", "FOVEA_ISA=" + isa, files.program};
            command.insert(command.end(), run.begin(), run.end());
            command.insert(command.end(), {"--outputs", own});
            const ProcessResult result = run_process(command);
            CHECK_MESSAGE(result.status == 0, result.output);
            check_alike(own, exact);
        }
    }
    const ProcessResult unknown = run_process({"env", "FOVEA_ISA=sse9", files.program, "describe"});
    CHECK(unknown.status == 2);
    CHECK(unknown.output ==
          "block: FOVEA_ISA is 'sse9', which this program does not have; on this machine it runs " +
              names_here({"avx512", "avx2", "baseline"}) + "\n");
}

TEST_CASE("--isa restricts what a program has") {
    fovea::test::BlockCase files;
    REQUIRE(run_fovea({"build", kBlockModel, "--isa", "baseline", "-o", files.program}).status ==
            0);
    const std::string described = run_process({files.program, "describe"}).output;
    CHECK(described.find("\ninstruction set baseline\n") != std::string::npos);
    const ProcessResult other = run_process({"env", "FOVEA_ISA=avx2", files.program, "describe"});
    CHECK(other.status == 2);
    CHECK(other.output ==
          "block: FOVEA_ISA is 'avx2', which this program does not have; on this "
          "machine it runs baseline\n");
}

TEST_CASE("generated files name the instruction sets of --isa") {
    fovea::test::BlockCase files;
    const std::string folder = files.path("generated");
    REQUIRE(run_fovea({"generate", kBlockModel, "--isa", "baseline,avx2", "-o", folder}).status ==
            0);
    const std::string text = fovea::test::read_text(folder + "/CMakeLists.txt");
    CHECK(text.find("foreach(isa avx2 baseline)") != std::string::npos);
    const ProcessResult wrong =
        run_fovea({"generate", kBlockModel, "--isa", "avx2,sse9", "-o", folder + "2"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output ==
          "fovea: --isa takes avx512_bf16, avx512, avx2, baseline, neon, wasm or native, not "
          "'sse9'\n");
    CHECK(!std::filesystem::exists(folder + "2"));
}

TEST_CASE("fovea run takes FOVEA_ISA") {
    fovea::test::BlockCase files;
    const ProcessResult wrong = run_fovea({"verify", kBlockModel}, {"FOVEA_ISA=sse9"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output ==
          "fovea: FOVEA_ISA is 'sse9', which this program does not have; on this machine it runs " +
              names_here({"avx512_bf16", "avx512", "avx2", "baseline"}) + "\n");
}
