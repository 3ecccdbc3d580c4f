// With dtype bf16, what contractions multiply lies in memory as bfloat16, and nothing else does.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/pipeline.h"
#include "dsl/fovea.h"

using namespace fovea;

namespace {

/// Two dense layers with relu between them, a residual behind them, and a loss.
Graph two_layers() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    Tensor hidden = relu(linear(s / "first", x, 16));
    s.output("loss", sum(linear(s / "second", hidden, 8) + x, -1));
    return graph;
}

plan::Program planned(const Graph& graph, DType dtype, Gradients gradients, bool fusion) {
    return compile_model("m", "m.cpp", {},
                         {{.name = "p",
                           .graph = graph,
                           .gradients = gradients,
                           .fusion = fusion,
                           .dtype = dtype}})
        .programs[0]
        .plan;
}

int halves(const plan::Program& program, plan::Role role, DType half = bf16) {
    return int(std::count_if(
        program.tensors.begin(), program.tensors.end(),
        [&](const plan::Tensor& tensor) { return tensor.role == role && tensor.dtype == half; }));
}

}  // namespace

TEST_CASE("weights that contractions read and values between them are bfloat16") {
    const plan::Program program = planned(two_layers(), bf16, Gradients::none, true);
    CHECK(halves(program, plan::Role::prepared) == 2);
    CHECK(halves(program, plan::Role::buffer) == 1);  // relu's
    for (plan::Role role : {plan::Role::parameter, plan::Role::input, plan::Role::output})
        CHECK(halves(program, role) == 0);
}

TEST_CASE("gradients of parameters stay float32, those of activations do not") {
    for (bool fusion : {true, false}) {
        const plan::Program program = planned(two_layers(), bf16, Gradients::of_parameters, fusion);
        CHECK(halves(program, plan::Role::output) == 0);
        CHECK(halves(program, plan::Role::parameter) == 0);
        CHECK(halves(program, plan::Role::buffer) >= 2);  // relu's and its gradient
    }
}

TEST_CASE("weights that lie as they are have one copy, which products of both directions read") {
    target::Target target;
    target.lowering.weights = target::Weights::as_they_are;
    CompiledModel model = compile_model("m", "m.cpp", {},
                                        {{.name = "p",
                                          .graph = two_layers(),
                                          .gradients = Gradients::of_parameters_and_inputs,
                                          .dtype = bf16}},
                                        target);
    const plan::Program& program = model.programs[0].plan;
    std::vector<int> readers;
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const plan::Tensor& tensor = program.tensors[i];
        if (tensor.role != plan::Role::prepared) continue;
        CHECK(tensor.dtype == bf16);
        CHECK(tensor.name.ends_with("weight_bfloat16"));
        CHECK(tensor.shape.size() == 2);
        readers.push_back(0);
        for (const plan::Step& step : program.steps)
            readers.back() += int(std::count(step.arguments.begin(), step.arguments.end(), i));
    }
    CHECK(readers == std::vector{2, 2});
    CHECK(program.prepare.size() == 2);
}

TEST_CASE("an input of halves that a product or attention casts is read in place") {
    for (Gradients gradients : {Gradients::none, Gradients::of_parameters_and_inputs})
        for (DType type : {bf16, f16}) {
            Graph graph;
            Scope s{&graph};
            Tensor q = cast(s.input("q", {"batch", "queries", 8}, type), f32);
            Tensor k = cast(s.input("k", {"batch", "keys", 8}, type), f32);
            const auto heads = [](Tensor x) {
                return rearrange(x, "b (h x) d -> b h x d", {"h", 1});
            };
            Tensor y = attention(heads(q), heads(k), heads(k), dot_product, no_mask);
            s.output("y", linear(s, rearrange(y, "b h x d -> b x (h d)"), 4));
            for (DType memory : {bf16, f16}) {
                const plan::Program program = planned(graph, memory, gradients, true);
                int copies = 0;  // kernels that read q or k, and write one tensor more
                for (const plan::Step& step : program.steps)
                    for (int argument : step.arguments) {
                        const std::string& name = program.tensors[std::size_t(argument)].name;
                        copies += step.arguments.size() == 2 && (name == "q" || name == "k");
                    }
                CHECK(copies == (type == memory ? 0 : 2));
            }
        }
}

