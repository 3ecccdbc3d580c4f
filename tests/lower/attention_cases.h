// Attention with scores, masks, shapes and dropout of every kind, drawn at random.
#pragma once

#include <string>

#include "codegen/graph/graph.h"
#include "codegen/kernel/evaluate.h"

namespace fovea::test {

using AttentionDims = kernel::DimValues;  // batch, queries, keys

struct AttentionCase {
    Graph graph;            // output O; everything else is an input
    std::string text;       // what was drawn
    bool training = false;  // dropout is drawn
};

/// Case `number` of a fixed sequence, and the dims of one of its runs.
AttentionCase attention_case(int number);
AttentionDims attention_dims(int number, int run);

}  // namespace fovea::test
