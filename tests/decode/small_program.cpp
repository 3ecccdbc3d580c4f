// A program of a built-in model with its small settings, for tests of what programs say.
#include "tests/decode/small_program.h"

#include <doctest/doctest.h>

#include <vector>

#include "tools/fovea/process.h"

namespace fovea::test {

void build_small_program(const ModelEntry& entry, const std::string& program) {
    std::vector<std::string> build = {"env",
                                      "FOVEA_CXXFLAGS=-O0",
                                      FOVEA_BINARY_DIR "/fovea",
                                      "build",
                                      std::string(entry.name),
                                      "--isa",
                                      "native",
                                      "-o",
                                      program};
    for (const auto& [setting, value] : entry.small_settings)
        build.insert(build.end(), {"--set", setting + "=" + value});
    const tool::ProcessResult built = tool::run_process(build);
    REQUIRE_MESSAGE(built.status == 0, built.output);
}

}  // namespace fovea::test
