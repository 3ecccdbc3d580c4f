// Products of drawn sizes, however their operands lie, by programs that call the runtime's: a row's
// bits are those that it has alone.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "codegen/emit/compiler_flags.h"
#include "tests/emit/compiled_model.h"
#include "tests/isas_here.h"
#include "tests/required.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

using namespace fovea;

namespace {

void run_on_isas(const std::string& name, test::Multiplied multiplied = {.bfloat16 = true}) {
    const std::string seed = std::to_string(test::random_seed());
    for (const std::string& isa : test::isas_by_turns(multiplied)) {
        CAPTURE(isa);
        const tool::TemporaryFolder folder;
        const std::string program = folder.path() / "program";
        std::vector<std::string> command = tool::find_compiler();
        for (const std::string& flag : tool::generated_code_flags(isa)) command.push_back(flag);
        for (const std::string& part :
             {std::string("-O1"), std::string("-I" FOVEA_SOURCE_DIR), std::string("-o"), program,
              FOVEA_SOURCE_DIR "/tests/emit/programs/" + name + ".cpp",
              std::string(FOVEA_BINARY_DIR "/libfovea_runtime.a")})
            command.push_back(part);
        tool::compile_generated(command);
        const tool::ProcessResult result = tool::run_process({program, seed});
        CHECK_MESSAGE(result.status == 0, result.output);
    }
}

}  // namespace

TEST_CASE("products of bfloat16 are right, with bits that do not depend on other rows") {
    if (!test::has_turn(0, 2)) return;
    run_on_isas("bfloat16_products");
}

TEST_CASE("products with weights of 8 and 4 bits are right, with bits that do not either") {
    if (!test::has_turn(1, 2)) return;
    run_on_isas("quantized_products", {.bfloat16 = true, .numbers = true});
}

TEST_CASE("sums over tiles of bfloat16 are right, whole and of the steps that a mask leaves") {
    run_on_isas("tile_sums");
}

TEST_CASE("products of few rows with rows as they lie are right, with bits of each pair alone") {
    run_on_isas("few_rows");
}

TEST_CASE("clang takes the kernels of products for every instruction set") {
    if (runtime::this_machine() != "x86_64" || !test::has("clang++-19")) return;
    std::vector<std::string> isas;
    for (std::string_view isa : runtime::isas_of("x86_64")) isas.emplace_back(isa);
    for (const char* name : {"bfloat16_products", "quantized_products", "tile_sums", "few_rows"})
        for (const std::string& isa : test::turns_of(isas, 3)) {
            CAPTURE(isa);
            std::vector<std::string> command = {"clang++-19", "-std=c++20", "-fsyntax-only",
                                                "-Wno-psabi", "-I" FOVEA_SOURCE_DIR};
            for (const std::string& flag : emit::machine_flags(isa)) command.push_back(flag);
            command.push_back(FOVEA_SOURCE_DIR "/tests/emit/programs/" + std::string(name) +
                              ".cpp");
            const tool::ProcessResult result = tool::run_process(command);
            CHECK_MESSAGE(result.status == 0, result.output);
        }
}
