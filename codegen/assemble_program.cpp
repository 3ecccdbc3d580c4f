#include "codegen/assemble_program.h"

#include <set>

#include "codegen/base/error.h"
#include "codegen/graph/scan_function.h"
#include "codegen/plan/lifetimes.h"
#include "codegen/plan/phases.h"

namespace fovea {

namespace {

std::vector<Dim> dims_of(const Shape& shape) {
    std::vector<Dim> dims;
    for (const Dim& dim : shape) dims.push_back(dim.without_label());
    return dims;
}

plan::Initial initial_of(Initial initial) {
    switch (initial) {
        case Initial::zeros: return plan::Initial::zeros;
        case Initial::ones: return plan::Initial::ones;
        case Initial::xavier_uniform: return plan::Initial::xavier_uniform;
        case Initial::normal: return plan::Initial::normal;
        case Initial::linear_bias: return plan::Initial::linear_bias;
    }
    return plan::Initial::zeros;
}

/// What the inputs of a model hold: ids of a table, labels of classes, lengths of an axis.
class InputContents {
  public:
    explicit InputContents(const Graph& graph) : graph_(graph) {
        std::vector<Origins> itself(graph.nodes.size());
        for (int id = 1; id < int(graph.nodes.size()); ++id)
            if (graph[id].op == Op::input) itself[std::size_t(id)] = {id};
        collect(graph, itself);
    }
    void describe(plan::Tensor& tensor) const {
        for (const Note& note : notes_)
            if (tensor.name == note.name &&
                (tensor.holds == plan::Holds::anything || is_tighter(note, tensor))) {
                tensor.holds = note.holds;
                tensor.limit = note.limit;
            }
    }

  private:
    struct Note {
        std::string name;
        plan::Holds holds;
        Dim limit;
    };
    /// Of two tables that the same ids are of, the smaller one says how large they may be.
    static bool is_tighter(const Note& note, const plan::Tensor& tensor) {
        return note.holds == tensor.holds && note.limit.is_static() && tensor.limit.is_static() &&
               note.limit.value() < tensor.limit.value();
    }
    /// The inputs of the model whose elements a value is made of, moved and not changed.
    using Origins = std::set<int>;

    /// `of_node`: the origins of the nodes of `graph`, the model's or the step of a scan.
    void collect(const Graph& graph, std::vector<Origins> of_node) {
        for (int id = 1; id < int(graph.nodes.size()); ++id) {
            const Node& node = graph[id];
            const auto& in = node.inputs;
            const auto shape = [&](std::size_t i) -> const Shape& { return graph[in[i]].shape; };
            const auto of = [&](std::size_t i) {
                return in[i] > 0 ? of_node[std::size_t(in[i])] : Origins();
            };
            for (int moved : moved_by(node)) of_node[std::size_t(id)].merge(of(std::size_t(moved)));
            if (node.op == Op::gather) note(of(1), plan::Holds::ids, node.dim);
            if (node.op == Op::smoothed_cross_entropy) note(of(1), plan::Holds::ids, shape(0)[-1]);
            if (node.op == Op::cross_entropy) {
                note(of(1), plan::Holds::ids, shape(0)[-1]);
                note(of(2), plan::Holds::lengths, shape(0)[-2]);
            }
            if (node.op == Op::attention) note(of(3), plan::Holds::lengths, shape(1)[-2]);
            if (node.op == Op::masked_softmax) note(of(3), plan::Holds::lengths, node.shape[-1]);
            if (is_scan(graph, id)) collect_step(graph, id, of_node);
        }
    }
    void collect_step(const Graph& graph, int id, const std::vector<Origins>& outside) {
        const ScanFunction& function = *scan_of(graph, id).function;
        std::vector<Origins> inside(function.step.nodes.size());
        for (int i = 0; i < function.inputs(); ++i) {
            const int capture = i - function.sequences - function.states;
            const int input = find_input(
                function.step, i < function.sequences ? scan_name(ScanName::value, i)
                               : capture < 0 ? scan_name(ScanName::state, i - function.sequences)
                                             : scan_name(ScanName::capture, capture));
            inside[std::size_t(input)] = outside[std::size_t(graph[id].inputs[std::size_t(i)])];
        }
        collect(function.step, inside);
    }
    /// Which operands a node takes elements of as they are.
    static std::vector<int> moved_by(const Node& node) {
        if (node.dtype != i32) return {};
        switch (node.op) {
            case Op::rearrange:
            case Op::broadcast:
            case Op::slice:
            case Op::stop_gradient:
            case Op::gather: return {0};
            case Op::concat: return {0, 1};
            default: return {};
        }
    }
    void note(const Origins& inputs, plan::Holds holds, const Dim& limit) {
        for (int id : inputs)
            notes_.push_back({std::string(graph_[id].name), holds, limit.without_label()});
    }

    const Graph& graph_;
    std::vector<Note> notes_;
};

class Assembly {
  public:
    Assembly(const Graph& graph, const fuse::FusedGraph& fused, const lower::Lowered& lowered,
             plan::KernelPool& pool)
        : graph_(graph), fused_(fused), lowered_(lowered), pool_(pool) {}

    plan::Program run(const Graph& model_graph, const std::vector<plan::Tensor>& parameters) {
        program_.tensors = parameters;
        add_inputs(InputContents(model_graph));
        add_outputs();
        add_buffers();
        for (const lower::LoweredKernel& kernel : lowered_.kernels) add_step(kernel);
        plan::form_phases(program_, pool_.kernels());
        plan::set_lifetimes(program_, pool_.kernels());
        return std::move(program_);
    }

