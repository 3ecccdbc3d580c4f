// One walk over the blocks each.
#include "codegen/kernel/analysis/blocks.h"

#include <algorithm>

#include "codegen/kernel/infer_types.h"

namespace fovea::kernel {
namespace {

void find_positions(const Kernel& kernel, const std::vector<Id>& block, std::vector<Id>& loops,
                    std::vector<Position>& positions) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        positions[std::size_t(block[i])] = {loops, int(i)};
        if (auto loop = as<Loop>(kernel, block[i])) {
            loops.push_back(block[i]);
            find_positions(kernel, loop->body, loops, positions);
            loops.pop_back();
        }
    }
}

/// Calls `change` for every id that an operation holds, but for those of its block.
template <class Change>
void for_each_id(Operation& operation, const Change& change) {
    const auto access = [&](Access& at) { change(at.row); };
    if (auto load = std::get_if<Load>(&operation)) access(load->access);
    if (auto map = std::get_if<Map>(&operation))
        for (Id& operand : map->operands) change(operand);
    if (auto reduce = std::get_if<Reduce>(&operation)) change(reduce->operand);
    if (auto contract = std::get_if<Contract>(&operation)) change(contract->a), change(contract->b);
    if (auto store = std::get_if<Store>(&operation)) access(store->access), change(store->value);
    if (auto valid = std::get_if<Valid>(&operation)) change(valid->lower), change(valid->upper);
    if (auto carried = std::get_if<Carried>(&operation)) change(carried->initial);
    if (auto result = std::get_if<Result>(&operation)) change(result->loop);
    if (auto loop = std::get_if<Loop>(&operation)) {
        change(loop->lower), change(loop->upper);
        for (Carry& carry : loop->carries)
            change(carry.initial), change(carry.argument), change(carry.next);
    }
}

/// The new numbers of a block's nodes, a loop's after those of its block.
void number_block(const Kernel& kernel, const std::vector<Id>& block, std::vector<Id>& numbers,
                  std::vector<Id>& order) {
    for (Id id : block) {
        if (auto loop = as<Loop>(kernel, id)) number_block(kernel, loop->body, numbers, order);
        numbers[std::size_t(id)] = Id(order.size());
        order.push_back(id);
    }
}

}  // namespace

std::vector<Position> positions_of(const Kernel& kernel) {
    std::vector<Position> positions(kernel.nodes.size());
    std::vector<Id> loops;
    find_positions(kernel, kernel.body, loops, positions);
    return positions;
}

std::vector<std::vector<Id>> users_of(const Kernel& kernel) {
    std::vector<std::vector<Id>> users(kernel.nodes.size());
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        for (Id operand : operands_of(kernel, id)) users[std::size_t(operand)].push_back(id);
        if (auto loop = as<Loop>(kernel, id))
            for (const Carry& carry : loop->carries) users[std::size_t(carry.next)].push_back(id);
    }
    return users;
}

std::vector<Id>& block_of(Kernel& kernel, Id loop) {
    return loop < 0 ? kernel.body : as<Loop>(kernel, loop)->body;
}

bool encloses(const Position& position, const Position& other) {
    return position.loops.size() <= other.loops.size() &&
           std::equal(position.loops.begin(), position.loops.end(), other.loops.begin());
}

Id add_node(Kernel& kernel, Operation operation, DType dtype, std::string name) {
    std::vector<AxisId> points;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            if (leaves_types(loop->kind)) points.push_back(loop->axis);
    Node node;
    node.axes = tile_axes(kernel, operation, points);
    node.dtype = tile_dtype(kernel, operation, dtype);
    node.operation = std::move(operation);
    node.name = std::move(name);
    kernel.nodes.push_back(std::move(node));
    return Id(kernel.nodes.size()) - 1;
}

Id insert_node(Kernel& kernel, Id loop, int index, Operation operation, DType dtype,
               std::string name) {
    const Id id = add_node(kernel, std::move(operation), dtype, std::move(name));
    std::vector<Id>& block = block_of(kernel, loop);
    block.insert(block.begin() + index + 1, id);
    return id;
}

void replace_uses(Kernel& kernel, Id from, Id to) {
    for (Node& node : kernel.nodes)
        for_each_id(node.operation, [&](Id& id) {
            if (id == from) id = to;
        });
}

void drop_node(Kernel& kernel, Id id) {
    for (Id loop = -1; loop < Id(kernel.nodes.size()); ++loop)
        if (loop < 0 || as<Loop>(kernel, loop)) std::erase(block_of(kernel, loop), id);
}

void renumber(Kernel& kernel) {
    std::vector<Id> numbers(kernel.nodes.size(), -1), order;
    number_block(kernel, kernel.body, numbers, order);
    const auto change = [&](Id& id) {
        if (id >= 0) id = numbers[std::size_t(id)];
    };
    std::vector<Node> nodes;
    for (Id id : order) {
        nodes.push_back(kernel.nodes[std::size_t(id)]);
        for_each_id(nodes.back().operation, change);
        if (auto loop = std::get_if<Loop>(&nodes.back().operation))
            for (Id& inner : loop->body) change(inner);
    }
    for (Id& id : kernel.body) change(id);
    kernel.nodes = std::move(nodes);
}

}  // namespace fovea::kernel
