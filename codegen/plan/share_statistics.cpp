// Each kernel is looked up as what is left of another without its statistics.
#include "codegen/plan/share_statistics.h"

#include <algorithm>
#include <set>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/analysis/same_kernel.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"
#include "codegen/plan/lifetimes.h"

namespace fovea::plan {

namespace {

using kernel::Id;
using kernel::Kernel;

/// The buffers that a kernel stores to with fewer axes than to another, and does not read.
std::set<int> statistics_of(const Kernel& kernel) {
    std::size_t most = 0;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (auto store = kernel::as<kernel::Store>(kernel, id))
            most = std::max(most, store->access.strides.size());
    std::set<int> found, others;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (auto load = kernel::as<kernel::Load>(kernel, id)) others.insert(load->access.buffer);
        const auto store = kernel::as<kernel::Store>(kernel, id);
        if (!store) continue;
        const bool is_small = store->access.strides.size() < most && store->access.row < 0;
        (is_small ? found : others).insert(store->access.buffer);
    }
    for (int buffer : others) found.erase(buffer);
    return found;
}

/// The kernel without the stores to these buffers, and without the buffers; all others are needed.
Kernel without(Kernel kernel, const std::set<int>& buffers) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (auto store = kernel::as<kernel::Store>(kernel, id))
            if (buffers.contains(store->access.buffer)) kernel::drop_node(kernel, id);
    kernel::renumber(kernel);
    kernel::drop_unused(kernel);
    const auto number = [&](int& buffer) {
        buffer -= int(std::distance(buffers.begin(), buffers.lower_bound(buffer)));
    };
    for (kernel::Node& node : kernel.nodes) {
        if (auto load = std::get_if<kernel::Load>(&node.operation)) number(load->access.buffer);
        if (auto store = std::get_if<kernel::Store>(&node.operation)) number(store->access.buffer);
    }
    for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer)
        kernel.buffers.erase(kernel.buffers.begin() + *buffer);
    for (kernel::Buffer& buffer : kernel.buffers) buffer.optional = false;
    return kernel;
}

/// Steps of kernel `from` become steps of `to`, which stores `statistics` besides, but not here.
void replace(Program& program, int from, int to, const Kernel& larger,
             const std::set<int>& statistics) {
    for (std::vector<Step>* steps : {&program.prepare, &program.steps})
        for (Step& step : *steps) {
            if (step.kernel != from) continue;
            step.kernel = to;
            for (int buffer : statistics) {
                const kernel::Buffer& stored = larger.buffers[std::size_t(buffer)];
                step.arguments.insert(step.arguments.begin() + buffer, int(program.tensors.size()));
                program.tensors.push_back({.name = stored.name,
                                           .role = Role::none,
                                           .dtype = stored.dtype,
                                           .shape = stored.shape});
            }
        }
}

/// What `smaller` need not be given `larger` need not be given either, nor `statistics`.
void set_optional(Kernel& larger, const Kernel& smaller, const std::set<int>& statistics) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < larger.buffers.size(); ++i)
        larger.buffers[i].optional |=
            statistics.contains(int(i)) || smaller.buffers[next++].optional;
}

/// Kernel `number` is gone; its name is free for `heir`.
void erase(Model& model, int number, int heir) {
    model.kernels[std::size_t(heir)].name = model.kernels[std::size_t(number)].name;
    model.kernels.erase(model.kernels.begin() + number);
    for (Program& program : model.programs)
        for (std::vector<Step>* steps : {&program.prepare, &program.steps})
            for (Step& step : *steps) step.kernel -= step.kernel > number;
}

/// The kernel that is `larger` without its statistics; -1: there is none.
int find_smaller(const Model& model, int larger, const std::set<int>& statistics) {
    const Kernel wanted = without(model.kernels[std::size_t(larger)], statistics);
    for (int other = 0; other < int(model.kernels.size()); ++other) {
        const Kernel& kernel = model.kernels[std::size_t(other)];
        const bool may_be =
            other != larger && !kernel.steps && kernel.buffers.size() == wanted.buffers.size() &&
            kernel.axes.size() == wanted.axes.size() && kernel.nodes.size() >= wanted.nodes.size();
        if (!may_be) continue;
        if (kernel::same_kernel(without(kernel, {}), wanted)) return other;
    }
    return -1;
}

}  // namespace

void share_statistics(Model& model) {
    for (int larger = 0; larger < int(model.kernels.size()); ++larger) {
        Kernel& kernel = model.kernels[std::size_t(larger)];
        const std::set<int> statistics = kernel.steps ? std::set<int>() : statistics_of(kernel);
        if (statistics.empty()) continue;
        const int smaller = find_smaller(model, larger, statistics);
        if (smaller < 0) continue;
        set_optional(kernel, model.kernels[std::size_t(smaller)], statistics);
        for (Program& program : model.programs)
            replace(program, smaller, larger, kernel, statistics);
        erase(model, smaller, larger);
        if (smaller < larger) --larger;
    }
    for (Program& program : model.programs) set_lifetimes(program, model.kernels);
}

}  // namespace fovea::plan