  private:
    void add_inputs(const InputContents& contents) {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::input) continue;
            plan::Tensor tensor{.name = std::string(node.name),
                                .role = plan::Role::input,
                                .dtype = node.dtype,
                                .shape = dims_of(node.shape),
                                .limit = {}};
            tensor.node = id;
            contents.describe(tensor);
            program_.tensors.push_back(tensor);
        }
    }
    void add_outputs() {
        bool gradients = false;
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::output) continue;
            plan::Tensor tensor{.name = std::string(node.name),
                                .role = plan::Role::output,
                                .dtype = node.dtype,
                                .shape = dims_of(node.shape),
                                .limit = {}};
            tensor.node = id;
            program_.tensors.push_back(tensor);
            program_.needs.push_back(needs(id));
            gradients = gradients || node.name.ends_with(".grad");
        }
        if (gradients) program_.needs.clear();
    }
    /// The inputs that a node depends on, by number among the inputs.
    std::vector<int> needs(int node) const {
        std::vector<bool> reached(graph_.nodes.size(), false);
        reached[std::size_t(node)] = true;
        for (int id = node; id > 0; --id)
            if (reached[std::size_t(id)])
                for (int input : graph_[id].inputs)
                    if (input > 0) reached[std::size_t(input)] = true;
        std::vector<int> numbers;
        for (int id = 1, number = 0; id < int(graph_.nodes.size()); ++id) {
            if (graph_[id].op != Op::input) continue;
            if (reached[std::size_t(id)]) numbers.push_back(number);
            ++number;
        }
        return numbers;
    }
    void add_buffers() {
        std::vector<bool> prepared(lowered_.memories.size(), false);
        for (const lower::LoweredKernel& kernel : lowered_.kernels)
            for (std::size_t i = 0; i < kernel.memories.size(); ++i)
                if (kernel.kernel.buffers[i].written && kernel.prepared)
                    prepared[std::size_t(kernel.memories[i])] = true;
        for (std::size_t i = 0; i < lowered_.memories.size(); ++i)
            tensor_of_.push_back(find_or_add(lowered_.memories[i], prepared[i]));
    }
    int find_or_add(const lower::Memory& memory, bool prepared) {
        if (memory.node < 0) {
            program_.tensors.push_back({.name = memory.name,
                                        .role = plan::Role::buffer,
                                        .dtype = memory.dtype,
                                        .shape = memory.shape,
                                        .limit = {}});
            return int(program_.tensors.size()) - 1;
        }
        const Node& node = graph_[memory.node];
        int output = fused_.output_of[std::size_t(memory.node)];
        bool leaf = node.op == Op::parameter || node.op == Op::input;
        if (leaf && !memory.transposed)
            return find(node.op == Op::parameter ? plan::Role::parameter : plan::Role::input,
                        memory.name);
        if (output >= 0 && !memory.parts)
            return find(plan::Role::output, std::string(graph_[output].name));
        plan::Tensor tensor{.name = memory.name,
                            .role = prepared ? plan::Role::prepared : plan::Role::buffer,
                            .dtype = memory.dtype,
                            .shape = memory.shape,
                            .limit = {}};
        tensor.node = memory.transposed || memory.parts ? -1 : memory.node;
        program_.tensors.push_back(tensor);
        return int(program_.tensors.size()) - 1;
    }
    int find(plan::Role role, const std::string& name) const {
        for (std::size_t i = 0; i < program_.tensors.size(); ++i)
            if (program_.tensors[i].role == role && program_.tensors[i].name == name) return int(i);
        throw InternalError("plan: no tensor is named " + name);
    }
    void add_step(const lower::LoweredKernel& kernel) {
        plan::Step step{.kernel = pool_.number_of(kernel.kernel),
                        .name = kernel.kernel.name,
                        .sites = kernel::sites_of(kernel.kernel)};
        for (int memory : kernel.memories)
            step.arguments.push_back(tensor_of_[std::size_t(memory)]);
        (kernel.prepared ? program_.prepare : program_.steps).push_back(step);
    }

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    const lower::Lowered& lowered_;
    plan::KernelPool& pool_;
    plan::Program program_;
    std::vector<int> tensor_of_;
};

}  // namespace

std::vector<plan::Tensor> parameters_of(const Graph& graph) {
    std::vector<plan::Tensor> parameters;
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::parameter) continue;
        plan::Tensor tensor{.name = graph.path(node.scope),
                            .role = plan::Role::parameter,
                            .dtype = node.dtype,
                            .shape = dims_of(node.shape),
                            .limit = {}};
        tensor.initial = initial_of(node.initial);
        tensor.zero_row = node.zero_row;
        tensor.fan_in = node.dim.is_static() ? node.dim.value() : 0;
        parameters.push_back(tensor);
    }
    return parameters;
}

std::vector<plan::Alias> aliases_of(const Graph& graph) {
    std::vector<plan::Alias> aliases;
    for (const ParameterAlias& alias : graph.aliases)
        aliases.push_back({graph.path(alias.name), graph.path(alias.parameter)});
    return aliases;
}

plan::Program assemble_program(std::string name, const Graph& model_graph, const Graph& graph,
                               const fuse::FusedGraph& fused, const lower::Lowered& lowered,
                               const std::vector<plan::Tensor>& parameters,
                               plan::KernelPool& pool) {
    plan::Program program = Assembly(graph, fused, lowered, pool).run(model_graph, parameters);
    program.name = std::move(name);
    return program;
}

}  // namespace fovea
