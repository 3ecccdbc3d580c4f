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

/// Those of this machine.
std::vector<std::string> isas_here() {
    std::vector<std::string> here;
    for (std::string_view name : runtime::isa_names())
        if (runtime::machine_has(name)) here.emplace_back(name);
    return here;
}

std::string list(const std::vector<std::string>& isas, const char* between) {
    std::string text;
    for (const std::string& isa : isas) text += (text.empty() ? "" : between) + isa;
    return text;
}

}  // namespace

TEST_CASE("each instruction set of a program gives values and gradients of the reference") {
    fovea::test::BlockCase files;
    std::vector<std::string> isas = isas_here();
    std::erase(isas, "avx512_bf16");  // which a program without products of bfloat16 has not
    REQUIRE(run_fovea({"build", kBlockModel, "--isa", list(isas, ","), "-o", files.program},
                      {"-u", "FOVEA_CXXFLAGS"})
                .status == 0);
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
        for (const std::string& isa : isas) {
            const std::string own = files.path(isa);
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
              list(isas, ", ") + "\n");
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
              list(isas_here(), ", ") + "\n");
}
