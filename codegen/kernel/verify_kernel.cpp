// Walks the blocks once with what is in scope, and checks every node by its kind.
#include "codegen/kernel/verify_kernel.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/kernel/infer_types.h"

namespace fovea::kernel {
namespace {

class Verifier {
  public:
    explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

    void run() {
        find_loops(kernel_.body);
        check_block(kernel_.body);
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (!placed_.contains(id)) fail(id, "is in no block");
    }

  private:
    [[noreturn]] void fail(Id id, const std::string& what) const {
        const std::string name = id >= 0 && id < Id(kernel_.nodes.size())
                                     ? kernel_.nodes[std::size_t(id)].name
                                     : std::string();
        throw InternalError("kernel " + kernel_.name + ": node " + std::to_string(id) +
                            (name.empty() ? "" : " (" + name + ")") + " " + what);
    }

    void find_loops(const std::vector<Id>& block) {
        for (Id id : block) {
            if (id < 0 || id >= Id(kernel_.nodes.size())) fail(id, "does not exist");
            auto loop = as<Loop>(kernel_, id);
            if (!loop) continue;
            check_axis_exists(id, loop->axis);
            if (loop->kind == LoopKind::tiles) looped_.insert(loop->axis);
            else if (!looped_.insert(loop->axis).second)
                fail(id, "is a second loop over axis " + axis_name(loop->axis));
            find_loops(loop->body);
        }
    }

    /// The block of `loop`, or the whole kernel's.
    void check_block(const std::vector<Id>& block, const Loop* loop = nullptr) {
        std::vector<Id> made;
        for (Id id : block) {
            if (!placed_.insert(id).second) fail(id, "is in two blocks");
            check_node(id);
            if (!as<Loop>(kernel_, id)) in_scope_.insert(id), made.push_back(id);
        }
        if (loop)
            for (const Carry& carry : loop->carries) check_carry(carry);
        for (Id id : made) in_scope_.erase(id);
    }

    void check_carry(const Carry& carry) {
        if (!in_scope_.contains(carry.argument) || !as<Carried>(kernel_, carry.argument))
            fail(carry.argument, "is carried by a loop that it is not in");
        if (!in_scope_.contains(carry.next))
            fail(carry.next, "is the next value of a loop that does not make it");
        const Node& argument = kernel_.nodes[std::size_t(carry.argument)];
        const Node& next = kernel_.nodes[std::size_t(carry.next)];
        if (next.axes != argument.axes || next.dtype != argument.dtype)
            fail(carry.next, "has another type than the carried value it becomes");
    }

    void check_node(Id id) {
        if (auto loop = as<Loop>(kernel_, id)) return check_loop(id, *loop);
        if (auto result = as<Result>(kernel_, id)) check_result(id, *result);
        check_references(id);
        const Node& node = kernel_.nodes[std::size_t(id)];
        if (auto store = std::get_if<Store>(&node.operation)) return check_store(id, *store);
        if (node.axes != tile_axes(kernel_, node.operation, points_))
            fail(id, "has other axes than its operands give it");
        if (node.dtype != tile_dtype(kernel_, node.operation, node.dtype))
            fail(id, "is declared " + std::string(name_of(node.dtype)) + " but is " +
                         std::string(name_of(tile_dtype(kernel_, node.operation, node.dtype))));
        if (auto reduce = std::get_if<Reduce>(&node.operation)) {
            check_reduced(id, reduce->axes, {reduce->operand});
            if (reduce->blocks >= 0) check_axis_exists(id, reduce->blocks);
        }
        if (auto contract = std::get_if<Contract>(&node.operation)) {
            check_reduced(id, contract->axes, {contract->a, contract->b});
            if (contract->blocks >= 0) check_axis_exists(id, contract->blocks);
        }
    }

