// Values of a program's graphs, each computed once: what a pass leaves as it is keeps its value.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "codegen/reference/interpreter.h"
#include "tools/fovea/fuzz/node_keys.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// A value, and how far another computation of it in the arithmetic of the analysis may be off.
struct Bounded {
    Array value, bound;
};

class KnownValues {
  public:
    /// `unit`: the relative error of one rounding (see ErrorBounds).
    KnownValues(const SampleDims& sizes, Values values, const InterpreterOptions& options,
                double unit);

    /// Calls `visit` for each output of the graph that differs in how it is computed from all of
    /// its name that were visited before.
    void each_new_output(
        const Graph& graph,
        const std::function<void(const std::string& name, const Bounded& value)>& visit);

  private:
    void compute(Interpreter& interpreter, const std::vector<int>& keys);

    SampleDims sizes_;
    Values values_;
    InterpreterOptions options_;
    double unit_;
    NodeKeys keys_;
    std::map<int, Bounded> known_;  // by key
    std::set<std::pair<std::string, int>> visited_;  // names of outputs, and their keys
};

}  // namespace fovea::tool::fuzz
