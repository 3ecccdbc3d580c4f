// A graph as its modules hold it, with what a picture shows of each node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea::tool {

/// What is seen of a node: its lines of text, and the visible nodes that it reads.
struct PictureNode {
    int id = 0;
    std::string title;                    // `einsum 'a b, c b -> a c'`
    std::vector<std::string> parameters{};  // `weight [hidden=16]`
    std::vector<std::string> formula{};   // the score of an attention, scalar operands
    std::vector<int> inputs{};            // of its own pass: forward or backward
    std::vector<int> kept{};              // of the other one: values kept for the gradient
    std::string shape;
    std::vector<std::string> gives{};     // the values of a scan, by shape
    std::vector<PictureNode> before{};  // drawn above it in its card: each reads the one before
};

struct PictureModule {
    std::string name;  // `blks.block0`, below the module around it
    std::vector<PictureNode> nodes;
    std::vector<std::unique_ptr<PictureModule>> modules;
    std::string last;  // of modules that compute the same, one after the other
    int times = 1;  // how many they are: the first is drawn for all
};

/// The nodes that a picture shows, in their modules; those of the backward pass in the modules
/// whose gradients they are. Modules of one node, or of one module alone, are drawn into the one
/// around them.
PictureModule module_tree(const Graph& graph);

/// `[batch, len, hidden=16]`, with its type unless that is f32.
std::string shape_of(const Node& node);

}  // namespace fovea::tool
