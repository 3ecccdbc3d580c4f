// Tensors from files through the interpreter and back.
#include "tools/fovea/verify/run_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/base/error.h"
#include "codegen/graph/expand_composites.h"
#include "codegen/graph/id_operands.h"
#include "codegen/graph/scan_function.h"
#include "codegen/optimize/select_mode.h"
#include "runtime/load_parameters.h"
#include "runtime/memory/halves.h"
#include "runtime/trainer/weights_header.h"
#include "runtime/weights/storage_name.h"
#include "runtime/weights/weight_tensors.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/runtime_dtype.h"

namespace fovea::tool {

namespace {

using runtime::SafetensorsFile;
using runtime::TensorView;

constexpr std::string_view kGradient = ".grad";

template <class T>
std::vector<double> doubles(const TensorView& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return {values.begin(), values.end()};
}

std::vector<double> from_halves(const TensorView& tensor, runtime::DType type) {
    std::vector<double> values;
    for (double half : doubles<std::uint16_t>(tensor))
        values.push_back(runtime::float_of_half(type, std::uint16_t(half)));
    return values;
}

Array array_of(const TensorView& tensor, DType type, const std::string& what) {
    std::string_view expected = runtime::safetensors_name(runtime_dtype(type));
    if (tensor.dtype != expected)
        throw UserError(fmt::format("{} should be {}, but is {}", what, expected, tensor.dtype));
    Array array{tensor.shape, {}};
    switch (type) {
        case DType::f32: array.values = doubles<float>(tensor); break;
        case DType::bf16:
        case DType::f16: array.values = from_halves(tensor, runtime_dtype(type)); break;
        case DType::i32: array.values = doubles<std::int32_t>(tensor); break;
        case DType::boolean: array.values = doubles<std::uint8_t>(tensor); break;
    }
    return array;
}

/// One output on its way to a file.
struct Result {
    TensorView view;
    std::vector<std::byte> bytes;
};

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<double>& values) {
    std::vector<T> converted;
    for (double value : values) converted.push_back(T(value));
    auto bytes = std::as_bytes(std::span(converted));
    return {bytes.begin(), bytes.end()};
}

Result result_of(const Node& output, const Array& array) {
    Result result;
    bool boolean = output.dtype == DType::boolean, integer = output.dtype == DType::i32;
    result.bytes = boolean   ? bytes_of_values<std::uint8_t>(array.values)
                   : integer ? bytes_of_values<std::int32_t>(array.values)
                             : bytes_of_values<float>(array.values);
    result.view = {std::string(output.name),
                   boolean   ? "BOOL"
                   : integer ? "I32"
                             : "F32",
                   array.shape,
                   {}};
    return result;
}

class ReferenceRun {
  public:
    ReferenceRun(const Graph& graph, const runtime::RunRequest& request)
        : graph_(graph),
          request_(request),
          interpreter_(graph,
                       {.training = request.train, .seed = request.seed, .step = request.step}) {}

    std::vector<Result> run(const std::string& model, const SafetensorsFile& inputs,
                            const SafetensorsFile* weights) {
        choose_outputs();
        mark_needed();
        set_parameters(model, weights);
        set_inputs(model, inputs);
        std::vector<Result> results;
        for (int id : outputs_)
            results.push_back(result_of(graph_[id], interpreter_.output(graph_[id].name)));
        for (Result& result : results) result.view.bytes = result.bytes;
        return results;
    }

