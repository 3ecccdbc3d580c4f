// What every analysis of a kernel needs: the values that a node reads.
#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

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

}  // namespace fovea::kernel
