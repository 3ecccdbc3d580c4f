// Operands come before what is made of them, so that one pass over a block finds all equal tiles.
#include "codegen/kernel/rewrites/share_tiles.h"

#include <map>
#include <string>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/analysis/same_kernel.h"

namespace fovea::kernel {
namespace {

/// Whether a node gives the same wherever it stands in its block.
bool is_pure(const Kernel& kernel, Id id) {
    if (auto load = as<Load>(kernel, id))
        return !kernel.buffers[std::size_t(load->access.buffer)].written;
    return as<Constant>(kernel, id) || as<Extent>(kernel, id) || as<Index>(kernel, id) ||
           as<Map>(kernel, id) || as<Reduce>(kernel, id) || as<Contract>(kernel, id);
}

void share_in_block(Kernel& kernel, Id parent) {
    std::map<std::string, Id> first;
    const std::vector<Id> block = block_of(kernel, parent);
    for (Id id : block) {
        if (as<Loop>(kernel, id)) share_in_block(kernel, id);
        if (!is_pure(kernel, id)) continue;
        const auto [same, is_first] = first.try_emplace(structure_of(kernel, id), id);
        if (is_first) continue;
        std::string& name = kernel.nodes[std::size_t(same->second)].name;
        if (name.empty()) name = kernel.nodes[std::size_t(id)].name;
        replace_uses(kernel, id, same->second);
        drop_node(kernel, id);
    }
}

}  // namespace

void share_tiles(Kernel& kernel) {
    share_in_block(kernel, -1);
    renumber(kernel);
}

}  // namespace fovea::kernel
