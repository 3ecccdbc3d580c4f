// Graphs run in the reference and as generated code, with fusion and without.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"

namespace fovea::test {

using Arrays = std::map<std::string, Array>;

inline Array array(std::vector<std::int64_t> shape, std::vector<double> values) {
    return {std::move(shape), std::move(values)};
}

/// `make(i)` for every element.
inline Array array_of(std::vector<std::int64_t> shape, const std::function<double(int)>& make) {
    Array result{std::move(shape), {}};
    for (int i = 0; i < int(result.size()); ++i) result.values.push_back(make(i));
    return result;
}

/// Distinct values in (-1.5, 1.5), exact in float32.
inline Array scattered(std::vector<std::int64_t> shape) {
    return array_of(std::move(shape), [](int i) { return ((i * 37 + 11) % 97) / 32.0 - 1.5; });
}

inline void check_close(const Array& actual, const Array& expected, double tolerance) {
    REQUIRE(actual.shape == expected.shape);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        CAPTURE(i);
        CHECK(std::fabs(actual.values[i] - expected.values[i]) <= tolerance);
    }
}

inline Arrays run_reference(const Graph& graph, bool gradients, const Arrays& given) {
    Graph run = gradients ? add_gradients(graph, {.from_loss = false, .of_inputs = true}) : graph;
    Interpreter interpreter(run);
    for (const auto& [name, value] : given)
        if (interpreter.has(name)) interpreter.set(name, value);
    return interpreter.outputs();
}

inline Arrays run_generated(const runtime::Model& model, const runtime::Program& program,
                            const Arrays& given, const runtime::DimValues& dims = {}) {
    runtime::Parameters parameters(model, dims);
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const Array& value = given.at(model.parameters[i].name);
        std::copy(value.values.begin(), value.values.end(), parameters.values(i).begin());
    }
    runtime::Instance instance(model, program.name, parameters);
    instance.bind(dims);
    for (const runtime::TensorSpec& input : program.inputs) {
        const std::vector<double>& values = given.at(input.name).values;
        if (input.dtype == runtime::DType::i32)
            std::copy(values.begin(), values.end(), instance.input<std::int32_t>(input.name));
        else std::copy(values.begin(), values.end(), instance.input<float>(input.name));
    }
    instance.run();
    Arrays results;
    for (const runtime::TensorSpec& output : program.outputs) {
        Array& result = results[output.name] = {instance.shape_of(output), {}};
        if (output.dtype == runtime::DType::i32) {
            const auto* values = instance.output<std::int32_t>(output.name);
            result.values.assign(values, values + result.size());
        } else {
            auto values = instance.output_values(output.name);
            result.values.assign(values.begin(), values.end());
        }
    }
    return results;
}

/// Generated code of a graph, with fusion and without.
inline const runtime::Model& both_forms(const std::string& name, const Graph& graph,
                                        bool gradients) {
    std::vector<ProgramRequest> requests;
    for (bool fusion : {true, false})
        requests.push_back(
            {.name = fusion ? "fused" : "unfused",
             .graph = graph,
             .gradients = gradients ? Gradients::of_parameters_and_inputs : Gradients::none,
             .fusion = fusion});
    const CompiledModel compiled = compile_model(name, "", {}, std::move(requests));
    return tool::load_generated(compiled.plan, tool::isa_of_this_machine(), tool::Keep::nowhere);
}

/// Runs a graph of static sizes on parameters and inputs by name, in the reference and as generated
/// code of `both_forms`, and calls `check(outputs, tolerance)` for each. With gradients, the
/// cotangents `<output>.grad` are among the inputs, the gradients among the outputs.
inline void run_everywhere(const runtime::Model& model, const Graph& graph, bool gradients,
                           const Arrays& given, const std::function<void(Arrays&, double)>& check) {
    auto checked = [&](const std::string& how, Arrays outputs, double tolerance) {
        CAPTURE(how);
        check(outputs, tolerance);
    };
    checked("reference", run_reference(graph, gradients, given), 1e-12);
    for (const runtime::Program& program : model.programs)
        checked(program.name, run_generated(model, program, given), 1e-5);
}

/// The same of a graph that is run once.
inline void run_everywhere(const std::string& name, const Graph& graph, bool gradients,
                           const Arrays& given, const std::function<void(Arrays&, double)>& check) {
    run_everywhere(both_forms(name, graph, gradients), graph, gradients, given, check);
}

}  // namespace fovea::test