  private:
    void choose_outputs() {
        std::vector<std::string> names;
        bool gradients = false;
        const std::vector<std::string>& only = request_.only;
        for (const std::string& name : only) gradients = gradients || name.ends_with(kGradient);
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (graph_[id].op != Op::output || is_check(graph_[id])) continue;
            std::string name(graph_[id].name);
            names.push_back(name);
            bool wanted = only.empty() || std::find(only.begin(), only.end(), name) != only.end();
            if (wanted || (!gradients && name.ends_with(kGradient))) outputs_.push_back(id);
        }
        for (const std::string& name : only)
            if (std::find(names.begin(), names.end(), name) == names.end())
                throw UserError(
                    fmt::format("'{}' is no output{}", name, did_you_mean(name, names)));
    }
    void mark_needed() {
        needed_.assign(graph_.nodes.size(), false);
        for (int id : outputs_) needed_[std::size_t(id)] = true;
        for (int id = int(graph_.nodes.size()) - 1; id > 0; --id) {
            if (!needed_[std::size_t(id)]) continue;
            for (int input : graph_[id].inputs)
                if (input > 0) needed_[std::size_t(input)] = true;
            if (graph_[id].op == Op::attention) mark_region(graph_[id].attribute);
        }
    }
    void mark_region(int attention) {
        const AttentionAttributes& attributes = graph_.attentions[std::size_t(attention)];
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (graph_.nodes[i].region != attributes.region) continue;
            for (int input : graph_.nodes[i].inputs)
                if (input > 0) needed_[std::size_t(input)] = true;
        }
    }
    void set_parameters(const std::string& model, const SafetensorsFile* weights) {
        if (weights)
            if (const runtime::WeightStorage there = runtime::storage_in(*weights))
                throw UserError(fmt::format(
                    "'{}' has weights of {}, and the reference takes floats: give it the weights "
                    "that these were made of, or leave out --target reference and set weights={}",
                    weights->path(), runtime::long_name(there), runtime::storage_text(there)));
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::parameter) continue;
            std::string path = graph_.path(node.scope);
            if (!weights)
                throw UserError(
                    fmt::format("{} has parameters ('{}', …); give them with --weights "
                                "FILE",
                                model, path));
            const TensorView* tensor = find_parameter(node.scope, *weights);
            if (!tensor)
                throw UserError(
                    fmt::format("'{}' lacks parameter '{}' of {}", weights->path(), path, model));
            std::string what = fmt::format("parameter '{}' in '{}'", path, weights->path());
            DType type = node.dtype;
            for (DType half : {bf16, f16})
                if (tensor->dtype == runtime::safetensors_name(runtime_dtype(half))) type = half;
            interpreter_.set(path, array_of(*tensor, type, what));
        }
        if (weights) warn_of_unused_weights(model, *weights);
    }
    void warn_of_unused_weights(const std::string& model, const SafetensorsFile& weights) const {
        std::set<std::string> known;
        for (const Node& node : graph_.nodes)
            if (node.op == Op::parameter) known.insert(graph_.path(node.scope));
        for (const ParameterAlias& alias : graph_.aliases) known.insert(graph_.path(alias.name));
        runtime::warn_unused(weights, model, [&](const std::string& name) {
            return known.contains(name) || runtime::is_never_read(name) ||
                   name.starts_with(runtime::kOptimizerPrefix);
        });
    }
    /// The tensor of a parameter, under its own name or one that it is tied to.
    const TensorView* find_parameter(int scope, const SafetensorsFile& weights) const {
        const TensorView* tensor = weights.find(graph_.path(scope));
        for (const ParameterAlias& alias : graph_.aliases) {
            if (alias.parameter != scope) continue;
            const TensorView* other = weights.find(graph_.path(alias.name));
            if (!tensor) tensor = other;
            if (!other || std::ranges::equal(tensor->bytes, other->bytes)) continue;
            throw UserError(
                fmt::format("'{}' and '{}' in '{}' are one tensor in the model, but "
                            "differ there",
                            tensor->name, other->name, weights.path()));
        }
        return tensor;
    }
    bool is_cotangent(const Node& input) const {
        if (!input.name.ends_with(kGradient)) return false;
        std::string_view output = input.name.substr(0, input.name.size() - kGradient.size());
        return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
            return node.op == Op::output && node.name == output;
        });
    }
    void set_inputs(const std::string& model, const SafetensorsFile& inputs) {
        std::vector<const Node*> absent;
        std::set<std::string> known;
        std::vector<std::string> cotangents;
        bool any_cotangent = false;
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op != Op::input) continue;
            std::string name(node.name);
            known.insert(name);
            const TensorView* tensor = inputs.find(name);
            if (is_cotangent(node)) {
                cotangents.push_back("'" + name + "'");
                any_cotangent = any_cotangent || tensor;
                if (!tensor) absent.push_back(&node);
            } else if (!tensor && node.state) {
                absent.push_back(&node);
            } else if (!tensor && needed_[std::size_t(id)]) {
                throw UserError(fmt::format("'{}' lacks the input '{}'", inputs.path(), name));
            }
            std::string what = fmt::format("input '{}' in '{}'", name, inputs.path());
            if (tensor) interpreter_.set(name, array_of(*tensor, node.dtype, what));
        }
        if (!cotangents.empty() && !any_cotangent)
            throw UserError(
                fmt::format("gradients need a model with a loss, or the gradient of an "
                            "output among the inputs: '{}' has none of {}",
                            inputs.path(), comma_list(cotangents)));
        for (const Node* node : absent) set_zeros(*node);
        runtime::warn_unused(inputs, model,
                             [&](const std::string& name) { return known.contains(name); });
    }
    void set_zeros(const Node& input) {
        Array zeros;
        for (const Dim& dim : input.shape)
            zeros.shape.push_back(value_of(interpreter_.sizes(), dim));
        zeros.values.assign(std::size_t(zeros.size()), 0);
        interpreter_.set(std::string(input.name), std::move(zeros));
    }

    const Graph& graph_;
    const runtime::RunRequest& request_;
    Interpreter interpreter_;
    std::vector<int> outputs_;
    std::vector<bool> needed_;
};

}  // namespace

Graph with_gradients(const Graph& graph) {
    bool loss = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
        return node.op == Op::output && node.name == "loss";
    });
    return add_gradients(graph, {.from_loss = loss, .of_inputs = true});
}

void run_reference(const LoadedModel& model, const runtime::RunRequest& request, Fusion fusion,
                   const SafetensorsFile& inputs, const SafetensorsFile* weights,
                   const std::string& output_path) {
    // What the other mode gives is neither computed nor differentiated, as in compiled programs.
    Graph graph = select_mode(seal_scans(model.graph), request.train);
    if (!fusion) graph = expand_composites(with_checks(graph));
    if (request.gradients) graph = with_gradients(graph);
    ReferenceRun run(graph, request);
    std::vector<TensorView> views;
    std::vector<Result> results = run.run(model.entry.name, inputs, weights);
    for (const Result& result : results) views.push_back(result.view);
    runtime::write_safetensors(output_path, views);
}

}  // namespace fovea::tool