TEST_CASE("an output of halves that nothing else reads is written where the value is computed") {
    for (DType type : {bf16, f16}) {
        Graph graph;
        Scope s{&graph};
        Tensor q = cast(s.input("q", {"batch", 2, "queries", 8}, type), f32);
        Tensor k = cast(s.input("k", {"batch", 2, "keys", 8}, type), f32);
        s.output("y", cast(attention(q, k, k, dot_product, no_mask), type));
        target::Target target;
        target.lowering.independent_tiles = true;
        for (DType memory : {bf16, f16})
            for (Gradients gradients : {Gradients::none, Gradients::of_parameters_and_inputs}) {
                CompiledModel model = compile_model("m", "m.cpp", {},
                                                    {{.name = "p",
                                                      .graph = graph,
                                                      .gradients = gradients,
                                                      .fusion = Fusion(true, AttentionForm::fused),
                                                      .dtype = memory}},
                                                    target);
                std::vector<std::string> copies;
                for (const kernel::Kernel& kernel : model.plan.kernels)
                    if (kernel.name.find("identity") != std::string::npos)
                        copies.push_back(kernel.name);
                // Gradients read what attention gives, too, as float32.
                if (type == memory) CHECK(copies.size() == (gradients == Gradients::none ? 0 : 1));
            }
    }
}

TEST_CASE("an output of halves is written in each run, where it is of parameters alone, too") {
    for (bool fusion : {true, false}) {
        Graph graph;
        Scope s{&graph};
        const Tensor weight = s.parameter("weight", {5, 3}, Initial::normal);
        s.output("sums", cast(sum(weight, 1), bf16));
        s.output("doubled", cast(weight * 2.0, bf16));
        s.output("x", s.input("x", {"batch"}) + 1.0);
        const plan::Program program = planned(graph, bf16, Gradients::none, fusion);
        for (const plan::Step& step : program.prepare)
            for (int tensor : step.arguments)
                CHECK(program.tensors[std::size_t(tensor)].role != plan::Role::output);
    }
}

TEST_CASE("float16 lies where bfloat16 does; its weights are transposed, not in pairs") {
    for (Gradients gradients : {Gradients::none, Gradients::of_parameters}) {
        CompiledModel model = compile_model(
            "m", "m.cpp", {},
            {{.name = "p", .graph = two_layers(), .gradients = gradients, .dtype = f16}});
        const plan::Program& program = model.programs[0].plan;
        const plan::Program in_bfloat16 = planned(two_layers(), bf16, gradients, true);
        for (plan::Role role : {plan::Role::parameter, plan::Role::input, plan::Role::output,
                                plan::Role::buffer, plan::Role::prepared}) {
            CHECK(halves(program, role, f16) == halves(in_bfloat16, role));
            CHECK(halves(program, role) == 0);
        }
        for (const plan::Tensor& tensor : program.tensors)
            if (tensor.role == plan::Role::prepared) {
                CHECK(tensor.name.ends_with("weight_float16_transposed"));
                CHECK(tensor.shape.size() == 2);
            }
        CHECK(plan::has_halves(model.plan, f16));
        CHECK(!plan::has_halves(model.plan, bf16));
    }
}

TEST_CASE("products of tf32 read weights as they are, in float32") {
    const CompiledModel model = compile_model("m", "m.cpp", {},
                                              {{.name = "p",
                                                .graph = two_layers(),
                                                .gradients = Gradients::of_parameters_and_inputs,
                                                .tf32 = true}});
    CHECK(model.programs[0].tf32);
    const plan::Program& program = model.programs[0].plan;
    CHECK(program.prepare.empty());
    CHECK(!plan::has_halves(model.plan, bf16));
    int products = 0;
    for (const kernel::Kernel& kernel : model.plan.kernels)
        for (const kernel::Node& node : kernel.nodes)
            if (auto contract = std::get_if<kernel::Contract>(&node.operation)) {
                CHECK(contract->factors == kernel::Factors::tf32);
                ++products;
            }
    CHECK(products > 0);
}

TEST_CASE("float32 has none") {
    const plan::Program program = planned(two_layers(), f32, Gradients::of_parameters, true);
    CHECK(halves(program, plan::Role::prepared) + halves(program, plan::Role::buffer) == 0);
}

