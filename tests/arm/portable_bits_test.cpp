// With --bits portable machines of both kinds compute the same bits; those of aarch64 run under
// qemu.
#include <algorithm>
#include <fstream>

#include "runtime/isa.h"
#include "tests/arm/emulated.h"
#include "tests/random_seed.h"
#include "tests/tools/block_case.h"
#include "tools/fovea/compiler.h"

using fovea::test::BlockCase;
using fovea::test::kBlockModel;
using fovea::test::read_text;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

namespace {

/// The portable instruction sets that programs can be built for and run here, without `_portable`.
/// Where NEON is among them, so that there are two to compare, those of x86-64 take turns.
std::vector<std::string> portable_machines() {
    std::vector<std::string> names;
    for (const std::string name : {"avx512", "avx2"}) {
        if (fovea::runtime::machine_has(name)) names.push_back(name);
        else MESSAGE("not run: this machine has no ", name);
    }
    const bool is_emulated = fovea::runtime::this_machine() != "aarch64" && fovea::test::can_run();
    if (!fovea::runtime::machine_has("neon") && !is_emulated) {
        MESSAGE("not run: this machine has no neon");
        return names;
    }
    names = fovea::test::turns_of(names, 2);
    names.emplace_back("neon");
    return names;
}

ProcessResult run_on(const std::string& isa, const std::vector<std::string>& command) {
    return fovea::runtime::machine_has(isa) ? run_process(command)
                                            : fovea::test::run_emulated(command);
}

}  // namespace

TEST_CASE("elementary functions have the same bits on machines with portable bits") {
    const TemporaryFolder folder;
    std::string first;
    for (const std::string& isa : portable_machines()) {
        CAPTURE(isa);
        const std::string program = folder.path() / isa, source = program + ".cpp";
        std::ofstream(source) << "#include \"tests/arm/portable_functions.h\"\n"
                                 "int main() { fovea::test::print_checksums(); }\n";
        std::vector<std::string> command = fovea::tool::find_compiler_for(isa);
        for (const std::string& flag : fovea::tool::generated_code_flags(isa + "_portable"))
            command.push_back(flag);
        const std::string sources = FOVEA_SOURCE_DIR;
        command.insert(command.end(), {"-O1", "-I" + sources, "-o", program, source});
        fovea::tool::compile_generated(command);
        const ProcessResult ran = run_on(isa, {program});
        REQUIRE_MESSAGE(ran.status == 0, ran.output);
        CHECK(std::ranges::count(ran.output, '\n') == 25);
        if (first.empty()) first = ran.output;
        CHECK(ran.output == first);
    }
}

TEST_CASE("values and gradients have the same bits on machines with portable bits") {
    if (!fovea::test::has_turn(1, 2)) return;
    const BlockCase files;
    std::string first;
    for (const std::string& isa : portable_machines()) {
        CAPTURE(isa);
        const ProcessResult built = run_fovea(
            {"build", kBlockModel, "--isa", isa, "--bits", "portable", "-o", files.program});
        REQUIRE_MESSAGE(built.status == 0, built.output);
        const std::string described = run_on(isa, {files.program, "describe"}).output;
        CHECK(described.find("\ninstruction set " + isa + "_portable\n") != std::string::npos);
        if (first.empty())
            files.write_files(run_on(isa, {files.program, "describe", "--json"}).output);
        const ProcessResult ran =
            run_on(isa, {files.program, "run", "--inputs", files.inputs, "--weights", files.weights,
                         "--gradients", "--train", "--seed", "3", "--step", "5", "--threads", "2",
                         "--outputs", files.path("own")});
        REQUIRE_MESSAGE(ran.status == 0, ran.output);
        const std::string outputs = read_text(files.path("own"));
        CHECK(outputs.size() > 10000);
        if (first.empty()) first = outputs;
        CHECK_MESSAGE((outputs == first), "other bits than those of the first instruction set");
    }
}

TEST_CASE("--bits portable takes instruction sets that have a portable form") {
    const TemporaryFolder folder;
    const std::string to = folder.path() / "model";
    const auto generate = [&](const std::vector<std::string>& options) {
        std::vector<std::string> command = {"generate", "add_norm", "-o", to};
        command.insert(command.end(), options.begin(), options.end());
        return run_fovea(command);
    };
    const ProcessResult unfused = generate({"--isa", "avx2,baseline", "--bits", "portable"});
    CHECK(unfused.status == 2);
    CHECK(
        unfused.output ==
        "fovea: --bits portable takes avx512, avx2 and neon, not baseline, which rounds a product "
        "and a sum apart\n");
    const ProcessResult paired = generate({"--isa", "avx512_bf16", "--bits", "portable"});
    CHECK(paired.status == 2);
    CHECK(paired.output ==
          "fovea: --bits portable takes avx512, avx2 and neon, not avx512_bf16, which rounds "
          "products of pairs in a way of its own\n");
    const ProcessResult on_gpu = generate({"--target", "ptx", "--bits", "portable"});
    CHECK(on_gpu.status == 2);
    CHECK(on_gpu.output ==
          "fovea: --bits is for --target cpu; PTX is written for all of its architectures\n");
    CHECK(!std::filesystem::exists(to));
    REQUIRE(generate({"--isa", "avx2,avx512", "--bits", "portable"}).status == 0);
    const std::string text = read_text(to + "/CMakeLists.txt");
    CHECK(text.find("foreach(isa avx512_portable avx2_portable)") != std::string::npos);
    CHECK(text.find("set(machine_avx2_portable -march=x86-64-v3 -ffp-contract=off "
                    "-DFOVEA_PORTABLE_BITS)") != std::string::npos);
}
