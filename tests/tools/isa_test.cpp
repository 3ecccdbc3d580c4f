// One program with kernels for several instruction sets: each gives what the reference gives.
#include <doctest/doctest.h>

#include "tests/isas_here.h"
#include "tests/random_seed.h"
#include "tests/tools/block_case.h"

using fovea::test::isas_by_turns;
using fovea::test::isas_here;
using fovea::test::kBlockModel;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;

namespace {

std::string list(const std::vector<std::string>& isas, const char* between) {
    std::string text;
    for (const std::string& isa : isas) text += (text.empty() ? "" : between) + isa;
    return text;
}

}  // namespace

TEST_CASE("each instruction set of a program gives values and gradients of the reference") {
    if (!fovea::test::has_turn(0, 2)) return;
    fovea::test::BlockCase files;
    const std::vector<std::string> isas = isas_by_turns();
    REQUIRE(run_fovea({"build", kBlockModel, "--isa", list(isas, ","), "-o", files.program},
                      {"-u", "FOVEA_CXXFLAGS"})
                .status == 0);
    files.write_files(run_process({files.program, "describe", "--json"}).output);
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        fovea::test::check_against_reference(files, [&](std::vector<std::string> command) {
            command.insert(command.begin(), {"env", "FOVEA_ISA=" + isa});
            return run_process(command);
        });
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
          "fovea: --isa takes amx_bf16, avx512_bf16, avx512_vnni, avx512, avx2, baseline, "
          "neon_bf16, neon, wasm or native, not 'sse9'\n");
    CHECK(!std::filesystem::exists(folder + "2"));
}

TEST_CASE("fovea run takes FOVEA_ISA") {
    fovea::test::BlockCase files;
    const ProcessResult wrong = run_fovea({"verify", kBlockModel}, {"FOVEA_ISA=sse9"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output ==
          "fovea: FOVEA_ISA is 'sse9', which this program does not have; on this machine it runs " +
              list(isas_here({true, true}), ", ") + "\n");
}
