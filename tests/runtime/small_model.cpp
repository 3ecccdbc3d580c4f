// The hand-written model of the tests.
#include "tests/runtime/small_model.h"

#include "runtime/error.h"

namespace fovea::test {
namespace {

using namespace fovea::runtime;

int g_prepared = 0;

// Dims: 0 batch, 1 in, 2 vocab. Parameters 0 to 2; inputs 3 x, 4 ids.
const float* floats(const Call& call, int i) { return static_cast<const float*>(call.tensors[i]); }

float* target(const Call& call, int i) { return static_cast<float*>(call.tensors[i]); }

/// Buffer `doubled` holds 2 * scale and is prepared; `sum` is a row of the workspace.
void prepare(const Call& call, int doubled) {
    if (!call.prepare) return;
    ++g_prepared;
    for (std::int64_t i = 0; i < call.dims[1]; ++i) {
        target(call, doubled)[i] = 2 * floats(call, 0)[i];
    }
}

void multiply(const Call& call, int y, int doubled, int sum) {
    const std::int64_t batch = call.dims[0], in = call.dims[1];
    for (std::int64_t b = 0; b < batch; ++b) {
        target(call, sum)[b] = 0;
        for (std::int64_t i = 0; i < in; ++i) {
            const float value = floats(call, doubled)[i] / 2 * floats(call, 3)[b * in + i];
            target(call, y)[b * in + i] = value;
            target(call, sum)[b] += value;
        }
    }
    if (call.observe) call.observe(call.observe_state, 0);
}

void check(const Call& call) {
    const auto* ids = static_cast<const std::int32_t*>(call.tensors[4]);
    for (std::int64_t b = 0; b < call.dims[0]; ++b) {
        if (ids[b] < 0 || ids[b] >= 5) {
            throw UserError("ids[" + std::to_string(b) + "] is " + std::to_string(ids[b]) +
                            ", expected 0 to 4");
        }
    }
}

// forward: outputs 5 y, 6 loss | buffers.
void forward_loss(const Call& call) {
    prepare(call, 7);
    multiply(call, 5, 7, 8);
    for (std::int64_t b = 0; b < call.dims[0]; ++b) target(call, 6)[b] = floats(call, 8)[b];
}
void forward(const Call& call) {
    prepare(call, 6);
    multiply(call, 5, 6, 7);
}

/// Gradients of scale and x from the cotangent `dy` (null: ones).
void backward(const Call& call, const float* dy, int dscale, int dx) {
    const std::int64_t batch = call.dims[0], in = call.dims[1];
    for (std::int64_t i = 0; i < in; ++i) target(call, dscale)[i] = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t i = 0; i < in; ++i) {
            const float upstream = dy ? dy[b * in + i] : 1.0F;
            target(call, dscale)[i] += upstream * floats(call, 3)[b * in + i];
            target(call, dx)[b * in + i] = upstream * floats(call, 0)[i];
        }
    }
}

// gradient with loss: outputs 5 y, 6 loss, 7 scale.grad, 8 x.grad | 9 doubled, 10 sum.
void gradient_loss(const Call& call) {
    prepare(call, 9);
    multiply(call, 5, 9, 10);
    for (std::int64_t b = 0; b < call.dims[0]; ++b) target(call, 6)[b] = floats(call, 10)[b];
    backward(call, nullptr, 7, 8);
}
// gradient without: inputs 3 x, 4 ids, 5 y.grad; outputs 6 y, 7 scale.grad, 8 x.grad | 9, 10.
void gradient(const Call& call) {
    prepare(call, 9);
    multiply(call, 6, 9, 10);
    backward(call, floats(call, 5), 7, 8);
}

Model build(bool with_loss) {
    const Extent batch = Extent::dim(0), in = Extent::dim(1), vocab = Extent::dim(2);
    const TensorSpec x{.name = "x", .shape = {batch, in}};
    const TensorSpec ids{.name = "ids", .dtype = DType::i32, .shape = {batch}};
    const TensorSpec y{.name = "y", .shape = {batch, in}};
    const TensorSpec loss{.name = "loss", .shape = {batch}};
    const TensorSpec dy{.name = "y.grad", .shape = {batch, in}};
    const TensorSpec dx{.name = "x.grad", .shape = {batch, in}};
    const TensorSpec dscale{.name = "scale.grad", .shape = {in}};
    const std::vector<BufferSpec> buffers = {{.name = "doubled", .shape = {in}, .prepared = true},
                                             {.name = "sum", .shape = {batch}}};

    Model model;
    model.name = "small";
    model.dims = {"batch", "in", "vocab"};
    model.settings = {{"bias", "true"}};
    model.parameters = {
        {.name = "scale", .shape = {in}, .initial = Initial::ones},
        {.name = "table", .shape = {vocab, 4}, .initial = Initial::normal, .zero_row = 1},
        {.name = "bias", .shape = {8}, .initial = Initial::linear_bias, .fan_in = 4}};
    model.aliases = {{"tied.scale", "scale"}};
    Program run, both;
    run.name = "forward";
    run.inputs = {x, ids};
    run.outputs = with_loss ? std::vector{y, loss} : std::vector{y};
    run.buffers = buffers;
    run.kernels = {"multiply"};
    run.run = with_loss ? forward_loss : forward;
    run.check_inputs = check;
    if (with_loss) run.needs = {{0}, {0, 1}};
    both = run;
    both.name = "gradient";
    both.needs.clear();
    both.inputs = with_loss ? std::vector{x, ids} : std::vector{x, ids, dy};
    both.outputs = with_loss ? std::vector{y, loss, dscale, dx} : std::vector{y, dscale, dx};
    both.run = with_loss ? gradient_loss : gradient;
    model.programs = {run, both};
    return model;
}

}  // namespace

const Model& small_model() {
    static const Model model = build(false);
    return model;
}

const Model& small_model_with_loss() {
    static const Model model = build(true);
    return model;
}

int prepare_count() { return g_prepared; }

}  // namespace fovea::test
