// Programs for WebAssembly, which em++ compiles and node runs; left out where one of them is
// missing.
#include <fstream>

#include "codegen/emit/compiler_flags.h"
#include "tests/random_seed.h"
#include "tests/required.h"
#include "tests/tools/block_case.h"
#include "tools/fovea/compiler.h"

using fovea::test::BlockCase;
using fovea::test::has;
using fovea::test::kBlockModel;
using fovea::test::read_text;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

namespace {

bool can_run_wasm() { return has("em++") && has("node"); }

}  // namespace

TEST_CASE("a program for WebAssembly gives values and gradients of the reference") {
    if (!can_run_wasm() || !fovea::test::has_turn(1, 2)) return;
    const BlockCase files;
    const ProcessResult built =
        run_fovea({"build", kBlockModel, "--isa", "wasm", "-o", files.program});
    REQUIRE_MESSAGE(built.status == 0, built.output);
    const std::string described = run_process({"node", files.program, "describe"}).output;
    CHECK(described.find("\ninstruction set wasm\n") != std::string::npos);
    files.write_files(run_process({"node", files.program, "describe", "--json"}).output);
    fovea::test::check_against_reference(files, [](std::vector<std::string> command) {
        command.insert(command.begin(), "node");
        return run_process(command);
    });
    const ProcessResult wrong = run_process({"node", files.program, "run", "--inputs", "none"});
    CHECK(wrong.status == 2);
}

TEST_CASE("the library of a generated folder is built by emscripten's CMake") {
    if (!has("em++") || !has("cmake") || !has("ninja")) return;
    const TemporaryFolder folder;
    const std::string source = folder.path() / "add_norm", build = folder.path() / "build";
    REQUIRE(run_fovea({"generate", "add_norm", "--isa", "wasm", "-o", source}).status == 0);
    const ProcessResult configured = run_process(
        {"env", "-u", "CXX", "emcmake", "cmake", "-G", "Ninja", "-S", source, "-B", build});
    REQUIRE_MESSAGE(configured.status == 0, configured.output);
    const ProcessResult compiled = run_process({"cmake", "--build", build});
    CHECK_MESSAGE(compiled.status == 0, compiled.output);
    CHECK(std::filesystem::exists(build + "/libadd_norm.a"));
}

TEST_CASE("flags of other machines are not among those of WebAssembly") {
    for (const std::string& flag : fovea::emit::machine_flags("wasm")) {
        CAPTURE(flag);
        CHECK(!flag.starts_with("-march"));
    }
    if (!has("em++")) return;
    for (const std::string& flag : fovea::tool::generated_code_flags("wasm")) {
        CAPTURE(flag);
        CHECK(!flag.starts_with("-march"));
        CHECK(flag != "-fopenmp");
    }
}

TEST_CASE("WebAssembly is a machine of its own") {
    const TemporaryFolder folder;
    const std::string to = folder.path() / "model";
    const ProcessResult mixed = run_fovea({"generate", "add_norm", "--isa", "wasm,avx2", "-o", to});
    CHECK(mixed.status == 2);
    CHECK(mixed.output ==
          "fovea: --isa takes instruction sets of one kind of machine: avx2 is of x86_64, wasm of "
          "wasm32\n");
    const ProcessResult portable =
        run_fovea({"generate", "add_norm", "--isa", "wasm", "--bits", "portable", "-o", to});
    CHECK(portable.status == 2);
    CHECK(
        portable.output ==
        "fovea: --bits portable takes avx512, avx2 and neon, not wasm, which rounds a product and "
        "a sum apart\n");
    const ProcessResult on_gpu =
        run_fovea({"build", "add_norm", "--isa", "wasm", "--device", "cuda", "-o", to});
    CHECK(on_gpu.status == 2);
    CHECK(on_gpu.output ==
          "fovea: --device cuda is for programs of this machine, not for --isa wasm\n");
    // PATH has no em++ there, and CXX is a compiler for this machine.
    const ProcessResult none = run_fovea({"build", "add_norm", "--isa", "wasm", "-o", to},
                                         {"PATH=" + folder.path().string()});
    CHECK(none.status == 2);
    CHECK(none.output ==
          "fovea: no C++ compiler for wasm32 found, which wasm is an instruction set of: install "
          "em++ (apt install emscripten), or set CXX\n");
    CHECK(!std::filesystem::exists(to));
}
