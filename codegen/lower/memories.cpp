#include "codegen/lower/memories.h"

#include <algorithm>

namespace fovea::lower {

int Memories::of(int base) { return add(base, false); }

int Memories::transposed(int base) { return add(base, true); }

int Memories::add(int base, bool transposed) {
    auto [at, fresh] = index_.try_emplace({base, transposed}, int(all_.size()));
    if (!fresh) return at->second;
    const Node& node = graph_[base];
    Memory memory{.node = base, .transposed = transposed, .name = name_of(base),
                  .dtype = node.dtype, .shape = {}};
    for (const Dim& dim : node.shape) memory.shape.push_back(dim.without_label());
    if (transposed) {
        std::swap(memory.shape[0], memory.shape[1]);
        memory.name += "_transposed";
        transposed_.push_back(base);
    }
    all_.push_back(memory);
    return at->second;
}

/// Parameters and inputs by their names, outputs by theirs, the others by module and op.
std::string Memories::name_of(int base) const {
    const Node& node = graph_[base];
    int output = fused_.output_of[std::size_t(base)];
    if (output >= 0) return std::string(graph_[output].name);
    if (node.op == Op::input) return std::string(node.name);
    std::string path = graph_.path(node.op == Op::parameter ? node.scope : graph_.scope_of(base));
    if (node.op == Op::parameter) return path;
    for (std::size_t at; (at = path.find("blks.")) != path.npos;) path.erase(at, 5);
    std::string name = path + (path.empty() ? "" : ".") + fuse::what_it_computes(graph_, base);
    return node.backward ? name + ".gradient" : name;
}

}  // namespace fovea::lower
