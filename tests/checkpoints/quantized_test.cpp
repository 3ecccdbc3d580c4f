// Programs with weights of 8 and 4 bits of checkpoints, beside transformers.
#include <doctest/doctest.h>

#include <string>

#include "tests/python/python_with.h"
#include "tools/fovea/process.h"

using namespace fovea;

TEST_CASE("programs with weights of 8 and 4 bits are right on the values that these are") {
    const std::string python = test::python_with("transformers", ", torch, safetensors, numpy");
    if (python.empty()) return;
    const std::string script = FOVEA_SOURCE_DIR "/tests/checkpoints/quantized.py";
    const std::string command = FOVEA_BINARY_DIR "/fovea";
    const tool::ProcessResult result =
        tool::run_process({"env", "PYTHONDONTWRITEBYTECODE=1", python, script, command});
    CHECK_MESSAGE(result.status == 0, result.output);
}
