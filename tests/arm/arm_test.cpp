// Programs for aarch64, which a cross compiler compiles and qemu runs; left out where one of them
// is missing.
#include <algorithm>
#include <fstream>

#include "runtime/isa.h"
#include "tests/arm/emulated.h"
#include "tests/random_seed.h"
#include "tests/tools/block_case.h"
#include "tools/fovea/compiler.h"

using fovea::test::BlockCase;
using fovea::test::can_compile;
using fovea::test::can_run;
using fovea::test::has;
using fovea::test::kBlockModel;
using fovea::test::kEmulated;
using fovea::test::read_text;
using fovea::test::run_emulated;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

TEST_CASE("vectors of NEON are those of other machines") {
    if (!can_run()) return;
    const TemporaryFolder folder;
    const std::string source = folder.path() / "vectors.cpp", program = folder.path() / "vectors";
    std::ofstream(source) << "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n"
                             "#include \"tests/emit/vector_math_test.cpp\"\n"
                             "#include \"tests/emit/seen_blocks_test.cpp\"\n";
    std::vector<std::string> command = fovea::tool::find_compiler_for("neon");
    for (const std::string& flag : fovea::tool::generated_code_flags("neon"))
        if (flag != "-O3") command.push_back(flag);
    const std::string sources = FOVEA_SOURCE_DIR;
    command.insert(command.end(),
                   {"-O1", "-Wall", "-Wextra", "-Werror", "-I" + sources, source, "-o", program});
    const ProcessResult compiled = run_process(command);
    REQUIRE_MESSAGE(compiled.status == 0, compiled.output);
    const ProcessResult ran = run_emulated({program});
    CHECK_MESSAGE(ran.status == 0, ran.output);
    CHECK(ran.output.find("Status: SUCCESS!") != std::string::npos);
}

TEST_CASE("a program for aarch64 gives values and gradients of the reference") {
    if (!can_run() || !fovea::test::has_turn(0, 2)) return;
    const BlockCase files;
    const ProcessResult built = run_fovea(
        {"build", kBlockModel, "--isa", "neon", "-o", files.program}, {fovea::test::value_flags()});
    REQUIRE_MESSAGE(built.status == 0, built.output);
    const std::string described = run_emulated({files.program, "describe"}).output;
    CHECK(described.find("\ninstruction set neon\n") != std::string::npos);
    files.write_files(run_emulated({files.program, "describe", "--json"}).output);
    fovea::test::check_against_reference(
        files, [](const std::vector<std::string>& command) { return run_emulated(command); },
        {"--threads", "2"});
    const ProcessResult other = run_process(
        {"qemu-aarch64", "-E", "FOVEA_ISA=avx2", "-L", kEmulated[2], files.program, "describe"});
    CHECK(other.status == 2);
    CHECK(other.output ==
          "block: FOVEA_ISA is 'avx2', which this program does not have; on this machine it runs "
          "neon\n");
}

