// Models against PyTorch in float64: the cases of tests/parity, values and gradients, by the
// composites' gradient rules and by their bodies.
#include <cstring>
#include <filesystem>

#include <fovea.h>

#include "codegen/optimize/select_mode.h"
#include "models/transformer.h"
#include "runtime/safetensors.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

template <class T>
void read_values(const runtime::TensorView& tensor, Array& array) {
    for (std::size_t i = 0; i < array.values.size(); ++i) {
        T value;
        std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
        array.values[i] = double(value);
    }
}

Array read_array(const runtime::TensorView& tensor) {
    Array array{tensor.shape, {}};
    array.values.resize(std::size_t(array.size()));
    if (tensor.dtype == "F32") read_values<float>(tensor, array);
    else if (tensor.dtype == "F64") read_values<double>(tensor, array);
    else if (tensor.dtype == "I32") read_values<std::int32_t>(tensor, array);
    else FAIL("dtype ", tensor.dtype);
    return array;
}

Arrays read_arrays(const std::filesystem::path& path) {
    Arrays arrays;
    runtime::SafetensorsFile file = runtime::read_safetensors(path.string());
    for (const runtime::TensorView& tensor : file.tensors())
        arrays[tensor.name] = read_array(tensor);
    return arrays;
}

double largest(const Array& array) {
    double most = 0;
    for (double value : array.values) most = std::max(most, std::fabs(value));
    return most;
}

/// Expected values are stored in float32: they agree to its precision.
void check_case(const std::string& name, const Graph& graph, bool has_loss) {
    std::filesystem::path folder = std::filesystem::path(FOVEA_SOURCE_DIR) / "tests/parity" / name;
    if (!std::filesystem::exists(folder)) {
        MESSAGE("tests/parity/", name, " is missing");
        return;
    }
    Arrays expected = read_arrays(folder / "expected.safetensors");
    double gradients = 0;
    for (const auto& [key, array] : expected)
        if (key.ends_with(".grad")) gradients = std::max(gradients, largest(array));
    for (bool bodies_first : {false, true}) {
        Graph source = select_mode(graph, false);
        if (bodies_first) source = expand_composites(source);
        Graph with = optimized(add_gradients(source, {.from_loss = has_loss}));
        Interpreter interpreter(with);
        for (const char* file : {"weights.safetensors", "inputs.safetensors"})
            give(interpreter, read_arrays(folder / file));
        for (const auto& [key, array] : expected) {
            INFO(name, ": ", key);
            const Array& actual = interpreter.output(key);
            REQUIRE(actual.shape == array.shape);
            double off = 0, floor = key.ends_with(".grad") ? std::max(gradients / 10, 1e-3) : 1e-3;
            for (std::size_t i = 0; i < array.values.size(); ++i)
                off = std::max(off, std::fabs(actual.values[i] - array.values[i]));
            CHECK(off / std::max(largest(array), floor) < 2e-7);
        }
    }
}

models::TransformerSettings small_settings() {
    models::TransformerSettings settings;
    settings.src_vocab = 20;
    settings.tgt_vocab = 30;
    settings.hidden = {"hidden", 16};
    settings.ffn = {"ffn", 28};
    settings.heads = 2;
    return settings;
}

}  // namespace

TEST_CASE("the transformer equals PyTorch's") {
    Graph graph;
    models::transformer(Scope{&graph}, small_settings());
    check_case("transformer-0", graph, true);
}

TEST_CASE("the encoder equals PyTorch's, normalising over features or tokens too") {
    models::TransformerSettings settings = small_settings();
    Graph features;
    models::transformer_encoder(Scope{&features}, settings);
    check_case("transformer_encoder-0", features, false);
    settings.norm_over = models::NormOver::tokens_and_features;
    settings.src_len = 6;
    Graph tokens;
    models::transformer_encoder(Scope{&tokens}, settings);
    check_case("transformer_encoder-1", tokens, false);
}
