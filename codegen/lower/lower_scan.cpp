// A scan as one kernel: its step is fused and lowered like a graph of its own, and every memory of
// the step becomes a place in the scan's: this step's part of a sequence, the state before or
// after it, what all steps share, or what only the step itself needs.
#include <algorithm>
#include <string>

#include "codegen/base/error.h"
#include "codegen/graph/axes.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/kernel/analysis/same_kernel.h"
#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

namespace {

Dim size_of(const std::vector<Dim>& shape, std::size_t first = 0) {
    Dim size(1);
    for (std::size_t i = first; i < shape.size(); ++i) size = size * shape[i].without_label();
    return size;
}
std::vector<Dim> dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// Products of a step are taken whole: threads run steps of their own rows.
target::Lowering in_steps(target::Lowering target) {
    target.product_blocks = 1;
    return target;
}

class ScanLowering {
  public:
    ScanLowering(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                 Memories& memories)
        : graph_(graph),
          fused_(fused),
          group_(group),
          memories_(memories),
          node_(graph[group.anchor]),
          scan_(scan_of(graph, group.anchor)),
          function_(*scan_.function),
          step_(with_parameters()),
          fused_step_(fuse::fuse(step_, fused.enabled)),
          lowered_(lower(step_, fused_step_, in_steps(memories.target()), memories.takes_tf32())) {}

    LoweredKernel run() {
        steps_.count = scan_.steps.without_label();
        steps_.reverse = scan_.reverse;
        steps_.rows = shared_rows();
        for (int j = 0; j < function_.states; ++j) add_start(j);
        for (const LoweredKernel& kernel : lowered_.kernels)
            if (!is_transposed_copy(kernel)) add_call(kernel);
        return finish();
    }

  private:
    /// The step, in which what it reads of parameters are parameters again: contractions have
    /// transposed copies of these.
    Graph with_parameters() const {
        return Rewrite::run(function_.step, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            const Node& node = function_.step[id];
            if (node.port.role != Role::capture) return {};
            const Node& from = graph_[captured(node.port.number)];
            if (!is_weight(from)) return {};
            Node parameter = node;
            parameter.op = Op::parameter;
            parameter.scope = from.scope;
            return make(rewrite.target(), parameter);
        });
    }
    int captured(int number) const {
        return node_.inputs[std::size_t(function_.sequences + function_.states + number)];
    }

    Symbol shared_rows() const {
        const int output = find_output(step_, port_of_result(function_, 0));
        const Shape& shape = step_[output].shape;
        const Symbol rows = shape.rank() ? shape[0].bare_symbol() : Symbol();
        if (!rows || why_rows_are_mixed(step_, rows)) return {};
        for (const LoweredKernel& kernel : lowered_.kernels)
            for (std::size_t i = 0; i < kernel.memories.size(); ++i) {
                const Memory& memory = lowered_.memories[std::size_t(kernel.memories[i])];
                const bool first = !memory.shape.empty() && memory.shape[0].bare_symbol() == rows;
                if (kernel.kernel.buffers[i].written && !memory.transposed && !first) return {};
            }
        return rows;
    }
    bool is_transposed_copy(const LoweredKernel& kernel) const {
        for (std::size_t i = 0; i < kernel.memories.size(); ++i)
            if (kernel.kernel.buffers[i].written)
                return lowered_.memories[std::size_t(kernel.memories[i])].transposed;
        return false;
    }
    Dim row_stride(const std::vector<Dim>& shape) const {
        const bool rows = steps_.rows && !shape.empty() && shape[0].bare_symbol() == steps_.rows;
        return rows ? size_of(shape, 1) : Dim(0);
    }

