// Runs kernels of PTX text on the CPU, as a GPU would, and checks while it runs: bounds, alignment,
// races, divergent collectives, deadlocks, registers and shared memory read before they are
// written. It needs neither LLVM nor a GPU.
//
//   const Module module = parse(text);
//   Memory memory;
//   const auto x = memory.add(std::span(xs)), y = memory.add(std::span<const float>(ys));
//   interpret(module, "axpy", {.grid = {4, 1, 1}, .block = {128, 1, 1},
//                              .arguments = {argument(x), argument(y), argument(2.0f)}}, memory);
//
// How the threads of a block take turns and when asynchronous copies land is open on a GPU; a
// Schedule settles it, and a kernel that is right gives the same under each.
//
// Limits: clusters of one block; blocks run one after another, so that a block that waits for
// another runs into its budget; what orders two accesses of global memory from different blocks
// (fences with flags) is not understood, such kernels turn `global_races` off.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ptx/fault.h"
#include "codegen/ptx/memory.h"
#include "codegen/ptx/text/syntax.h"

namespace fovea::ptx {

struct Program;

/// A parsed and decoded module; cheap to copy.
struct Module {
    std::shared_ptr<const Text> text;
    std::map<std::string, std::shared_ptr<const Program>> kernels;
};

/// Reads and decodes a module. Throws ParseError where the text is no PTX, or uses an instruction
/// or a form of one that the interpreter does not know.
Module parse(const std::string& text);

using Argument = std::vector<std::byte>;

template <class T>
Argument argument(const T& value) {
    Argument bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}

struct Launch {
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::vector<Argument> arguments;  // one a parameter, each of its size
    std::uint64_t max_instructions = 1'000'000'000;  // of a warp, for each block
    bool shared_races = true;
    bool global_races = true;  // between the threads of a block, and between blocks
    bool uninitialised_shared = true;  // whether reading shared memory before it is written faults
};

struct Schedule {
    /// When asynchronous copies and products take effect: at once, or as late as they may, those
    /// issued first first, or those issued last.
    enum class Copies { at_once, first_in, last_in };

    bool reverse = false;  // blocks and warps from the last to the first
    unsigned slice = 0;  // instructions after which another warp has its turn; 0: when it waits
    Copies copies = Copies::first_in;
};

/// Schedules that together notice every barrier or wait that is missing in the tests' kernels.
std::vector<Schedule> schedules();

/// Runs the kernel. Throws Fault at the first thing wrong with it, UserError where the launch does
/// not fit it. Returns how many instructions the warps executed.
std::uint64_t interpret(const Module& module, const std::string& kernel, const Launch& launch,
                        const Memory& memory, const Schedule& schedule = {});

}  // namespace fovea::ptx
