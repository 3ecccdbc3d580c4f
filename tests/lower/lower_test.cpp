// Every lowered kernel, run in float64, gives what the interpreter gives for the nodes it stores.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/verify_kernel.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "models/transformer.h"

using namespace fovea;

namespace {

/// With fusion, numbers of blocks that no other test has.
target::Target in_few_blocks(bool fusion) {
    target::Target target;
    if (fusion) target.lowering.row_blocks = 5, target.lowering.product_blocks = 3;
    return target;
}

/// Runs a planned program kernel by kernel and compares what each stores.
class KernelCheck {
  public:
    KernelCheck(const Graph& graph, Gradients gradients, bool fusion,
                std::map<std::string, std::int64_t> dims)
        : model_(compile_model("m", "m.cpp", {},
                               {{.name = "p",
                                 .graph = graph,
                                 .gradients = gradients,
                                 .fusion = {fusion, AttentionForm::fused}}},
                               in_few_blocks(fusion))),
          program_(model_.programs[0]),
          dims_(std::move(dims)),
          reference_(program_.optimized) {
        for (const auto& [name, size] : dims_) reference_.bind(name, size);
        for (const plan::Tensor& tensor : program_.plan.tensors) memory_.push_back(filled(tensor));
    }

    void run() {
        for (const auto* steps : {&program_.plan.prepare, &program_.plan.steps})
            for (const plan::Step& step : *steps) note_writes(step, 1);
        for (const auto* steps : {&program_.plan.prepare, &program_.plan.steps})
            for (const plan::Step& step : *steps) run(step);
        CHECK(stores_ > 0);
    }

  private:
    std::vector<double> filled(const plan::Tensor& tensor) {
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(kernel::value_of(dim, dims_));
        array.values.assign(std::size_t(array.size()), std::nan(""));
        bool given = tensor.role == plan::Role::parameter || tensor.role == plan::Role::input;
        if (!given) return array.values;
        const std::int64_t limit =
            1 + plan::largest_value(
                    tensor, [&](const Dim& dim) { return kernel::value_of(dim, dims_); }, -1);
        for (double& value : array.values)
            value = tensor.dtype == i32
                        ? double(limit > 0 ? std::int64_t(random_() % 1000) % limit : 0)
                        : 0.3 * normal_(random_);
        reference_.set(tensor.name, array);
        return array.values;
    }
    /// Counts the kernels that have yet to write to each tensor: parts of it, as a rule.
    void note_writes(const plan::Step& step, int count) {
        const kernel::Kernel& kernel = model_.plan.kernels[std::size_t(step.kernel)];
        for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
            if (kernel.buffers[i].written) writes_[step.arguments[i]] += count;
    }
    void run(const plan::Step& step) {
        const kernel::Kernel& kernel = model_.plan.kernels[std::size_t(step.kernel)];
        kernel::verify_kernel(kernel);
        std::vector<std::vector<double>> buffers;
        for (int argument : step.arguments) buffers.push_back(memory_[std::size_t(argument)]);
        kernel::evaluate(kernel, dims_, buffers);
        note_writes(step, -1);
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            if (!kernel.buffers[i].written) continue;
            memory_[std::size_t(step.arguments[i])] = buffers[i];
            if (writes_.at(step.arguments[i]) == 0)
                compare(step, program_.plan.tensors[std::size_t(step.arguments[i])], buffers[i]);
        }
    }
    void compare(const plan::Step& step, const plan::Tensor& tensor,
                 const std::vector<double>& values) {
        if (tensor.node < 0) return;
        const Node& node = program_.optimized[tensor.node];
        const Array& expected =
            reference_.value(node.op == Op::output ? node.inputs[0] : tensor.node);
        REQUIRE(expected.values.size() == values.size());
        double error = 0, size = 1e-3;
        for (std::size_t k = 0; k < values.size(); ++k) {
            double difference = std::abs(values[k] - expected.values[k]);
            error = difference == difference ? std::max(error, difference) : INFINITY;
            size = std::max(size, std::abs(expected.values[k]));
        }
        CHECK_MESSAGE(error / size < 1e-9, step.name << " stores " << tensor.name);
        ++stores_;
    }

    CompiledModel model_;
    const CompiledProgram& program_;
    std::map<std::string, std::int64_t> dims_;
    Interpreter reference_;
    std::vector<std::vector<double>> memory_;
    std::mt19937 random_{7};
    std::normal_distribution<double> normal_;
    std::map<int, int> writes_;
    int stores_ = 0;
};

/// A transformer whose every size is 1.
Graph smallest_transformer() {
    Graph graph;
    models::transformer(Scope{&graph},
                        {.hidden = {"hidden", 1}, .ffn = {"ffn", 1}, .heads = 1, .layers = 1});
    return graph;
}

Graph small_transformer(models::NormOver norm_over = models::NormOver::features) {
    Graph graph;
    models::TransformerSettings settings{.hidden = {"hidden", 12},
                                         .ffn = {"ffn", 7},
                                         .heads = 3,
                                         .layers = 1,
                                         .bias = true,
                                         .norm_over = norm_over};
    if (norm_over == models::NormOver::tokens_and_features) settings.src_len = 5;
    models::transformer(Scope{&graph}, settings);
    return graph;
}

