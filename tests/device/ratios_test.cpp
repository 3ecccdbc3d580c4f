// tools/peers/ratios.py: the table of a report of turns on a GPU, which needs no PyTorch.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tools/fovea/process.h"

using namespace fovea::tool;

namespace {

constexpr const char* kReport = R"({"machine": {"gpu": "G"}, "results": [
{"suite": "attention", "name": "width 64, causal", "pass": "forward",
 "dtype": "bf16", "dims": {"batch": 2, "keys": 8}, "flops": 2e9,
 "turns": {"ours": [2, 4, 2], "flash": [3, 3, 5], "cuDNN": [8, 4, 4]},
 "failed": {"memory-efficient": "RuntimeError: no"}},
{"suite": "models", "name": "training step, base", "pass": "step", "dtype": "bf16",
 "dims": {"batch": 64}, "flops": 3e12, "turns": {"ours": [10, 12, 11]}, "failed": {}}]})";

constexpr const char* kTable =
    "                             dtype  pass     dims            ours ms  TFLOP/s  peer's  r"
    "atio  p10 to p90    peer's best (ratios of the others)\n"
    "attention: width 64, causal  bf16   forward  batch=2 keys=8    2.000      1.0     0.7   "
    "1.50  0.75 to 2.50  flash (cuDNN 2.00)\n"
    "models: training step, base  bf16   step     batch=64         11.000    272.7           "
    "                    none runs here\n"
    "does not run here (width 64, causal): memory-efficient, attention forward: RuntimeError:"
    " no\n";

}  // namespace

TEST_CASE("ratios are taken round by round, beside the peer's fastest way") {
    const char* chosen = std::getenv("FOVEA_PYTHON");
    const std::string python = chosen ? chosen : "python3";
    if (run_process({"sh", "-c", "\"$0\" --version 2>/dev/null", python}).status != 0) {
        MESSAGE("skipped: there is no Python here");
        return;
    }
    const TemporaryFolder folder;
    const std::string report = (folder.path() / "peers.json").string();
    std::ofstream(report) << kReport;
    const auto shown = run_process({python, FOVEA_SOURCE_DIR "/tools/peers/ratios.py", report});
    CHECK(shown.status == 0);
    CHECK(shown.output == kTable);
}