TEST_CASE("products of pairs of bfloat16 have an instruction, where the machine has it") {
    if (!can_run() || !fovea::test::has_turn(1, 2)) return;
    const TemporaryFolder folder;
    const std::string program = folder.path() / "ffn";
    const std::string parity = FOVEA_SOURCE_DIR "/tests/parity/position_wise_ffn-0/";
    std::vector<std::string> build = {"build", "position_wise_ffn", "-o",    program,
                                      "--isa", "neon_bf16,neon",    "--set", "dtype=bf16"};
    const auto settings = nlohmann::json::parse(read_text(parity + "settings.json"));
    for (const auto& [name, value] : settings.at("settings").items())
        build.insert(build.end(), {"--set", name + "=" + value.dump()});
    const ProcessResult built = run_fovea(build, {fovea::test::value_flags()});
    REQUIRE_MESSAGE(built.status == 0, built.output);
    const auto outputs_of = [&](const std::string& isa) {
        const std::string outputs = folder.path() / isa;
        std::vector<std::string> command = {"qemu-aarch64", "-E", "FOVEA_ISA=" + isa};
        command.insert(command.end(), kEmulated.begin() + 1, kEmulated.end());
        command.insert(command.end(),
                       {program, "run", "--inputs", parity + "inputs.safetensors", "--weights",
                        parity + "weights.safetensors", "--outputs", outputs});
        const ProcessResult ran = run_process(command);
        REQUIRE_MESSAGE(ran.status == 0, ran.output);
        const auto written = fovea::runtime::read_safetensors(outputs);
        return fovea::test::values_of(written.tensors()[0]);
    };
    const std::vector<double> pairs = outputs_of("neon_bf16"), widened = outputs_of("neon");
    REQUIRE(pairs.size() == widened.size());
    double most = 0, difference = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        most = std::max(most, std::abs(widened[i]));
        difference = std::max(difference, std::abs(pairs[i] - widened[i]));
    }
    CHECK(most > 0.1);
    CHECK(difference < 0.004 * most);  // a value between both products may round the other way
    CHECK(difference > 0);  // sums of pairs are rounded otherwise
    const std::string described = run_emulated({program, "describe"}).output;
    CHECK(described.find("\ninstruction set neon_bf16\n") != std::string::npos);
}

TEST_CASE("a generated folder is configured and compiled by a toolchain for aarch64") {
    if (!can_compile() || !has("cmake") || !has("ninja")) return;
    const TemporaryFolder folder;
    const std::string source = folder.path() / "add_norm", build = folder.path() / "build";
    REQUIRE(run_fovea({"generate", "add_norm", "--isa", "neon", "-o", source}).status == 0);
    CHECK(read_text(source + "/CMakeLists.txt").find("foreach(isa neon)") != std::string::npos);
    const std::string toolchain = folder.path() / "aarch64.cmake";
    std::ofstream(toolchain)
        << "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
           "set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)\n";
    const ProcessResult configured =
        run_process({"cmake", "-G", "Ninja", "-S", source, "-B", build, "--toolchain", toolchain});
    REQUIRE_MESSAGE(configured.status == 0, configured.output);
    const ProcessResult compiled =
        run_process({"cmake", "--build", build, "--target", "add_norm_neon", "-v"});
    CHECK_MESSAGE(compiled.status == 0, compiled.output);
    CHECK(compiled.output.find("-march") == std::string::npos);
    CHECK(compiled.output.find("-mprefer") == std::string::npos);
}

TEST_CASE("--isa takes instruction sets of one kind of machine") {
    const TemporaryFolder folder;
    const std::string to = folder.path() / "model";
    const ProcessResult mixed = run_fovea({"generate", "add_norm", "--isa", "neon,avx2", "-o", to});
    CHECK(mixed.status == 2);
    CHECK(mixed.output ==
          "fovea: --isa takes instruction sets of one kind of machine: avx2 is of x86_64, neon of "
          "aarch64\n");
    CHECK(!std::filesystem::exists(to));
    if (fovea::runtime::this_machine() != "x86_64") return;
    // PATH has no cross compiler there, and CXX is one for this machine.
    const ProcessResult none = run_fovea({"build", "add_norm", "--isa", "neon", "-o", to},
                                         {"PATH=" + folder.path().string()});
    CHECK(none.status == 2);
    CHECK(none.output ==
          "fovea: no C++ compiler for aarch64 found, which neon is an instruction set of: install "
          "aarch64-linux-gnu-g++ (apt install g++-aarch64-linux-gnu), or set CXX\n");
}

TEST_CASE("CXX says for which machine code is written") {
    if (!can_compile()) return;
    const TemporaryFolder folder;
    const std::string to = folder.path() / "model";
    REQUIRE(run_fovea({"generate", "add_norm", "--sources-only", "-o", to},
                      {"CXX=aarch64-linux-gnu-g++"})
                .status == 0);
    const std::string text = read_text(to + "/add_norm.cpp");
    CHECK(text.find("\"neon\"") != std::string::npos);
    CHECK(text.find("\"avx2\"") == std::string::npos);
}
