// Descriptions as lines `name = value`. The names start with what they are of: `cpu.` and `gpu.` of
// either target, `sm_90a.` of one architecture alone, where `gpu.` is of all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/target/fields.h"

namespace fovea::target {

/// A number that a schedule may set.
struct ScheduleEntry {
    std::string name;  // gpu.contraction.tile
    Limits limits;
    std::string about;
    std::function<void(Targets&, double)> set;
};

/// All there are, in the order in which they are printed.
const std::vector<ScheduleEntry>& schedule_entries();

/// The description of a target: a line for each number, with what it is in a comment, which sets it
/// to what it is.
std::string print(const Target& target);

}  // namespace fovea::target
