// A model with the transformer's programs, small enough to be written by hand: the host's tests run
// against it. Token t's hidden state is the mean of the source's embeddings, plus the embedding of
// the token before it, plus half of the one before that (which decoding must find in its cache).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../../../runtime/error.h"
#include "../../../runtime/parallel/team.h"
#include "../../../runtime/program.h"

namespace fake {

using fovea::runtime::Call;
using fovea::runtime::DType;
using fovea::runtime::Extent;
using fovea::runtime::Initial;
using fovea::runtime::Model;
using fovea::runtime::Program;
using fovea::runtime::Team;
using fovea::runtime::TensorSpec;

inline constexpr int kHidden = 8;
enum Dim { batch_dim, src_len_dim, tgt_len_dim, steps_dim, src_vocab_dim, tgt_vocab_dim };
enum Parameter { src_embedding, tgt_embedding, dense_weight, dense_bias, parameter_count };

/// Called before each training step with its number, when set: tests raise signals here.
inline std::function<void(std::uint64_t)> before_step;

/// The vocabularies' size in the model that was made last, or 0 where they are dims.
inline std::int64_t static_vocabulary = 0;

/// One call's sizes and tensors.
class View {
  public:
    explicit View(const Call& call) : call_(call) {}
    std::int64_t dim(Dim number) const {
        return number >= src_vocab_dim && static_vocabulary ? static_vocabulary
                                                            : call_.dims[number];
    }
    const float* parameter(Parameter i) const {
        return i == dense_weight && dense_ ? dense_ : tensor<float>(i);
    }
    /// Reads the weight of the dense layer elsewhere.
    void take_dense_weight(const float* values) { dense_ = values; }
    template <class T>
    T* tensor(int i) const {
        return static_cast<T*>(call_.tensors[i]);
    }
    template <class T>
    T* past_parameters(int i) const {
        return tensor<T>(parameter_count + i);
    }

