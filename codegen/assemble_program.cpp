#include "codegen/assemble_program.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/graph/scan_function.h"
#include "codegen/optimize/id_ranges.h"
#include "codegen/optimize/uncertain_slices.h"
#include "codegen/plan/lifetimes.h"
#include "codegen/plan/phases.h"
#include "codegen/plan/place_states.h"
#include "codegen/plan/replicate.h"

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

plan::Holds plan_holds(Holds holds) {
    return holds == Holds::lengths ? plan::Holds::lengths : plan::Holds::ids;
}

/// What an input of a model must hold.
std::vector<plan::Check> checks_of_input(const Graph& model_graph,
                                         const std::vector<InputCheck>& all,
                                         const std::string& name) {
    std::vector<plan::Check> checks;
    for (const InputCheck& check : all) {
        if (model_graph[check.input].name != name) continue;
        plan::Check own{plan_holds(check.holds), check.limit};
        for (const AxisPart& part : check.parts) own.parts.push_back({part.first, part.count});
        checks.push_back(std::move(own));
    }
    return checks;
}

class Assembly {
  public:
    Assembly(const Graph& graph, const fuse::FusedGraph& fused, const lower::Lowered& lowered,
             plan::KernelPool& pool, const target::Lowering& target)
        : graph_(graph), fused_(fused), lowered_(lowered), pool_(pool), target_(target) {}

    plan::Program run(const Graph& model_graph, const std::vector<plan::Tensor>& parameters) {
        program_.tensors = parameters;
        const Graph sealed = seal_scans(model_graph);
        add_inputs(sealed);
        add_outputs();
        add_buffers();
        for (const lower::LoweredKernel& kernel : lowered_.kernels) add_step(kernel);
        plan::place_states(program_, pool_);
        plan::mark_replicated(program_, pool_.kernels(), target_.replicated_numbers);
        plan::form_phases(program_, pool_.kernels(), target_.steps_passed_over);
        plan::place_replicas(program_, pool_.kernels(), target_.replicated_numbers);
        plan::set_lifetimes(program_, pool_.kernels());
        add_slices(sealed);
        return std::move(program_);
    }

  private:
    void add_inputs(const Graph& model_graph) {
        const std::vector<InputCheck> checks = input_checks(model_graph);
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::input) continue;
            plan::Tensor tensor{.name = std::string(node.name),
                                .role = plan::Role::input,
                                .dtype = node.dtype,
                                .shape = dims_of(node.shape)};
            tensor.node = id;
            tensor.state = node.state;
            tensor.checks = checks_of_input(model_graph, checks, tensor.name);
            program_.tensors.push_back(tensor);
        }
    }
    /// Those of sizes that the program has: others are of values that nothing reads.
    void add_slices(const Graph& model_graph) {
        std::set<Symbol> known;
        for (const plan::Tensor& tensor : program_.tensors)
            for (const Dim& dim : tensor.shape) add_symbols(dim, known);
        for (const UncertainSlice& slice : uncertain_slices(model_graph)) {
            std::set<Symbol> own;
            for (const Dim& dim : {slice.first, slice.size, slice.extent}) add_symbols(dim, own);
            if (std::includes(known.begin(), known.end(), own.begin(), own.end()))
                program_.slices.push_back({slice.first, slice.size, slice.extent, slice.place});
        }
    }
    static void add_symbols(const Dim& dim, std::set<Symbol>& symbols) {
        for (const DimTerm& term : dim.terms())
            for (Symbol symbol : term.symbols)
                if (term.factor && symbol) symbols.insert(symbol);
    }
    void add_outputs() {
        bool gradients = false;
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::output || is_check(node)) continue;
            plan::Tensor tensor{.name = std::string(node.name),
                                .role = plan::Role::output,
                                .dtype = node.dtype,
                                .shape = dims_of(node.shape)};
            tensor.node = id;
            tensor.state = node.state;
            program_.tensors.push_back(tensor);
            program_.needs.push_back(needs(id));
            gradients = gradients || node.port.gradient;
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
        tensor_of_.assign(lowered_.memories.size(), -1);
        add_checks(prepared);
        for (std::size_t i = 0; i < lowered_.memories.size(); ++i)
            if (tensor_of_[i] < 0) tensor_of_[i] = find_or_add(lowered_.memories[i], prepared[i]);
    }
    /// Values that are checked after a run are the first buffers, in the order of the graph: they
    /// have the same numbers in programs for other targets.
    void add_checks(const std::vector<bool>& prepared) {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (!is_check(graph_[id])) continue;
            const std::size_t i = memory_of_output(id);
            tensor_of_[i] = int(program_.tensors.size());
            program_.tensors.push_back(check_tensor(id, lowered_.memories[i], prepared[i]));
        }
    }
    std::size_t memory_of_output(int output) const {
        for (std::size_t i = 0; i < lowered_.memories.size(); ++i) {
            const lower::Memory& memory = lowered_.memories[i];
            const bool own = memory.node >= 0 && !memory.parts && !memory.transposed;
            if (own && fused_.output_of[std::size_t(memory.node)] == output) return i;
        }
        throw InternalError("plan: no kernel stores " + std::string(graph_[output].name));
    }
    plan::Tensor check_tensor(int id, const lower::Memory& memory, bool prepared) const {
        const Node& node = graph_[id];
        plan::Tensor tensor{.name = memory.name,
                            .role = prepared ? plan::Role::prepared : plan::Role::buffer,
                            .dtype = memory.dtype,
                            .shape = memory.shape};
        tensor.checks = {{plan_holds(Holds(node.axis)), node.dim, {}, std::string(node.name)}};
        tensor.node = memory.node;
        return tensor;
    }
    int find_or_add(const lower::Memory& memory, bool prepared) {
        if (memory.node < 0) {
            program_.tensors.push_back({.name = memory.name,
                                        .role = plan::Role::buffer,
                                        .dtype = memory.dtype,
                                        .shape = memory.shape});
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
                            .shape = memory.shape};
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
        for (std::size_t i = 0; i < kernel.memories.size(); ++i) {
            const int tensor = tensor_of_[std::size_t(kernel.memories[i])];
            step.arguments.push_back(tensor);
            const bool is_output = program_.tensors[std::size_t(tensor)].role == plan::Role::output;
            if (kernel.prepared && kernel.kernel.buffers[i].written && is_output)
                throw InternalError("plan: " + step.name + " is prepared once and writes output " +
                                    program_.tensors[std::size_t(tensor)].name);
        }
        (kernel.prepared ? program_.prepare : program_.steps).push_back(step);
    }

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    const lower::Lowered& lowered_;
    plan::KernelPool& pool_;
    const target::Lowering& target_;
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
                            .shape = dims_of(node.shape)};
        tensor.initial = initial_of(node.initial);
        tensor.zero_row = node.zero_row;
        tensor.frozen = node.frozen;
        tensor.storage = storage_of(node);
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
                               const std::vector<plan::Tensor>& parameters, plan::KernelPool& pool,
                               const target::Lowering& target) {
    plan::Program program =
        Assembly(graph, fused, lowered, pool, target).run(model_graph, parameters);
    program.name = std::move(name);
    return program;
}

}  // namespace fovea
