// What `fovea doctor` looks at.
#pragma once

#include <string>
#include <vector>

namespace fovea::tool {

struct Finding {
    enum class State {
        ok,
        absent,   // models build and run without it
        missing,  // nothing can be built without it
    };
    std::string what;  // `compiler`
    State state = State::ok;
    std::string found;   // what there is, or what is wrong
    std::string advice;  // what to do; empty where nothing is to be done
};

/// The sources, the compiler, and whether a model compiles.
void find_main_tools(std::vector<Finding>& findings);
/// What PTX and GPUs take.
void find_gpu_tools(std::vector<Finding>& findings);
/// Instruction sets, cores, memory, and the folders that are written.
void find_machine(std::vector<Finding>& findings);

}  // namespace fovea::tool