  private:
    const Call& call_;
    const float* dense_ = nullptr;
};

/// The mean of `count` rows of kHidden floats, found through `row(i)`.
template <class Row>
std::vector<float> mean_of_rows(std::int64_t count, Row row) {
    std::vector<float> mean(kHidden, 0.0f);
    for (std::int64_t i = 0; i < count; ++i) {
        for (int h = 0; h < kHidden; ++h) mean[h] += row(i)[h] / static_cast<float>(count);
    }
    return mean;
}

/// Logits of one hidden state.
inline void project(const View& view, const float* hidden, float* logits) {
    const std::int64_t words = view.dim(tgt_vocab_dim);
    for (std::int64_t w = 0; w < words; ++w) {
        logits[w] = view.parameter(dense_bias)[w];
        for (int h = 0; h < kHidden; ++h) {
            logits[w] += view.parameter(dense_weight)[w * kHidden + h] * hidden[h];
        }
    }
}

/// The cross entropy of a label; `logits` become their gradient.
inline float cross_entropy(std::vector<float>& logits, std::int32_t label) {
    float largest = logits[0], sum = 0;
    for (const float x : logits) largest = std::max(largest, x);
    for (float& x : logits) sum += x = std::exp(x - largest);
    for (float& x : logits) x /= sum;
    const float loss = -std::log(logits[static_cast<std::size_t>(label)]);
    logits[static_cast<std::size_t>(label)] -= 1;
    return loss;
}

/// src, src_lens, tgt, labels, tgt_lens of `training_step` and `evaluate`.
struct TrainingInputs {
    explicit TrainingInputs(const View& v)
        : src(v.past_parameters<std::int32_t>(0)),
          src_lens(v.past_parameters<std::int32_t>(1)),
          tgt(v.past_parameters<std::int32_t>(2)),
          labels(v.past_parameters<std::int32_t>(3)),
          tgt_lens(v.past_parameters<std::int32_t>(4)) {}
    const std::int32_t *src, *src_lens, *tgt, *labels, *tgt_lens;
};

/// Runs one sequence; `gradients`, unless null, are the parameters' in their order.
inline float run_sequence(const View& view, std::int64_t b, float noise, float* logits_out,
                          float* const* gradients) {
    const TrainingInputs in(view);
    const std::int64_t words = view.dim(tgt_vocab_dim), steps = view.dim(tgt_len_dim);
    const std::int32_t* src = in.src + b * view.dim(src_len_dim);
    const std::int32_t* tgt = in.tgt + b * steps;
    const float* memory = view.parameter(src_embedding);
    const float* embedding = view.parameter(tgt_embedding);
    const auto context =
        mean_of_rows(in.src_lens[b], [&](std::int64_t i) { return memory + src[i] * kHidden; });
    float loss = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
        std::vector<float> hidden(kHidden), logits(static_cast<std::size_t>(words));
        for (int h = 0; h < kHidden; ++h) {
            hidden[h] = context[h] * noise + embedding[tgt[t] * kHidden + h];
            if (t > 0) hidden[h] += 0.5f * embedding[tgt[t - 1] * kHidden + h];
        }
        project(view, hidden.data(), logits.data());
        if (logits_out)
            std::copy(logits.begin(), logits.end(), logits_out + (b * steps + t) * words);
        if (t >= in.tgt_lens[b]) continue;
        loss += cross_entropy(logits, in.labels[b * steps + t]) / static_cast<float>(steps);
        if (!gradients) continue;
        for (std::int64_t w = 0; w < words; ++w) {
            const float g = logits[static_cast<std::size_t>(w)] / static_cast<float>(steps);
            gradients[dense_bias][w] += g;
            for (int h = 0; h < kHidden; ++h) {
                const float back = g * view.parameter(dense_weight)[w * kHidden + h];
                gradients[dense_weight][w * kHidden + h] += g * hidden[h];
                gradients[tgt_embedding][tgt[t] * kHidden + h] += back;
                if (t > 0) gradients[tgt_embedding][tgt[t - 1] * kHidden + h] += 0.5f * back;
                for (std::int64_t i = 0; i < in.src_lens[b]; ++i) {
                    gradients[src_embedding][src[i] * kHidden + h] +=
                        back * noise / static_cast<float>(in.src_lens[b]);
                }
            }
        }
    }
    return loss;
}

inline void run_training_step(const Call& call) {
    if (before_step) before_step(call.step);
    const View view(call);
    float* loss = view.past_parameters<float>(5);
    float* gradients[parameter_count];
    const std::int64_t rows[] = {view.dim(src_vocab_dim), view.dim(tgt_vocab_dim),
                                 view.dim(tgt_vocab_dim), view.dim(tgt_vocab_dim)};
    for (int i = 0; i < parameter_count; ++i) {
        gradients[i] = view.past_parameters<float>(6 + i);
        const std::int64_t width = i == dense_bias ? 1 : kHidden;
        std::fill_n(gradients[i], rows[i] * width, 0.0f);
    }
    for (std::int64_t b = 0; b < view.dim(batch_dim); ++b) {
        // Stands for dropout: depends on seed, step and row.
        const std::uint64_t draw =
            (call.seed * 31 + call.step) * 17 + static_cast<std::uint64_t>(b);
        const float noise = 1 + 0.01f * static_cast<float>(draw * 2654435761u % 64) / 64;
        loss[b] = run_sequence(view, b, noise, nullptr, gradients);
    }
    Team team;
    if (call.finish) call.finish(call.finish_state, team);
}

// Reads a copy of the dense layer's weight, which it prepares.
inline void run_evaluate(const Call& call) {
    View view(call);
    auto* const copy = view.past_parameters<float>(7);
    if (call.prepare)
        std::copy_n(view.parameter(dense_weight), view.dim(tgt_vocab_dim) * kHidden, copy);
    view.take_dense_weight(copy);
    for (std::int64_t b = 0; b < view.dim(batch_dim); ++b) {
        view.past_parameters<float>(6)[b] =
            run_sequence(view, b, 1, view.past_parameters<float>(5), nullptr);
    }
}

