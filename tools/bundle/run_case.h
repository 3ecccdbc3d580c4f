// Runs one case of a bundle on a device, as shipped programs run there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "tools/bundle/case_file.h"

namespace fovea::bundle {

struct RunOptions {
    std::string architecture = {};  // whose PTX; empty: the best that the device runs
    int replays = 0;     // runs of a whole program after the one that is observed
    bool quick = false;  // measure at the small sizes: shows that it works
};

/// What came out. `error` is in units of its bound: over 1 is a miss.
struct Outcome {
    std::string status = "ok";  // ok, miss, skipped
    std::string architecture = {};
    double worst = 0;
    std::string kernel = {};  // the first that misses
    std::string text = {};
    runtime::Json measured = {};  // of a measurement: null or an object
};

/// What is being done, for the reader of a log: it is called before each step. What it was told
/// last is where a case hangs, or ends the process.
using Progress = void (*)(const std::string& text);

/// Throws as the device does; `progress` then was told last what failed.
Outcome run_case(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                 const RunOptions& options, Progress progress);

}  // namespace fovea::bundle
