#include "codegen/lower/chunk_loop.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/analysis/same_kernel.h"

namespace fovea::lower {

namespace {

Dim size_called(Symbol symbol) {
    Text name;
    name << symbol;
    return Dim(name.view());
}

/// A size where symbol `of` is `value`.
Dim with_size(const Dim& dim, Symbol of, std::int64_t value) {
    Dim result(dim.constant());
    for (const DimTerm& term : dim.terms()) {
        Dim product(term.factor);
        for (Symbol symbol : term.symbols)
            product = product * (symbol == of ? Dim(value) : size_called(symbol));
        result = result + product;
    }
    return result;
}

bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

ChunkLoop::ChunkLoop(Memories& memories, std::string_view positions, std::int64_t chunk,
                     const Dim& count, ChunkLoop* around)
    : memories_(memories), around_(around) {
    steps_.count = count.without_label();
    steps_.chunk = chunk;
    steps_.positions = Symbol(positions);
}

int ChunkLoop::add_operand(Operand operand) {
    const auto same = std::find_if(operands_.begin(), operands_.end(), [&](const Operand& known) {
        return around_ ? known.place.operand == operand.place.operand &&
                             known.place.step == operand.place.step
                       : known.memory == operand.memory;
    });
    if (same != operands_.end()) return int(same - operands_.begin());
    const auto taken = [&](const std::string& name) {
        return std::any_of(operands_.begin(), operands_.end(),
                           [&](const Operand& known) { return known.buffer.name == name; });
    };
    const std::string name = operand.buffer.name;
    for (int i = 2; taken(operand.buffer.name); ++i)
        operand.buffer.name = name + "_" + std::to_string(i);
    operands_.push_back(std::move(operand));
    return int(operands_.size()) - 1;
}

int ChunkLoop::operand(int memory) {
    const Memory& what = memories_[memory];
    std::string name = what.name;
    std::replace(name.begin(), name.end(), '.', '_');
    return add_operand({{name, what.dtype, what.shape}, memory});
}

int ChunkLoop::operand(const std::string& name, DType dtype, const std::vector<Dim>& shape,
                       const ChunkPlace& place) {
    return add_operand({{name, dtype, shape}, -1, place});
}

int ChunkLoop::scratch(const std::string& name, DType dtype, const std::vector<Dim>& shape) {
    std::vector<Dim> whole;
    for (const Dim& dim : shape)
        whole.push_back(with_size(dim.without_label(), steps_.positions, steps_.chunk));
    if (!around_) return operand(memories_.scratch(name, dtype, whole));
    return operand(name, dtype, whole, {around_->scratch(name, dtype, whole), Dim(0)});
}

void ChunkLoop::clear(int operand, const Dim& size) {
    kernel::StepStart start;
    start.from.buffer = -1;
    start.to.buffer = operand;
    start.size = size.without_label();
    steps_.starts.push_back(start);
    operands_[std::size_t(operand)].buffer.written = true;
}

void ChunkLoop::add(const std::string& name, const Graph& graph, const ChunkPlaces& places) {
    const fuse::FusedGraph fused = fuse::fuse(graph, true);
    const Lowered lowered = lower(graph, fused, memories_.target(), memories_.takes_tf32());
    std::map<int, int> own;  // memories that only the graph needs, as operands
    const auto place_of = [&](int number) -> ChunkPlace {
        const Memory& memory = lowered.memories[std::size_t(number)];
        const Node& node = graph[std::max(memory.node, 0)];
        const int output =
            memory.node < 0 || memory.parts ? -1 : fused.output_of[std::size_t(memory.node)];
        const bool named = memory.node > 0 && node.op == Op::input;
        if (named || output >= 0)
            return places.at(std::string(named ? node.name : graph[output].name));
        auto [at, fresh] = own.try_emplace(number, 0);
        if (fresh) at->second = scratch(memory.name, memory.dtype, memory.shape);
        return {at->second, Dim(0)};
    };
    for (LoweredKernel kernel : lowered.kernels) {
        kernel.kernel.name = name;
        std::vector<Argument> arguments;
        for (std::size_t i = 0; i < kernel.memories.size(); ++i) {
            const ChunkPlace place = place_of(kernel.memories[i]);
            arguments.push_back({place.operand, place.step, kernel.kernel.buffers[i].written});
        }
        call(kernel.kernel, arguments);
    }
}

void ChunkLoop::add(ChunkLoop& inner, const std::string& name, const std::string& formula) {
    const std::vector<int> order = inner.order();
    std::vector<Argument> arguments;
    for (int i : order) {
        const Operand& operand = inner.operands_[std::size_t(i)];
        arguments.push_back({operand.place.operand, operand.place.step, operand.buffer.written});
    }
    call(inner.make(name, formula, order), arguments);
}

void ChunkLoop::call(kernel::Kernel kernel, const std::vector<Argument>& arguments) {
    for (const ChunkLoop* loop = this; loop; loop = loop->around_)
        for (kernel::Axis& axis : kernel.axes)
            if (axis.extent == size_called(loop->steps_.positions)) axis.most = loop->steps_.chunk;
    auto& kernels = steps_.kernels;
    auto same = std::find_if(kernels.begin(), kernels.end(), [&](const kernel::Kernel& known) {
        return kernel::same_kernel(known, kernel);
    });
    kernel::StepCall call{int(same - kernels.begin()), {}};
    if (same == kernels.end()) {
        const std::string name = kernel.name;
        const auto taken = [&](const kernel::Kernel& other) { return other.name == kernel.name; };
        for (int i = 2; std::any_of(kernels.begin(), kernels.end(), taken); ++i)
            kernel.name = name + "_" + std::to_string(i);
        for (const std::string& source : kernel.sources)
            if (std::find(sources_.begin(), sources_.end(), source) == sources_.end())
                sources_.push_back(source);
        kernels.push_back(std::move(kernel));
    }
    for (const Argument& argument : arguments) {
        call.arguments.push_back({argument.operand, Dim(0), argument.step, Dim(0)});
        call.waits = call.waits || contains(wrote_, argument.operand) ||
                     (argument.written && contains(read_, argument.operand));
        if (argument.written) operands_[std::size_t(argument.operand)].buffer.written = true;
    }
    if (call.waits) wrote_.clear(), read_.clear();
    for (const Argument& argument : arguments)
        (argument.written ? wrote_ : read_).push_back(argument.operand);
    steps_.calls.push_back(std::move(call));
}

std::vector<int> ChunkLoop::order() const {
    std::vector<int> order;
    for (bool written : {false, true})
        for (int i = 0; i < int(operands_.size()); ++i)
            if (operands_[std::size_t(i)].buffer.written == written) order.push_back(i);
    return order;
}

kernel::Kernel ChunkLoop::make(const std::string& name, const std::string& formula,
                               const std::vector<int>& order) const {
    kernel::Kernel kernel{.name = name,
                          .formula = formula,
                          .sources = sources_,
                          .axes = {},
                          .buffers = {},
                          .nodes = {},
                          .body = {}};
    std::vector<int> number(operands_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        number[std::size_t(order[i])] = int(i);
        kernel.buffers.push_back(operands_[std::size_t(order[i])].buffer);
    }
    kernel::Steps steps = steps_;
    for (kernel::StepCall& call : steps.calls)
        for (kernel::StepArgument& argument : call.arguments)
            argument.buffer = number[std::size_t(argument.buffer)];
    for (kernel::StepStart& start : steps.starts)
        start.to.buffer = number[std::size_t(start.to.buffer)];
    kernel.steps = std::make_shared<const kernel::Steps>(std::move(steps));
    kernel.form = kernel::Form::scan;
    return kernel;
}

LoweredKernel ChunkLoop::finish(const std::string& name, const std::string& formula) {
    const std::vector<int> order = this->order();
    LoweredKernel lowered{make(name, formula, order), {}};
    for (int i : order) lowered.memories.push_back(operands_[std::size_t(i)].memory);
    return lowered;
}

}  // namespace fovea::lower