/// Of all calls of `prefill`: the most tokens, with padding, that one has read.
inline std::int64_t most_encoded = 0;

/// Logits of one target token and what stands `before` it, null for nothing.
inline void decode_token(const View& view, const float* memory, std::int32_t length,
                         const float* embedding, const float* before, float* logits) {
    auto hidden = mean_of_rows(length, [&](std::int64_t i) { return memory + i * kHidden; });
    for (int h = 0; h < kHidden; ++h) {
        hidden[h] = hidden[h] * 1 + embedding[h];
        if (before) hidden[h] += 0.5f * before[h];
    }
    project(view, hidden.data(), logits);
}

// Inputs: src, src_lens, tgt of one token; then logits, memory, which is kept, and the cache.
inline void run_prefill(const Call& call) {
    const View view(call);
    const std::int64_t src_len = view.dim(src_len_dim);
    most_encoded = std::max(most_encoded, view.dim(batch_dim) * src_len);
    auto* memory = view.past_parameters<float>(4);
    const auto* src = view.past_parameters<std::int32_t>(0);
    for (std::int64_t i = 0; i < view.dim(batch_dim) * src_len; ++i)
        std::copy_n(view.parameter(src_embedding) + src[i] * kHidden, kHidden,
                    memory + i * kHidden);
    for (std::int64_t b = 0; b < view.dim(batch_dim); ++b) {
        const std::int32_t token = view.past_parameters<std::int32_t>(2)[b];
        const float* embedding = view.parameter(tgt_embedding) + token * kHidden;
        float* cache = view.past_parameters<float>(5) + b * view.dim(steps_dim) * kHidden;
        std::fill_n(cache, view.dim(steps_dim) * kHidden, 0.0f);
        std::copy_n(embedding, kHidden, cache);
        decode_token(view, memory + b * src_len * kHidden, view.past_parameters<std::int32_t>(1)[b],
                     embedding, nullptr,
                     view.past_parameters<float>(3) + b * view.dim(tgt_vocab_dim));
    }
}

// Inputs: tgt, position, src_lens, memory, cache; then logits, and the cache with one row more, in
// place.
inline void run_decode_step(const Call& call) {
    const View view(call);
    const std::int64_t steps = view.dim(steps_dim), src_len = view.dim(src_len_dim);
    const std::int64_t position = *view.past_parameters<std::int32_t>(1);
    for (std::int64_t b = 0; b < view.dim(batch_dim); ++b) {
        const std::int32_t token = view.past_parameters<std::int32_t>(0)[b];
        const float* embedding = view.parameter(tgt_embedding) + token * kHidden;
        float* cache = view.past_parameters<float>(6) + b * steps * kHidden;
        std::copy_n(embedding, kHidden, cache + position * kHidden);
        decode_token(view, view.past_parameters<float>(3) + b * src_len * kHidden,
                     view.past_parameters<std::int32_t>(2)[b], embedding,
                     cache + (position - 1) * kHidden,
                     view.past_parameters<float>(5) + b * view.dim(tgt_vocab_dim));
    }
}

inline void check_source_ids(const Call& call) {
    const View view(call);
    const auto* src = view.past_parameters<std::int32_t>(0);
    for (std::int64_t i = 0; i < view.dim(batch_dim) * view.dim(src_len_dim); ++i) {
        if (src[i] < 0 || src[i] >= view.dim(src_vocab_dim)) {
            throw fovea::runtime::UserError("src holds an id out of range");
        }
    }
}

inline TensorSpec ids(std::string name, std::vector<Extent> shape) {
    return {std::move(name), DType::i32, std::move(shape), Initial::zeros, 0};
}

