// Where the ids, labels and lengths of a graph come from: which are elements of an input, to be
// checked before a run, which are in range by their computation, and which can be neither.
#pragma once

#include <optional>
#include <vector>

#include "codegen/graph/id_operands.h"
#include "codegen/optimize/dim_range.h"

namespace fovea {

/// Positions along one axis.
struct AxisPart {
    Dim first{}, count{};
    bool operator==(const AxisPart&) const = default;
};

/// Elements of an input of the model: a part of each axis.
struct InputPart {
    int input = 0;  // node
    std::vector<AxisPart> parts{};
    bool in_place = true;  // they lie as in the input, cut
};

/// What the elements of a value are: elements of inputs, moved and not changed, and numbers that
/// were computed.
struct Contents {
    std::vector<InputPart> moved{};
    std::optional<DimRange> computed{};
};

/// Of every node of a graph whose scans are sealed. `inputs`, for the step of a scan, are the
/// contents of its inputs; by default an input holds itself.
std::vector<Contents> contents_of(const Graph& graph,
                                  const std::vector<Contents>* inputs = nullptr);

/// The contents of the inputs of a scan's step, by its node; `outside`: of the graph of the scan.
std::vector<Contents> contents_of_inputs(const Graph& graph, int scan,
                                         const std::vector<Contents>& outside);

/// Whether values that are computed may be out of range, for all that is known.
bool must_be_guarded(const Contents& contents, Holds holds, const Dim& limit);

/// What an input must hold.
struct InputCheck {
    int input = 0;
    Holds holds = Holds::ids;
    Dim limit{};
    std::vector<AxisPart> parts{};  // of its axes; empty: all of it
};

/// Of all inputs of a model, steps of scans included; what follows from another is left out.
std::vector<InputCheck> input_checks(const Graph& graph);

}  // namespace fovea
