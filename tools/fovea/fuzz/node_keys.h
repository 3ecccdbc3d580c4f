// Which nodes compute the same, in graphs of one program: numbers made of op, attributes and
// operands.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/graph/graph.h"
#include "codegen/reference/interpreter.h"

namespace fovea::tool::fuzz {

/// Nodes of the same key have the same value, on the same inputs and parameters: at these sizes
/// they are the same op with the same attributes, on operands of the same keys. An output has the
/// key of what it gives.
class NodeKeys {
  public:
    explicit NodeKeys(DimSizes sizes) : sizes_(std::move(sizes)) {}

    /// The key of each node; values that depend on a pair or a step have one of their own.
    std::vector<int> of(const Graph& graph);

  private:
    class Record;
    int number_of(const std::string& record);
    std::string record_of(const Graph& graph, int id, const std::vector<int>& keys);
    void add_attribute(Record& record, const Graph& graph, int id, const std::vector<int>& keys);
    void add_function(Record& record, const Graph& function);

    DimSizes sizes_;
    std::unordered_map<std::string, int> numbers_;
    int unique_ = -1;  // the last key of a node that is like no other; -1 is poison's
};

}  // namespace fovea::tool::fuzz
