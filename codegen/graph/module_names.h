// Names of modules in those of kernels and buffers.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Modules by their paths, without those that hold nothing but numbered modules:
/// `encoder.block0.ffn` of `encoder.layers.block0.ffn`.
class ModuleNames {
  public:
    explicit ModuleNames(const Graph& graph);
    std::string name(int scope) const;

  private:
    const Graph& graph_;
    std::set<std::uint64_t> left_out_;  // hashes of their paths
};

}  // namespace fovea
