// Runs emitted PTX on the interpreter, as a host would on a GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/evaluate.h"
#include "codegen/ptx/interpret.h"
#include "codegen/target/target.h"
#include "tests/emit/arrays.h"

namespace fovea::test {

/// The PTX of kernels for one architecture, parsed.
struct Emitted {
    std::vector<kernel::Kernel> kernels;
    emit::PtxModule ptx;
    ptx::Module module;
};
Emitted emit_and_parse(const std::vector<kernel::Kernel>& kernels, const target::Gpu& target);
Emitted emit_and_parse(const std::vector<kernel::Kernel>& kernels,
                       const std::string& architecture = "sm_90");

/// Products as for many rows, whatever their number: tests of large tiles take few.
target::Gpu as_for_many_rows(const std::string& architecture);

/// Runs all launches of a kernel on the arrays, with the seed and step of check_against_evaluator;
/// throws ptx::Fault for what the interpreter finds wrong, more instructions of a warp included.
void run_ptx(const Emitted& emitted, std::size_t number, const kernel::DimValues& dims,
             Arrays& arrays, const ptx::Schedule& schedule = {},
             std::uint64_t max_instructions = 1'000'000'000);

/// Runs a kernel on a schedule, another one at each `turn`, and compares its results with the
/// evaluator's. At the first turn it runs on a second schedule, too, and has the same bits.
void check_kernel(const Emitted& emitted, std::size_t number, const kernel::DimValues& dims,
                  const std::function<Arrays()>& arrays, std::size_t turn, double tolerance);

/// Runs every kernel for all sizes, each a turn of `check_kernel`.
void check_kernels(const std::vector<kernel::Kernel>& kernels,
                   const std::vector<kernel::DimValues>& sizes, double tolerance);

/// What ptxas has against the text: errors, spills, stack frames, warnings; empty: nothing. No
/// value where there is no ptxas, of which a line tells.
std::optional<std::string> complaints_of_ptxas(const std::string& text,
                                               const std::string& architecture);

/// Checks that ptxas has nothing against kernels, each for one of the architectures: in turns, so
/// that neighbours, which are alike, see them all, from a drawn one on. It is every 16th kernel,
/// and each where FOVEA_WHOLE is set.
void check_ptxas(const std::vector<kernel::Kernel>& kernels,
                 const std::vector<std::string>& architectures);

}  // namespace fovea::test