    /// A place in memory `memory` of the program; the buffer's number is found in the end.
    kernel::StepArgument place(int memory, bool written, const Dim& offset, const Dim& step,
                               const std::vector<Dim>& shape) {
        auto at = std::find(outside_.begin(), outside_.end(), memory);
        const int number = int(at - outside_.begin());
        if (at == outside_.end()) {
            outside_.push_back(memory);
            written_.push_back(false);
        }
        if (written) written_[std::size_t(number)] = true;
        return {number, offset, step, row_stride(shape)};
    }
    /// Value `input` of the program as a whole, from its first element on.
    kernel::StepArgument outside(int input, const Dim& step, const std::vector<Dim>& shape) {
        const fuse::Layout& layout = fused_.layouts[std::size_t(input)];
        return place(memories_.of(layout.base), false, layout.offset, step, shape);
    }
    /// The memory of result `number`, all steps; one of its own where nobody else reads it.
    int memory_of_result(int number, const Node& value, const Dim& count) {
        for (int id : group_.nodes)
            if (graph_[id].axis == number && fused_.layouts[std::size_t(id)].base == id)
                return memories_.of(id);
        auto [at, fresh] = unread_.try_emplace(number, 0);
        if (!fresh) return at->second;
        std::vector<Dim> shape = dims_of(value.shape);
        shape.insert(shape.begin(), count);
        const bool state = number < function_.states;
        return at->second = memories_.scratch(group_.name + (state ? ".state" : ".unread"),
                                              value.dtype, shape);
    }
    /// State `number` before a step or after it.
    kernel::StepArgument state(int number, bool after) {
        const Node& value = step_[find_output(step_, Port{Role::next, number})];
        const std::vector<Dim> shape = dims_of(value.shape);
        const Dim size = size_of(shape);
        const int memory = memory_of_result(number, value, steps_.count + 1);
        const bool second = after != steps_.reverse;
        return place(memory, after, second ? size : Dim(0), size, shape);
    }

    kernel::StepArgument argument(int number, bool written) {
        const Memory& memory = lowered_.memories[std::size_t(number)];
        if (memory.parts || memory.node < 0) return own(number);
        const Node& node = step_[memory.node];
        if (node.op == Op::parameter) return parameter(memory);
        if (node.op == Op::input) return input(node);
        const int output = fused_step_.output_of[std::size_t(memory.node)];
        if (output < 0) return own(number);
        const Node& result = step_[output];
        if (result.port.role == Role::next) return state(result.port.number, true);
        const int of = result.port.number + function_.states;
        const std::vector<Dim> shape = dims_of(result.shape);
        return place(memory_of_result(of, result, steps_.count), written, Dim(0), size_of(shape),
                     shape);
    }
    kernel::StepArgument parameter(const Memory& memory) {
        const std::string path = step_.path(step_[memory.node].scope);
        for (int i = 0; i < function_.captures; ++i) {
            const Node& node = graph_[captured(i)];
            if (node.op != Op::parameter || graph_.path(node.scope) != path) continue;
            const int base = fused_.layouts[std::size_t(captured(i))].base;
            return {place(memory.transposed ? memories_.transposed(base) : memories_.of(base),
                          false, Dim(0), Dim(0), {})};
        }
        throw InternalError("lower: a step has a parameter that it does not read");
    }
    kernel::StepArgument input(const Node& node) {
        const std::vector<Dim> shape = dims_of(node.shape);
        const int number = node.port.number;
        if (node.port.role == Role::value)
            return outside(node_.inputs[std::size_t(number)], size_of(shape), shape);
        if (node.port.role == Role::state) return state(number, false);
        return outside(captured(number), Dim(0), shape);
    }
    /// Memory that only the step needs.
    kernel::StepArgument own(int number) {
        auto [at, fresh] = own_.try_emplace(number, 0);
        const Memory& memory = lowered_.memories[std::size_t(number)];
        if (fresh) at->second = memories_.scratch(memory.name, memory.dtype, memory.shape);
        return place(at->second, true, Dim(0), Dim(0), memory.shape);
    }