inline TensorSpec floats(std::string name, std::vector<Extent> shape,
                         Initial initial = Initial::zeros) {
    return {std::move(name), DType::f32, std::move(shape), initial, kHidden};
}

inline TensorSpec state(TensorSpec spec) {
    spec.state = true;
    return spec;
}

inline const Extent batch = Extent::dim(batch_dim), src_len = Extent::dim(src_len_dim),
                    tgt_len = Extent::dim(tgt_len_dim), steps = Extent::dim(steps_dim);

inline Program make_program(std::string name, std::vector<TensorSpec> inputs,
                            std::vector<TensorSpec> outputs, void (*run)(const Call&)) {
    Program program;
    program.name = std::move(name);
    program.inputs = std::move(inputs);
    program.outputs = std::move(outputs);
    program.run = run;
    if (program.inputs[0].name == "src") program.check_inputs = check_source_ids;
    return program;
}

inline Program make_training_step(const Model& model) {
    std::vector<TensorSpec> outputs = {floats("loss", {batch})};
    for (const TensorSpec& parameter : model.parameters) {
        outputs.push_back(floats(parameter.name + ".grad", parameter.shape));
    }
    return make_program(
        "training_step",
        {ids("src", {batch, src_len}), ids("src_lens", {batch}), ids("tgt", {batch, tgt_len}),
         ids("labels", {batch, tgt_len}), ids("tgt_lens", {batch})},
        std::move(outputs), run_training_step);
}

inline TensorSpec memory() { return floats("encoder.kept", {batch, src_len, kHidden}); }
inline TensorSpec cache() { return floats("decoder.keys", {batch, steps, kHidden}); }

inline Program make_prefill(const Extent& words) {
    return make_program(
        "prefill",
        {ids("src", {batch, src_len}), ids("src_lens", {batch}), ids("tgt", {batch, tgt_len})},
        {floats("logits", {batch, 1, words}), memory(), cache()}, run_prefill);
}

inline Program make_decode_step(const Extent& words) {
    return make_program("decode_step",
                        {ids("tgt", {batch, 1}), ids("position", {1}), ids("src_lens", {batch}),
                         state(memory()), state(cache())},
                        {floats("logits", {batch, 1, words}), state(cache())}, run_decode_step);
}

/// The model. With `static_words` above 0 both vocabularies have that size, and are not dims.
inline Model make_model(std::int64_t static_words = 0, std::string depth = "1") {
    static_vocabulary = static_words;
    Model model;
    model.name = "transformer";
    model.dims = {"batch", "src_len", "tgt_len", "steps"};
    model.settings = {{"hidden", "8"}, {"layers", std::move(depth)}};
    for (const char* side : {"src_vocab", "tgt_vocab"}) {
        if (static_words) model.settings.push_back({side, std::to_string(static_words)});
        if (!static_words) model.dims.push_back(side);
    }
    const Extent src_words = static_words ? Extent(static_words) : Extent::dim(src_vocab_dim);
    const Extent tgt_words = static_words ? Extent(static_words) : Extent::dim(tgt_vocab_dim);
    model.parameters = {
        floats("encoder.embedding.weight", {src_words, kHidden}, Initial::normal),
        floats("decoder.embedding.weight", {tgt_words, kHidden}, Initial::normal),
        floats("decoder.dense.weight", {tgt_words, kHidden}, Initial::xavier_uniform),
        floats("decoder.dense.bias", {tgt_words}, Initial::linear_bias)};

    const Program training = make_training_step(model);
    model.programs = {
        training,
        make_program("evaluate", training.inputs,
                     {floats("logits", {batch, tgt_len, tgt_words}), floats("loss", {batch})},
                     run_evaluate),
        make_prefill(tgt_words), make_decode_step(tgt_words)};
    model.programs[1].buffers = {
        {.name = "dense weight copy", .shape = {tgt_words, Extent(kHidden)}, .prepared = true}};
    return model;
}

}  // namespace fake
