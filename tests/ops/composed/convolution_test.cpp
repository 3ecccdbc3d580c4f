// Convolutions against the sums that they are, and against values of PyTorch.
#include "codegen/ops/composed/convolution.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct ConvolutionCase {
    Extents x, weight;
    Conv2dOptions options{};
};

/// By the definition: a sum over the channels of the output's group and over the kernel.
Array convolved(const Array& x, const Array& w, const Conv2dOptions& o) {
    const auto positions = [](std::int64_t n, std::int64_t k, int stride, int padding,
                              int dilation) {
        return (n + 2 * padding - dilation * (k - 1) - 1) / stride + 1;
    };
    const auto at = [](const Array& a, std::int64_t b, std::int64_t c, std::int64_t y,
                       std::int64_t z) {
        return a.values[std::size_t(((b * a.shape[1] + c) * a.shape[2] + y) * a.shape[3] + z)];
    };
    const std::int64_t outputs = w.shape[0] / o.groups.value();
    Array result{
        {x.shape[0], w.shape[0],
         positions(x.shape[2], w.shape[2], o.stride.height, o.padding.height, o.dilation.height),
         positions(x.shape[3], w.shape[3], o.stride.width, o.padding.width, o.dilation.width)},
        {}};
    for (std::int64_t b = 0; b < result.shape[0]; ++b)
        for (std::int64_t n = 0; n < result.shape[1]; ++n)
            for (std::int64_t y = 0; y < result.shape[2]; ++y)
                for (std::int64_t z = 0; z < result.shape[3]; ++z) {
                    double total = 0;
                    for (std::int64_t c = 0; c < w.shape[1]; ++c)
                        for (std::int64_t i = 0; i < w.shape[2]; ++i)
                            for (std::int64_t j = 0; j < w.shape[3]; ++j) {
                                const std::int64_t row =
                                    y * o.stride.height - o.padding.height + i * o.dilation.height;
                                const std::int64_t column =
                                    z * o.stride.width - o.padding.width + j * o.dilation.width;
                                const bool inside = row >= 0 && row < x.shape[2] && column >= 0 &&
                                                    column < x.shape[3];
                                if (inside)
                                    total += at(w, n, c, i, j) *
                                             at(x, b, n / outputs * w.shape[1] + c, row, column);
                            }
                    result.values.push_back(total);
                }
    return result;
}

const std::vector<ConvolutionCase> kCases = {
    {{2, 3, 5, 7}, {4, 3, 3, 3}},
    {{2, 3, 5, 7}, {4, 3, 3, 3}, {.padding = 1}},
    {{1, 2, 6, 9}, {3, 2, 3, 2}, {.stride = 2, .padding = 1}},
    {{1, 2, 6, 9}, {3, 2, 2, 3}, {.stride = {3, 4}}},  // further apart than a kernel is wide
    {{1, 2, 7, 8}, {3, 2, 3, 2}, {.padding = {0, 2}, .dilation = {2, 3}}},
    {{1, 2, 9, 8}, {2, 2, 2, 3}, {.stride = 2, .dilation = {3, 2}}},
    {{2, 1, 4, 3}, {1, 1, 4, 3}},                  // of the whole length, one channel
    {{1, 1, 2, 2}, {2, 1, 3, 3}, {.padding = 1}},  // more kernel than x
    {{2, 3, 4, 4}, {5, 3, 1, 1}},
    {{2, 3, 4, 5}, {5, 3, 1, 1}, {.stride = 2}},
    {{1, 4, 5, 5}, {6, 2, 3, 2}, {.padding = 1, .groups = 2}},
    {{2, 6, 5, 6}, {3, 2, 3, 3}, {.stride = {2, 1}, .groups = 3}},
    {{2, 3, 5, 5}, {3, 1, 3, 3}, {.padding = 1, .groups = 3}},  // each channel by itself
    {{1, 3, 5, 6}, {6, 1, 2, 3}, {.stride = 2, .dilation = 2, .groups = 3}},
    {{0, 2, 5, 5}, {3, 2, 3, 3}, {.padding = 1}},
};

}  // namespace

TEST_CASE("conv2d is the sum that it says, and so are its gradients") {
    for (const ConvolutionCase& each : kCases) {
        Graph graph;
        Tensor x = input(graph, "x", each.x), w = input(graph, "w", each.weight);
        output("y", conv2d(x, w, each.options));
        const Arrays arrays{{"x", random_array(each.x, 1)}, {"w", random_array(each.weight, 2)}};
        INFO("weight ", each.weight[0], " ", each.weight[1], " ", each.weight[2], " ",
             each.weight[3]);
        check_close(run(graph, arrays), convolved(arrays.at("x"), arrays.at("w"), each.options));
        check_gradients(graph, arrays);
    }
}

TEST_CASE("conv1d is conv2d of one row") {
    for (const ConvolutionCase& each : kCases) {
        const Extents line{each.x[0], each.x[1], each.x[3]};
        const Extents weight{each.weight[0], each.weight[1], each.weight[3]};
        const Conv1dOptions options{each.options.stride.width, each.options.padding.width,
                                    each.options.dilation.width, each.options.groups};
        Graph graph;
        Tensor x = input(graph, "x", line), w = input(graph, "w", weight);
        Tensor b = input(graph, "b", {weight[0]});
        output("y", conv1d(x, w, b, options));
        Arrays arrays{{"x", random_array(line, 3)},
                      {"w", random_array(weight, 4)},
                      {"b", random_array({weight[0]}, 5)}};
        Array wide_x = arrays.at("x"), wide_w = arrays.at("w");
        wide_x.shape.insert(wide_x.shape.begin() + 2, 1);
        wide_w.shape.insert(wide_w.shape.begin() + 2, 1);
        Conv2dOptions row = each.options;
        row.stride.height = row.dilation.height = 1;
        row.padding.height = 0;
        Array expected = convolved(wide_x, wide_w, row);
        expected.shape.erase(expected.shape.begin() + 2);
        const std::int64_t length = expected.shape[2];
        for (std::size_t i = 0; i < expected.values.size(); ++i)
            expected.values[i] +=
                arrays.at("b").values[i / std::size_t(length) % std::size_t(weight[0])];
        check_close(run(graph, arrays), expected);
        check_gradients(graph, arrays);
    }
}

TEST_CASE("values of PyTorch") {
    // torch.nn.functional.conv1d(torch.arange(8.).view(1, 2, 4), torch.arange(12.).view(2, 2, 3),
    // torch.tensor([1., -1.]), stride=2, padding=1)
    Graph graph;
    Tensor x = input(graph, "x", {1, 2, 4}), w = input(graph, "w", {2, 2, 3});
    Tensor b = input(graph, "b", {2});
    output("y", conv1d(x, w, b, {.stride = 2, .padding = 1}));
    check_close(
        run(graph, {{"x", counting({1, 2, 4})}, {"w", counting({2, 2, 3})}, {"b", {{2}, {1, -1}}}}),
        {{1, 2, 2}, {44, 83, 102, 225}});
}
