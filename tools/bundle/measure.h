// Cases that measure: kernels by the clock of the device, on random inputs.
#pragma once

#include "tools/bundle/run_case.h"

namespace fovea::bundle {

/// What the device takes for the counted kernels of a program, or for whole training steps: the
/// outcome's `measured` has median, p10 and p90 in milliseconds and TFLOP/s.
Outcome measure(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                const RunOptions& options, Progress progress);

/// Says in one line of JSON what is measured, and measures when told to on standard input: a number
/// of runs a line, whose milliseconds are answered as one list; a blank line, or the end, is the
/// end.
void take_turns(const CaseFile& from, std::shared_ptr<runtime::device::Device> device,
                const RunOptions& options);

}  // namespace fovea::bundle