    void add_start(int number) {
        const int initial = node_.inputs[std::size_t(function_.sequences + number)];
        const std::vector<Dim> shape = dims_of(graph_[initial].shape);
        kernel::StepStart start;
        start.from = outside(initial, Dim(0), shape);
        start.to = state(number, true);
        start.to.step = Dim(0);
        start.to.offset = steps_.reverse ? steps_.count * size_of(shape) : Dim(0);
        start.size = steps_.rows ? size_of(shape, 1) : size_of(shape);
        steps_.starts.push_back(start);
    }

    void add_call(const LoweredKernel& from) {
        int number = 0;
        const auto& kernels = steps_.kernels;
        while (number < int(kernels.size()) &&
               !kernel::same_kernel(kernels[std::size_t(number)], from.kernel))
            ++number;
        if (number == int(kernels.size())) {
            kernel::Kernel own = from.kernel;
            auto taken = [&](const kernel::Kernel& other) { return other.name == own.name; };
            for (int i = 2; std::any_of(kernels.begin(), kernels.end(), taken); ++i)
                own.name = from.kernel.name + "_" + std::to_string(i);
            steps_.kernels.push_back(std::move(own));
        }
        kernel::StepCall call{number, {}};
        for (std::size_t i = 0; i < from.memories.size(); ++i) {
            const bool written = from.kernel.buffers[i].written;
            call.arguments.push_back(argument(from.memories[i], written));
            const int memory = from.memories[i];
            auto touched = [&](const std::vector<int>& list) {
                return std::find(list.begin(), list.end(), memory) != list.end();
            };
            call.waits = call.waits || touched(wrote_) || (written && touched(read_));
        }
        if (call.waits) wrote_.clear(), read_.clear();
        for (std::size_t i = 0; i < from.memories.size(); ++i)
            (from.kernel.buffers[i].written ? wrote_ : read_).push_back(from.memories[i]);
        steps_.calls.push_back(std::move(call));
        for (const std::string& source : from.kernel.sources)
            if (std::find(sources_.begin(), sources_.end(), source) == sources_.end())
                sources_.push_back(source);
    }

    /// Gives the memories their buffers, those that are only read first.
    LoweredKernel finish() {
        GroupBuilder build(graph_, fused_, group_, memories_, group_.name);
        std::vector<int> buffers(outside_.size());
        for (bool written : {false, true})
            for (std::size_t i = 0; i < outside_.size(); ++i)
                if (written_[i] == written) buffers[i] = build.buffer(outside_[i], written);
        auto set = [&](kernel::StepArgument& argument) {
            argument.buffer = buffers[std::size_t(argument.buffer)];
        };
        for (kernel::StepCall& call : steps_.calls)
            for (kernel::StepArgument& argument : call.arguments) set(argument);
        for (kernel::StepStart& start : steps_.starts) set(start.from), set(start.to);
        LoweredKernel kernel =
            build.finish(std::string("a loop over ") +
                         (steps_.reverse ? "the steps, the last one first" : "the steps"));
        kernel.kernel.steps = std::make_shared<const kernel::Steps>(std::move(steps_));
        kernel.kernel.form = kernel::Form::scan;
        kernel.kernel.sources = sources_;
        return kernel;
    }

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    const fuse::Group& group_;
    Memories& memories_;
    const Node& node_;
    const ScanAttributes& scan_;
    const ScanFunction& function_;
    const Graph step_;
    const fuse::FusedGraph fused_step_;
    const Lowered lowered_;
    kernel::Steps steps_;
    std::vector<int> outside_;      // memories of the program
    std::vector<bool> written_;
    std::map<int, int> own_, unread_;
    std::vector<int> wrote_, read_;  // by the calls since the last wait
    std::vector<std::string> sources_;
};

}  // namespace

LoweredKernel lower_scan(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories) {
    return ScanLowering(graph, fused, group, memories).run();
}

}  // namespace fovea::lower
