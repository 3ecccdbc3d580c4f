// Small kernels of PTX text, and what running them says.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/ptx/interpret.h"

namespace fovea::ptx::test {

/// A module with the kernel `k`, whose parameters are the pointers x (read by the kernel, or both)
/// and y, and the number n: in %x, %y (64 bits) and %n (32 bits); %t holds the thread.
/// `declarations` stands before the kernel.
std::string kernel_text(const std::string& body, const std::string& declarations = "",
                        const std::string& target = "sm_90a");

/// The kind of the fault that launching says, if it faults; `message` gets its text.
std::optional<FaultKind> fault_of(const Module& module, const Launch& launch, const Memory& memory,
                                  const Schedule& schedule = {}, std::string* message = nullptr);

/// Runs kernel_text(body) for 32 threads, and returns y, of as many values as x.
template <class T, class U = T>
std::vector<U> run_lanes(const std::string& body, const std::vector<T>& x,
                         std::size_t results = 0) {
    std::vector<U> y(results ? results : x.size());
    Memory memory;
    const auto from = memory.add(std::span<const T>(x)), to = memory.add(std::span<U>(y));
    const Module module = parse(kernel_text(body));
    interpret(module, "k",
              {.block = {32, 1, 1}, .arguments = {argument(from), argument(to), argument(7)}},
              memory);
    return y;
}

/// What a kernel says that runs with x of `words` numbers 0, 1, 2, … (read only) and y of as many
/// zeros, if it faults.
std::optional<FaultKind> fault_of_body(const std::string& body, std::uint32_t threads = 32,
                                       std::uint32_t blocks = 1, const Schedule& schedule = {},
                                       std::string* message = nullptr);

/// The text of a file of tests/ptx.
std::string file_text(const std::string& name);

}  // namespace fovea::ptx::test