using Sizes = std::map<std::string, std::int64_t>;
constexpr const char* kDims[] = {"batch", "src_len", "tgt_len", "src_vocab", "tgt_vocab"};

Sizes sizes(std::initializer_list<std::int64_t> values) {
    Sizes result;
    auto name = std::begin(kDims);
    for (std::int64_t value : values) result[*name++] = value;
    return result;
}

}  // namespace

TEST_CASE("the kernels of a transformer and of its gradient") {
    for (bool fusion : {true, false})
        for (const Sizes& dims : {sizes({1, 1, 1, 3, 4}), sizes({3, 5, 7, 11, 13})}) {
            CAPTURE(fusion);
            KernelCheck(small_transformer(), Gradients::of_parameters, fusion, dims).run();
        }
}

TEST_CASE("sizes of 1, where contractions have nothing to add up") {
    for (const Sizes& dims : {sizes({1, 1, 1, 1, 1}), sizes({2, 3, 4, 5, 6})})
        KernelCheck(smallest_transformer(), Gradients::of_parameters, true, dims).run();
}

TEST_CASE("layer norm over tokens and features") {
    KernelCheck(small_transformer(models::NormOver::tokens_and_features), Gradients::of_parameters,
                true, sizes({2, 5, 3, 11, 13}))
        .run();
}

TEST_CASE("views, slices, concatenations and outputs that are views") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 12}), w = s.parameter("w", {12});
    Tensor merged = rearrange(x * w, "b t (h d) -> b (t d) h", {"h", 3});
    s.output("merged", merged);
    s.output("same", x);
    s.output("part", slice(merged, 1, 0, 4) * 2.0);
    s.output("joined", concat(slice(x, 2, 2, 3), x, -1));
    s.output("turned", rearrange(exp(x), "b t h -> h t b"));
    s.output("means", mean(x, 1));
    s.output("everything", sum(sum(sum(x * w, 0), 0), 0));
    for (bool fusion : {true, false})
        KernelCheck(graph, Gradients::of_parameters_and_inputs, fusion, {{"batch", 3}, {"len", 5}})
            .run();
}

TEST_CASE("buffers of a kernel that share a name are told apart, the first by its name alone") {
    Graph graph;
    Scope s{&graph};
    Tensor total = s.input("x", {"n", 4});
    for (int layer = 0; layer < 28; ++layer)
        total = total * (s / "layers" / layer / "scale").parameter("weight", {4});
    s.output("y", total);
    const CompiledModel model = compile_model(
        "m", "m.cpp", {}, {{.name = "p", .graph = graph, .gradients = Gradients::none}}, {});
    REQUIRE(model.plan.kernels.size() == 1);
    std::string names;
    for (const kernel::Buffer& buffer : model.plan.kernels[0].buffers) names += buffer.name + " ";
    CHECK(names.starts_with("x scale_weight scale_weight_b scale_weight_c "));
    CHECK(names.ends_with(" scale_weight_z scale_weight_aa scale_weight_ab y "));
}

TEST_CASE("einsums of every kind") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"n", "m", 6}), w = s.parameter("w", {6, 4}),
           u = s.parameter("u", {"m", 3});
    s.output("transposed", einsum("n m d, d e -> e n m", x, w));
    s.output("pairs", einsum("n m d, n k d -> n m k", x, x * 0.5));
    s.output("rows", einsum("n m d, m e -> n d e", x, u));
    s.output("inner", einsum("n m d, n m d -> n m", x, x + 1.0));
    s.output("summed_alone", einsum("n m d, d e -> n m", x, w));
    s.output("outer", einsum("n m d, m e -> n m d e", x, u));
    s.output("all", einsum("n m d, n m d -> ", x, x));
    for (bool fusion : {true, false})
        for (std::int64_t m : {1, 5})
            KernelCheck(graph, Gradients::of_parameters_and_inputs, fusion, {{"n", 3}, {"m", m}})
                .run();
}

TEST_CASE("an embedding of ids of any rank, and its gradient") {
    for (const Shape& shape : {Shape{"batch"}, Shape{"batch", "len"}, Shape{"batch", 2, "len"}}) {
        Graph graph;
        Scope s{&graph};
        s.output("y", embedding(s, s.input("ids", shape, i32), "rows", 5) * 3.0);
        KernelCheck(graph, Gradients::of_parameters, true, {{"batch", 3}, {"len", 4}, {"rows", 6}})
            .run();
    }
}

TEST_CASE("the gradient of one row that is looked up, whose columns lie apart") {
    Graph graph;
    Scope s{&graph};
    Tensor rows = gather(s.input("x", {2, 7, "m"}), s.input("ids", {1}, i32));
    s.output("y", rearrange(exp(rows), "a b c -> c (b a)"));
    for (bool fusion : {true, false})
        KernelCheck(graph, Gradients::of_parameters_and_inputs, fusion, {{"m", 6}}).run();
}
