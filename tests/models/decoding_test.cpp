// Decoding with a cache, a token at a time, equals the full forward pass.
#include <string>

#include "models/registry.h"
#include "tests/models/run_everywhere.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::int64_t kBatch = 3, kSource = 5, kTarget = 4;

/// Ids from 4 on, with the padding (1) from the lengths on.
Array padded_ids(std::int64_t steps, const std::vector<int>& lengths) {
    return array_of({kBatch, steps}, [&](int i) {
        int row = i / int(steps), step = i % int(steps);
        return step < lengths[std::size_t(row)] ? 4 + (5 * i + row) % 9 : 1;
    });
}

/// Gives an interpreter the parameters, scattered, and what it has of the inputs.
void give(Interpreter& interpreter, const Arrays& inputs) {
    for (const Node& node : interpreter.graph().nodes) {
        if (node.op != Op::parameter) continue;
        std::vector<std::int64_t> shape;
        for (const Dim& dim : node.shape) shape.push_back(dim.value());
        Array value = scattered(shape);
        for (double& x : value.values) x /= double(shape.back());
        interpreter.set(interpreter.graph().path(node.scope), value);
    }
    for (const auto& [name, value] : inputs)
        if (interpreter.has(name)) interpreter.set(name, value);
}

Graph program(const ModelEntry& entry, const std::string& name, const SettingValues& settings) {
    for (const ExtraProgram& extra : entry.programs)
        if (extra.name == name) return extra.build(settings);
    FAIL("no program ", name);
    return {};
}

void check_decoding(const std::string& model, const SettingValues& settings) {
    CAPTURE(model);
    const ModelEntry& entry = *models::find_model(model);
    const std::vector<int> lengths = {5, 2, 3};
    Arrays inputs = {{"src", padded_ids(kSource, lengths)},
                     {"src_lens", array({kBatch}, {5, 2, 3})},
                     {"tgt", padded_ids(kTarget, {4, 4, 4})}};
    const Array tgt = inputs["tgt"];
    Interpreter full(entry.build(settings)), encode(program(entry, "encode", settings)),
        decode(program(entry, "decode_step", settings));
    give(full, inputs);
    give(encode, inputs);
    for (auto& [name, value] : encode.outputs()) inputs[name] = value;
    for (const Node& node : decode.graph().nodes) {
        std::string name(node.name);
        bool is_cache =
            node.op == Op::input && (name.ends_with(".keys") || name.ends_with(".values"));
        if (is_cache) {
            std::int64_t width = node.shape[-1].value();
            inputs[name] = array_of({kBatch, kTarget, width}, [](int) { return 0; });
        }
    }
    const Array& expected = full.output("logits");
    std::int64_t words = expected.shape[2];
    for (std::int64_t t = 0; t < kTarget; ++t) {
        inputs["token"] =
            array_of({kBatch}, [&](int b) { return tgt.values[std::size_t(b * kTarget + t)]; });
        inputs["position"] = array({1}, {double(t)});
        give(decode, inputs);
        Arrays outputs = decode.outputs();
        Array row = array_of({kBatch, words}, [&](int i) {
            return expected.values[std::size_t((i / words * kTarget + t) * words + i % words)];
        });
        check_close(outputs["logits"], row, 1e-9);
        for (auto& [name, value] : outputs)
            if (name != "logits") inputs[name] = value;
    }
}

}  // namespace

TEST_CASE("the transformer") {
    check_decoding("transformer", {{"src_vocab", "13"},
                                   {"tgt_vocab", "14"},
                                   {"hidden", "12"},
                                   {"ffn", "10"},
                                   {"heads", "3"}});
}

TEST_CASE("the paper's model, at each scale") {
    for (const char* scale : {"emb", "prj", "none"})
        check_decoding("attention_is_all_you_need", {{"src_vocab", "13"},
                                                     {"tgt_vocab", "14"},
                                                     {"d_model", "12"},
                                                     {"d_inner", "10"},
                                                     {"layers", "2"},
                                                     {"heads", "3"},
                                                     {"d_k", "4"},
                                                     {"d_v", "5"},
                                                     {"scale", scale}});
}

TEST_CASE("seq2seq_attention, whose encoder runs over padding") {
    for (const char* layers : {"1", "3"})
        check_decoding("seq2seq_attention", {{"src_vocab", "13"},
                                             {"tgt_vocab", "14"},
                                             {"embed", "7"},
                                             {"hidden", "12"},
                                             {"layers", layers}});
}