    void check_loop(Id id, const Loop& loop) {
        const bool has_bounds = loop.lower >= 0 || loop.upper >= 0;
        if (loop.kind != LoopKind::tiles && (has_bounds || !loop.carries.empty()))
            fail(id, "has bounds or carried values and is no loop over tiles");
        check_references(id);
        for (Id bound : {loop.lower, loop.upper})
            if (bound >= 0) check_bound(id, loop, kernel_.nodes[std::size_t(bound)]);
        if (!open_.insert(loop.axis).second)
            fail(id, "is inside of another loop over axis " + axis_name(loop.axis));
        if (leaves_types(loop.kind)) points_.push_back(loop.axis);
        check_block(loop.body, &loop);
        if (leaves_types(loop.kind)) points_.pop_back();
        open_.erase(loop.axis);
    }

    void check_bound(Id id, const Loop& loop, const Node& bound) const {
        if (bound.dtype != DType::i32) fail(id, "has a bound that is not i32");
        for (AxisId axis : bound.axes)
            if (axis == loop.axis) fail(id, "has a bound that moves along its own axis");
    }

    void check_result(Id id, const Result& result) const {
        auto loop = result.loop < id ? as<Loop>(kernel_, result.loop) : nullptr;
        if (!loop || !placed_.contains(result.loop) || result.number < 0 ||
            result.number >= int(loop->carries.size()))
            fail(id, "is the result of nothing that a loop before it carries");
    }

    /// Every id, axis and buffer that the node names exists and is in scope.
    void check_references(Id id) {
        for (Id operand : operands_of(kernel_, id))
            if (!in_scope_.contains(operand))
                fail(id, "uses node " + std::to_string(operand) + ", which is not in scope");
        if (auto index = as<Index>(kernel_, id)) check_axis(id, index->axis);
        if (auto valid = as<Valid>(kernel_, id)) check_axis(id, valid->axis);
        if (auto constant = as<Constant>(kernel_, id))
            for (AxisId axis : constant->axes) check_axis(id, axis);
        if (auto load = as<Load>(kernel_, id)) check_access(id, load->access);
        if (auto store = as<Store>(kernel_, id)) check_access(id, store->access);
        if (auto random = as<Random>(kernel_, id)) {
            for (const Stride& stride : random->row) check_axis(id, stride.axis);
            for (const Stride& stride : random->column) check_axis(id, stride.axis);
        }
        if (auto map = as<Map>(kernel_, id)) check_map(id, *map);
    }

    void check_map(Id id, const Map& map) {
        const ElementwiseRow& row = row_of(map.function);
        if (int(map.operands.size()) != row.arity)
            fail(id, std::string(row.name) + " takes " + std::to_string(row.arity) +
                         " operands, not " + std::to_string(map.operands.size()));
        if (map.function == Elementwise::where &&
            kernel_.nodes[std::size_t(map.operands[0])].dtype != DType::boolean)
            fail(id, "has a condition that is not boolean");
    }

    void check_access(Id id, const Access& access) {
        if (access.buffer < 0 || access.buffer >= int(kernel_.buffers.size()))
            fail(id, "accesses buffer " + std::to_string(access.buffer) + ", which does not exist");
        const Buffer& buffer = kernel_.buffers[std::size_t(access.buffer)];
        if (buffer.optional && !as<Store>(kernel_, id))
            fail(id, "reads " + buffer.name + ", which need not be there");
        std::set<AxisId> seen;
        for (const Stride& stride : access.strides) {
            check_axis(id, stride.axis);
            if (!seen.insert(stride.axis).second)
                fail(id, "has two strides along axis " + axis_name(stride.axis));
        }
        if (access.row >= 0 && kernel_.nodes[std::size_t(access.row)].dtype != DType::i32)
            fail(id, "picks a row by a tile that is not i32");
    }

