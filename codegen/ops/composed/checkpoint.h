// A function whose values are not kept for the gradient.
#pragma once

#include <concepts>
#include <utility>

#include "codegen/graph/tensor.h"

namespace fovea {

/// What `f(arguments...)` gives, as PyTorch's `checkpoint(f, ...)` does: the gradient makes the
/// values inside of `f` again from what came into it, so that none of them is kept from the forward
/// pass. `checkpoint([&](Tensor x) { return block(s / "block", x); }, x)`. At least one argument is
/// a Tensor; what `f` captures counts as an argument. One inside of another is part of that one.
template <class F, class... Arguments>
    requires(std::same_as<Arguments, Tensor> || ...)
constexpr auto checkpoint(F&& f, Arguments... arguments) {
    Graph* graph = nullptr;
    const auto look = [&]<class Argument>(const Argument& argument) {
        if constexpr (std::same_as<Argument, Tensor>)
            if (!graph) graph = argument.graph;
    };
    (look(arguments), ...);
    if (!graph || graph->checkpoint) return std::forward<F>(f)(arguments...);
    graph->checkpoint = ++graph->checkpoints;
    auto result = std::forward<F>(f)(arguments...);
    graph->checkpoint = 0;
    return result;
}

}  // namespace fovea
