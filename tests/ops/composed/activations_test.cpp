// Activations have PyTorch's values and gradients.
#include "codegen/ops/composed/activations.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Activation {
    const char* name;
    Tensor (*apply)(Tensor);
    std::vector<double> values, slopes;
};

const std::vector<double> kAt = {-30, -2, -1, -0.5, 0, 0.5, 1, 2, 6, 30};

// Of torch 2.13, in float64.
const Activation kActivations[] = {
    {"gelu",
     [](Tensor x) { return gelu(x); },
     {0.0, -0.0455002638963584, -0.158655253931457, -0.154268769362993, 0.0, 0.345731230637007,
      0.841344746068543, 1.95449973610364, 5.99999999408047, 30.0},
     {0.0, -0.0852318010781969, -0.0833154705876863, 0.132504875343837, 0.5, 0.867495124656163,
      1.08331547058769, 1.0852318010782, 1.00000003546871, 1.0}},
    {"gelu_tanh",
     [](Tensor x) { return gelu_tanh(x); },
     {0.0, -0.0454023059122249, -0.158808009391723, -0.154285990174856, 0.0, 0.345714009825144,
      0.841191990608277, 1.95459769408777, 5.9999999999156, 30.0},
     {0.0, -0.0860992566236183, -0.0829640838457825, 0.132630096465358, 0.5, 0.867369903534642,
      1.08296408384578, 1.08609925662362, 1.000000000771, 1.0}},
    {"silu",
     [](Tensor x) { return silu(x); },
     {-2.80728689065179e-12, -0.238405844044235, -0.268941421369995, -0.188770334399073, 0.0,
      0.311229665600927, 0.731058578630005, 1.76159415595576, 5.98516426106019, 29.9999999999972},
     {-2.71371066096313e-12, -0.0907842487848955, 0.0723294881285133, 0.260038812697348, 0.5,
      0.739961187302652, 0.927670511871487, 1.0907842487849, 1.01232643259152, 1.00000000000271}},
    {"softplus",
     [](Tensor x) { return softplus(x); },
     {9.35762296883974e-14, 0.126928011042972, 0.313261687518223, 0.474076984180107,
      0.693147180559945, 0.974076984180107, 1.31326168751822, 2.12692801104297, 6.00247568513773,
      30.0000000000001},
     {9.3576229688393e-14, 0.119202922022118, 0.268941421369995, 0.377540668798145, 0.5,
      0.622459331201855, 0.731058578630005, 0.880797077977882, 0.997527376843365,
      0.999999999999906}},
    {"log_sigmoid",
     [](Tensor x) { return log_sigmoid(x); },
     {-30.0000000000001, -2.12692801104297, -1.31326168751822, -0.974076984180107,
      -0.693147180559945, -0.474076984180107, -0.313261687518223, -0.126928011042972,
      -0.00247568513773045, -9.35762296883974e-14},
     {0.999999999999906, 0.880797077977882, 0.731058578630005, 0.622459331201854, 0.5,
      0.377540668798145, 0.268941421369995, 0.119202922022118, 0.00247262315663477,
      9.3576229688393e-14}},
    {"mish",
     [](Tensor x) { return mish(x); },
     {-2.80728689065192e-12, -0.252501482695709, -0.303401461374109, -0.22074377465173, 0.0,
      0.375245211304895, 0.86509838826731, 1.94395895953399, 5.99992663406525, 30.0},
     {-2.71371066096339e-12, -0.108355092420394, 0.059216755877395, 0.289510677913512, 0.6,
      0.886424375357727, 1.04903622009979, 1.06931793427949, 1.00013414050621, 1.0}},
    {"leaky_relu",
     [](Tensor x) { return leaky_relu(x); },
     {-0.3, -0.02, -0.01, -0.005, 0.0, 0.5, 1.0, 2.0, 6.0, 30.0},
     {0.01, 0.01, 0.01, 0.01, 0.01, 1.0, 1.0, 1.0, 1.0, 1.0}},
    {"elu",
     [](Tensor x) { return elu(x); },
     {-0.999999999999906, -0.864664716763387, -0.632120558828558, -0.393469340287367, 0.0, 0.5, 1.0,
      2.0, 6.0, 30.0},
     {9.35762296884017e-14, 0.135335283236613, 0.367879441171442, 0.606530659712633, 1.0, 1.0, 1.0,
      1.0, 1.0, 1.0}},
    {"relu6",
     [](Tensor x) { return relu6(x); },
     {0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 6.0, 6.0},
     {0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0}},
};

}  // namespace

TEST_CASE("activations and their slopes are PyTorch's, at kinks and far out") {
    const Extents shape{std::int64_t(kAt.size())};
    for (const Activation& activation : kActivations) {
        CAPTURE(activation.name);
        Array slopes{shape, activation.slopes};
        for (std::size_t i = 0; i < kAt.size(); ++i) slopes.values[i] *= double(i + 1);
        check_known({shape, kAt}, {shape, activation.values}, slopes, activation.apply);
    }
}

TEST_CASE("activations keep NaN, and have PyTorch's gradient there") {
    const double none = std::nan("");
    const auto gradient = [&](auto apply) {
        Graph graph;
        output("y", apply(input(graph, "x", {1})));
        CHECK(std::isnan(run(graph, {{"x", filled({1}, none)}}).values[0]));
        Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
        const Arrays arrays{{"x", filled({1}, none)}, {"y.grad", filled({1}, 1)}};
        return run(with, arrays, "x.grad").values[0];
    };
    CHECK(std::isnan(gradient([](Tensor x) { return gelu(x); })));
    CHECK(std::isnan(gradient([](Tensor x) { return gelu_tanh(x); })));
    CHECK(std::isnan(gradient([](Tensor x) { return silu(x); })));
    CHECK(std::isnan(gradient([](Tensor x) { return mish(x); })));
    CHECK(gradient([](Tensor x) { return leaky_relu(x); }) == doctest::Approx(0.01));
    CHECK(gradient([](Tensor x) { return elu(x); }) == 1);
    CHECK(gradient([](Tensor x) { return relu6(x); }) == 1);
}
