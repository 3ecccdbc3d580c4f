// Products of bfloat16, however their operands lie: a row's bits are those that it has alone.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/emit/compiled_model.h"
#include "tests/isas_here.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

using namespace fovea;

TEST_CASE("products of bfloat16 are right, with bits that do not depend on other rows") {
    const std::string seed = std::to_string(test::random_seed());
    for (const std::string& isa : test::isas_by_turns(true)) {
        CAPTURE(isa);
        const tool::TemporaryFolder folder;
        const std::string program = folder.path() / "program";
        std::vector<std::string> command = tool::find_compiler();
        for (const std::string& flag : tool::generated_code_flags(isa)) command.push_back(flag);
        for (const std::string& part :
             {std::string("-O1"), std::string("-I" FOVEA_SOURCE_DIR), std::string("-o"), program,
              std::string(FOVEA_SOURCE_DIR "/tests/emit/programs/bfloat16_products.cpp"),
              std::string(FOVEA_BINARY_DIR "/libfovea_runtime.a")})
            command.push_back(part);
        tool::compile_generated(command);
        const tool::ProcessResult result = tool::run_process({program, seed});
        CHECK_MESSAGE(result.status == 0, result.output);
    }
}
