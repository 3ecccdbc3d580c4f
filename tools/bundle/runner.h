// The command that runs cases of a bundle, one a process, on whatever device it is given.
#pragma once

#include <functional>
#include <memory>

#include "runtime/device/device.h"

namespace fovea::bundle {

/// FOLDER N [--arch A] [--replays R] [--quick] runs a case and prints one line of JSON;
/// FOLDER --device prints the device's name; FOLDER N --turns measures in turns. What it is doing
/// goes to standard error. Exit status: 0 right or skipped, 1 a miss, 2 no device or wrong
/// arguments, 3 an error, 4 out of memory.
int runner_main(int argc, char** argv,
                const std::function<std::shared_ptr<runtime::device::Device>()>& open);

}  // namespace fovea::bundle
