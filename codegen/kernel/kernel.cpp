// What every analysis of a kernel needs: its form, the values that a node reads, where it draws.
#include "codegen/kernel/kernel.h"

#include <algorithm>

namespace fovea::kernel {

Form form_of_loops(const Kernel& kernel) {
    if (kernel.steps) return Form::scan;
    bool contracts = false, in_order = false;
    for (const Node& node : kernel.nodes) {
        const auto* loop = std::get_if<Loop>(&node.operation);
        if (loop && loop->kind == LoopKind::tiles) return Form::tiles;
        in_order |= loop && loop->kind == LoopKind::seq;
        contracts |= std::holds_alternative<Contract>(node.operation);
    }
    return contracts ? Form::contraction : in_order ? Form::scatter : Form::rows;
}

Dim stride_along(const std::vector<Stride>& strides, AxisId axis) {
    for (const Stride& stride : strides)
        if (stride.axis == axis) return stride.panel ? Dim(stride.step) : stride.stride;
    return 0;
}

std::vector<int> sites_of(const Kernel& kernel) {
    std::vector<int> sites;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        const auto* random = as<Random>(kernel, id);
        if (!random || std::find(sites.begin(), sites.end(), random->site) != sites.end()) continue;
        sites.push_back(random->site);
    }
    return sites;
}

std::vector<Id> operands_of(const Kernel& kernel, Id id) {
    std::vector<Id> result;
    const auto add_row = [&](const Access& access) {
        if (access.row >= 0) result.push_back(access.row);
    };
    if (auto load = as<Load>(kernel, id)) add_row(load->access);
    if (auto map = as<Map>(kernel, id)) result = map->operands;
    if (auto reduce = as<Reduce>(kernel, id)) result = {reduce->operand};
    if (auto contract = as<Contract>(kernel, id)) result = {contract->a, contract->b};
    if (auto store = as<Store>(kernel, id)) {
        result = {store->value};
        add_row(store->access);
    }
    if (auto carried = as<Carried>(kernel, id)) result = {carried->initial};
    if (auto loop = as<Loop>(kernel, id)) {
        for (Id bound : {loop->lower, loop->upper})
            if (bound >= 0) result.push_back(bound);
        for (const Carry& carry : loop->carries) result.push_back(carry.initial);
    }
    if (auto valid = as<Valid>(kernel, id))
        for (Id bound : {valid->lower, valid->upper})
            if (bound >= 0) result.push_back(bound);
    return result;
}

void add_with_operands(const Kernel& kernel, Id id, std::set<Id>& found) {
    if (id < 0 || !found.insert(id).second) return;
    for (Id operand : operands_of(kernel, id)) add_with_operands(kernel, operand, found);
}

}  // namespace fovea::kernel