    void check_store(Id id, const Store& store) {
        const Buffer& buffer = kernel_.buffers[std::size_t(store.access.buffer)];
        if (!buffer.written) fail(id, "stores to " + buffer.name + ", which is only read");
        if (buffer.optional && store.accumulate)
            fail(id, "adds to " + buffer.name + ", which need not be there");
        std::vector<AxisId> allowed;
        for (const Stride& stride : store.access.strides) allowed.push_back(stride.axis);
        if (store.access.row >= 0)
            for (AxisId axis : kernel_.nodes[std::size_t(store.access.row)].axes)
                allowed.push_back(axis);
        for (AxisId axis : kernel_.nodes[std::size_t(store.value)].axes)
            if (std::find(allowed.begin(), allowed.end(), axis) == allowed.end())
                fail(id, "stores a tile over axis " + axis_name(axis) +
                             ", along which its access does not move");
    }

    void check_reduced(Id id, const std::vector<AxisId>& axes, const std::vector<Id>& operands) {
        if (axes.empty()) fail(id, "reduces no axis");
        for (Id operand : operands)
            for (AxisId axis : axes) {
                check_axis_exists(id, axis);
                const auto& own = kernel_.nodes[std::size_t(operand)].axes;
                if (std::find(own.begin(), own.end(), axis) == own.end())
                    fail(id, "reduces axis " + axis_name(axis) + ", which node " +
                                 std::to_string(operand) + " does not have");
            }
    }

    void check_axis_exists(Id id, AxisId axis) const {
        if (axis < 0 || axis >= AxisId(kernel_.axes.size()))
            fail(id, "names axis " + std::to_string(axis) + ", which does not exist");
    }

    void check_axis(Id id, AxisId axis) const {
        check_axis_exists(id, axis);
        if (looped_.contains(axis) && !open_.contains(axis))
            fail(id, "uses axis " + axis_name(axis) + " outside its loop");
    }

    const std::string& axis_name(AxisId axis) const { return kernel_.axes[std::size_t(axis)].name; }

    const Kernel& kernel_;
    std::set<AxisId> looped_, open_;
    std::set<Id> placed_, in_scope_;
    std::vector<AxisId> points_;
};

}  // namespace

namespace {

void verify_steps(const Kernel& kernel) {
    const auto refuse = [&](const std::string& what) {
        throw InternalError("kernel " + kernel.name + ": " + what);
    };
    const auto check = [&](const StepArgument& argument, bool written) {
        if (argument.buffer < 0 || argument.buffer >= int(kernel.buffers.size()))
            refuse("a step has a buffer that does not exist");
        if (written && !kernel.buffers[std::size_t(argument.buffer)].written)
            refuse("a step writes a buffer that is only read");
    };
    for (const Kernel& step : kernel.steps->kernels) verify_kernel(step);
    for (const StepCall& call : kernel.steps->calls) {
        if (call.kernel < 0 || call.kernel >= int(kernel.steps->kernels.size()))
            refuse("a step calls a kernel that does not exist");
        const Kernel& called = kernel.steps->kernels[std::size_t(call.kernel)];
        if (call.arguments.size() != called.buffers.size())
            refuse("a step gives " + called.name + " too few or too many buffers");
        for (std::size_t i = 0; i < call.arguments.size(); ++i)
            check(call.arguments[i], called.buffers[i].written);
    }
    for (const StepStart& start : kernel.steps->starts) {
        if (start.from.buffer >= 0) check(start.from, false);
        check(start.to, true);
    }
    const kernel::Steps& steps = *kernel.steps;
    if (steps.chunk < 0 || (steps.chunk > 0) != bool(steps.positions))
        refuse("its chunks have no size, or no name for it");
    if (steps.chunk && (steps.reverse || steps.rows))
        refuse("a loop over chunks runs from the first to the last, on all threads together");
}

}  // namespace

void verify_kernel(const Kernel& kernel) {
    if (kernel.steps) verify_steps(kernel);
    Verifier(kernel).run();
    if (kernel.form != form_of_loops(kernel))
        throw InternalError("kernel " + kernel.name + ": its loops are not those of its form");
}

}  // namespace fovea::kernel