namespace {

/// Attention between three layers and one, a residual around all, and a loss.
Graph layers_with_attention(bool bias_of_pairs) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "length", 16});
    Tensor q = linear(s / "query", x, 16), k = linear(s / "key", x, 16),
           v = linear(s / "value", x, 16), mixed;
    if (bias_of_pairs) {
        Tensor slope = s.parameter("slope", {1});
        mixed = attention(q, k, v, [=](Pair p) {
            return dot_product(p) + squeeze(slope, 0) * cast(p.j - p.i, f32);
        });
    } else {
        mixed = attention(q, k, v, dot_product);
    }
    Tensor y = linear(s / "out", mixed, 16) + x;
    s.output("loss", sum(y * y, -1));
    return graph;
}

int halves_of_attention(const Graph& graph, Gradients gradients, bool apart = false) {
    target::Target target;
    target.lowering.independent_tiles = apart;
    const CompiledModel model = compile_model("m", "m.cpp", {},
                                              {{.name = "p",
                                                .graph = graph,
                                                .gradients = gradients,
                                                .fusion = {true, AttentionForm::fused},
                                                .dtype = bf16}},
                                              target);
    int count = 0;
    for (const plan::Step& step : model.programs[0].plan.steps) {
        const kernel::Kernel& kernel = model.plan.kernels[std::size_t(step.kernel)];
        if (!kernel.name.ends_with("attention") &&
            kernel.name.find("attention_gradient") == std::string::npos)
            continue;
        for (const kernel::Buffer& buffer : kernel.buffers) count += buffer.dtype == bf16;
    }
    return count;
}

}  // namespace

TEST_CASE("attention takes and gives bfloat16 where its kernels can") {
    const Graph graph = layers_with_attention(false);
    CHECK(halves_of_attention(graph, Gradients::none) == 4);  // q, k, v and the output
    // The gradient's: q, k, v and the output's, and those of k and v; where no kernel of its own
    // sums that of q, tiles of keys add to it in memory, in float32.
    CHECK(halves_of_attention(graph, Gradients::of_parameters) == 4 + (4 + 2));
    CHECK(halves_of_attention(graph, Gradients::of_parameters, true) == 4 + (4 + 2) + (4 + 1));
}

TEST_CASE("gradients of what all pairs share leave those of keys and values in bfloat16") {
    const Graph graph = layers_with_attention(true);
    CHECK(halves_of_attention(graph, Gradients::none) == 4);
    CHECK(halves_of_attention(graph, Gradients::of_parameters) == 4 + (4 + 2));
}

TEST_CASE(
    "a maximum that its gradient compares with is not rounded, nor what it is the maximum of") {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {"batch", 8, 64}), w = s.input("w", {64});
    const Tensor hidden = layer_norm(s / "norm", x);  // stored, and multiplied
    const Tensor most = amax(hidden * w, 1);
    s.output("y", linear(s / "first", hidden, 64));
    s.output("z", linear(s / "second", most, 16));
    const plan::Program forward = planned(graph, bf16, Gradients::none, true);
    CHECK(halves(forward, plan::Role::buffer) == 2);
    const plan::Program program = planned(graph, bf16, Gradients::of_parameters_and_inputs, true);
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::buffer && tensor.dtype == DType::bf16)
            CHECK_MESSAGE(tensor.name.find("gradient") != std::string::npos, tensor.name);
}

TEST_CASE("an output in bfloat16 holds no value that something else reads, by whatever view") {
    Graph graph;
    Scope s{&graph};
    const Tensor x = cast(s.input("x", {"batch", 6, 7}, f16), f32);
    s.output("weights", softmax(x));
    s.output("turned", cast(rearrange(x, "a b c -> c (b a)"), bf16));
    for (bool fusion : {false, true}) {
        CAPTURE(fusion);
        const plan::Program program = planned(graph, bf16, Gradients::none, fusion);
        int kernels = 0;  // that read or write it
        for (const plan::Step& step : program.steps)
            for (int argument : step.arguments)
                kernels += program.tensors[std::size_t(argument)].name == "turned";
        CHECK(kernels == 1);
    }
}
