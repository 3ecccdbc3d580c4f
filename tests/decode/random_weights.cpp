#include "tests/decode/random_weights.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/safetensors.h"
#include "runtime/training/random_stream.h"

namespace fovea::test {

RandomWeights::RandomWeights(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        Array array;
        for (const Dim& dim : node.shape) array.shape.push_back(dim.value());
        const bool is_vector = node.shape.rank() == 1;
        const runtime::RandomStream random(5, std::uint32_t(arrays_.size()));
        for (std::int64_t i = 0; i < array.size(); ++i)
            array.values.push_back(
                float(random.normal(std::uint64_t(i)) * 0.3 + (is_vector ? 1 : 0)));
        arrays_.emplace_back(graph.path(node.scope), std::move(array));
    }
}

void RandomWeights::set(Interpreter& interpreter) const {
    for (const auto& [name, array] : arrays_)
        if (interpreter.has(name)) interpreter.set(name, array);
}

void RandomWeights::write(const std::string& path) const {
    std::vector<std::vector<float>> floats;
    std::vector<runtime::TensorView> tensors;
    for (const auto& [name, array] : arrays_) {
        floats.emplace_back(array.values.begin(), array.values.end());
        tensors.push_back(runtime::f32_tensor(name, array.shape, floats.back()));
    }
    runtime::write_safetensors(path, tensors);
}

void write_word_tokenizer(const std::string& path) {
    nlohmann::json vocabulary;
    for (int i = 0; i < kWordCount; ++i) vocabulary["w" + std::to_string(i)] = i;
    const nlohmann::json tokenizer = {
        {"version", "1.0"},
        {"added_tokens", nlohmann::json::array()},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
        {"post_processor", nullptr},
        {"decoder", nullptr},
        {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w0"}}}};
    std::ofstream(path) << tokenizer.dump();
}

}  // namespace fovea::test
