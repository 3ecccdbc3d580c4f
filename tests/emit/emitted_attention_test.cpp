// Fused attention and its gradients as they ship, against the unfused kernels and the reference.
#include <doctest/doctest.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tests/emit/compiled_model.h"
#include "tests/lower/attention_cases.h"
#include "tests/random_seed.h"

using namespace fovea;
using test::AttentionCase;
using test::AttentionDims;

namespace {

constexpr int kCases = 12, kRuns = 17, kCasesAModel = 6;

std::string program_of(int number, bool fusion) {
    return (fusion ? "fused_" : "plain_") + std::to_string(number);
}

CompiledModel compiled(int first) {
    std::vector<ProgramRequest> requests;
    for (int number = first; number < first + kCasesAModel; ++number)
        for (bool fusion : {true, false}) {
            AttentionCase what = test::attention_case(number);
            requests.push_back({.name = program_of(number, fusion),
                                .graph = what.graph,
                                .training = what.training,
                                .gradients = Gradients::of_parameters_and_inputs,
                                .fusion = {fusion, AttentionForm::fused}});
        }
    return compile_model("attention_" + std::to_string(first), "", {}, requests);
}

struct Run {
    std::map<std::string, std::vector<float>> outputs;
    std::map<std::string, Array> given;
};

/// Runs a program on inputs that are drawn the same way each time.
Run run(const runtime::Model& model, const std::string& program, const AttentionDims& dims) {
    runtime::Parameters parameters(model, {});
    runtime::Instance instance(model, program, parameters);
    instance.bind({dims.begin(), dims.end()});
    std::mt19937 random{11};
    std::normal_distribution<double> normal;
    Run result;
    for (const runtime::TensorSpec& spec : instance.program().inputs) {
        Array array{instance.shape_of(spec), {}};
        const bool whole = spec.name == "lens" || spec.name == "segments";
        const unsigned limit = spec.name == "lens" ? unsigned(dims.at("keys") + 1) : 3;
        for (std::int64_t i = 0; i < array.size(); ++i) {
            double value = float(normal(random));
            if (whole) value = double(random() % limit);
            if (spec.name == "seen") value = double(random() % 3 != 0);
            array.values.push_back(value);
            if (whole) instance.input<std::int32_t>(spec.name)[i] = std::int32_t(value);
            else if (spec.name == "seen") instance.input<bool>(spec.name)[i] = value != 0;
            else instance.input<float>(spec.name)[i] = float(value);
        }
        result.given[spec.name] = std::move(array);
    }
    instance.run(5, 3);
    for (const runtime::TensorSpec& spec : instance.program().outputs) {
        std::int64_t size = 1;
        for (std::int64_t extent : instance.shape_of(spec)) size *= extent;
        const float* values = instance.output<float>(spec.name);
        result.outputs[spec.name].assign(values, values + size);
    }
    return result;
}

/// The largest difference, relative to the largest value, or to `least` where that is larger: where
/// a row sees one key its gradients are 0, and what is left is rounding.
template <class Expected>
double error_of(const std::vector<float>& got, const Expected& expected, double least) {
    double error = 0, size = least;
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        double difference = std::fabs(double(got[i]) - double(expected[i]));
        error = difference == difference ? std::max(error, difference) : INFINITY;
        size = std::max(size, std::fabs(double(expected[i])));
    }
    return error / size;
}

void check_case(const runtime::Model& model, int number, int at) {
    AttentionCase what = test::attention_case(number);
    AttentionDims dims = test::attention_dims(number, at);
    CAPTURE(what.text);
    CAPTURE(dims["batch"]);
    CAPTURE(dims["queries"]);
    CAPTURE(dims["keys"]);
    omp_set_num_threads(1 + (number + at) % 3);
    Run fused = run(model, program_of(number, true), dims);
    Run plain = run(model, program_of(number, false), dims);
    Interpreter reference(add_gradients(select_mode(what.graph, what.training),
                                        {.from_loss = false, .of_inputs = true}),
                          {.training = what.training, .seed = 5, .step = 3});
    for (const auto& [dim, size] : dims) reference.bind(dim, size);
    for (const auto& [name, array] : fused.given) reference.set(name, array);
    for (const auto& [name, values] : fused.outputs) {
        // What all pairs share gets a sum over all of them; a slope's also adds up distances.
        bool distances = name.starts_with("slope"),
             shared = name.starts_with("w") || name[0] == 'W' || name.starts_with("table");
        auto rows = double(dims["batch"] * dims["queries"]);
        double least = distances ? rows * double(dims["keys"]) : shared ? rows : 1;
        CHECK_MESSAGE(error_of(values, plain.outputs.at(name), least) < 1e-5,
                      name << " and unfused");
        CHECK_MESSAGE(error_of(values, reference.output(name).values, least) < 1e-5, name);
    }
    omp_set_num_threads(2);
    Run again = run(model, program_of(number, true), dims);
    for (const auto& [name, values] : fused.outputs)
        CHECK_MESSAGE(std::memcmp(values.data(), again.outputs.at(name).data(),
                                  values.size() * sizeof(float)) == 0,
                      name << " changes with the number of threads");
}

}  // namespace

TEST_CASE("fused attention, unfused attention and the reference agree on random cases") {
    const std::string isa = test::isas_here().front();
    // Half of the cases by chance, or all where FOVEA_WHOLE is set.
    const bool whole = std::getenv("FOVEA_WHOLE");
    const int drawn = int(test::random_seed() % (kCases / kCasesAModel)) * kCasesAModel;
    for (int first = whole ? 0 : drawn; first < (whole ? kCases : drawn + kCasesAModel);
         first += kCasesAModel) {
        CompiledModel compiled_model = compiled(first);
        // `fovea verify` compiles attention as programs are; here the forms are what is checked.
        const runtime::Model& model = test::compile_and_load(compiled_model.plan, isa, "-O0");
        for (int number = first; number < first + kCasesAModel; ++number)
            for (int at = 0; at < kRuns; ++at) check_case(model, number, at);
    }
}
