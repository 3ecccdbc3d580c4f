// Weights to PyTorch and back, where Python has torch and safetensors (FOVEA_PYTHON names another
// interpreter than python3).
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tools/fovea/process.h"

using fovea::tool::run_process;

TEST_CASE("weights saved by PyTorch and by fovea give the same logits in both") {
    const char* chosen = std::getenv("FOVEA_PYTHON");
    const std::string python = chosen ? chosen : "python3";
    if (run_process({"sh", "-c", "\"$0\" -c 'import torch, safetensors' 2>/dev/null", python})
            .status != 0) {
        MESSAGE("skipped: '", python, "' has no torch and safetensors");
        return;
    }
    const auto result = run_process({python, FOVEA_SOURCE_DIR "/tests/parity/exchange.py",
                                     "--fovea", FOVEA_BINARY_DIR "/fovea"});
    INFO(result.output);
    CHECK(result.status == 0);
}
