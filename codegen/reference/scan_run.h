// The steps of a scan, one after the other, in the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/reference/interpreter.h"

namespace fovea {

/// The arrays of a scan: its states and results over all steps, of values or of their errors.
class ScanRun {
  public:
    /// Input i of the scan: sequences, initial states, captures.
    using InputOf = std::function<const Array&(int)>;

    ScanRun(const Interpreter& outside, int id);

    /// One step's graph; it is given the captures when the run starts.
    Interpreter& step() { return step_; }
    /// The states and results: [steps + 1, …] and [steps, …], as they are numbered.
    std::vector<Array>& results() { return results_; }

    /// Room for the results, and the initial states.
    void start(const InputOf& input);
    /// Runs all steps; after each, `then(n)`.
    void run(const InputOf& input, const std::function<void(std::int64_t)>& then = {});
    /// Gives what step number n reads; takes what it returns.
    void give(std::int64_t n, const InputOf& input,
              const std::function<void(const std::string&, Array)>& set) const;
    void take(std::int64_t n, const std::function<Array(std::string_view)>& output);

  private:
    /// The place of step number n among the values of a sequence.
    std::int64_t place(std::int64_t n) const;

    const ScanFunction& function_;
    std::int64_t steps_;
    Interpreter step_;
    std::vector<Array> results_;
};

}  // namespace fovea
