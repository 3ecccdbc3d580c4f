// Which weights of a model lie as whole numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/pipeline.h"

namespace fovea {

/// Why a parameter lies as floats where a program asks for whole numbers; nothing where products
/// along its last axis, and rows that are looked up, are all that reads it.
std::optional<std::string> why_not_stored(const Graph& graph, int parameter);

/// Marks the parameters that lie as the programs ask for, the same in each: those that none of them
/// reads otherwise. Before any pass, since passes keep what they say of themselves. UserError where
/// programs differ in what they ask for, or where one has gradients.
void store_weights(std::vector<ProgramRequest>& requests);

}  // namespace fovea
