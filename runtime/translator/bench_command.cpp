// `bench`: times training step, forward pass and decoding with random ids, at given sizes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../device/choose_device.h"
#include "../error.h"
#include "../files/json.h"
#include "../options.h"
#include "../runner/threads_option.h"
#include "../text/vocabulary.h"
#include "../threads.h"
#include "../training/random_stream.h"
#include "../training_step.h"
#include "commands.h"
#include "decoding.h"
#include "limits.h"

namespace fovea::runtime {

namespace {

struct BenchSizes {
    std::int64_t batch = 64, steps = 10, src_vocab = 200, tgt_vocab = 200;
};

/// One row of the report.
struct Timing {
    std::string name;
    double median = 0, p10 = 0, p90 = 0;  // milliseconds
    double tokens_per_second = 0;         // target tokens, at the median
};

Options bench_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " bench",
                    "Times the training step, the forward pass and decoding, with random ids.");
    options.add(count_option("batch", "sequences at a time", kMostAtATime, "64"))
        .add(count_option("steps", "tokens a sequence", kMostSteps, "10"))
        .add(count_option("vocab", "words of each vocabulary, at least 5", kMostVocabulary, "200"))
        .add(count_option("repeats", "runs measured", kMostAtATime, "30"))
        .add({"json", Kind::flag, "", "print a JSON object"})
        .add(device::device_option())
        .add(threads_option())
        .example("at the sizes of small trainings", "")
        .example("one long sentence on one thread", "--batch 1 --steps 32 --threads 1");
    return options;
}

/// The size that the model fixes, else `chosen`.
std::int64_t vocabulary_size(const Model& model, const std::string& name, std::int64_t chosen) {
    const bool is_dim = std::find(model.dims.begin(), model.dims.end(), name) != model.dims.end();
    for (const Setting& setting : model.settings) {
        if (is_dim || setting.name != name) continue;
        if (const auto fixed = parse_integer(setting.value)) return *fixed;
    }
    return chosen;
}

BenchSizes sizes_of(const Options& options, const Model& model) {
    BenchSizes sizes;
    sizes.batch = options.integer("batch");
    sizes.steps = options.integer("steps");
    sizes.src_vocab = vocabulary_size(model, "src_vocab", options.integer("vocab"));
    sizes.tgt_vocab = vocabulary_size(model, "tgt_vocab", options.integer("vocab"));
    if (std::min(sizes.src_vocab, sizes.tgt_vocab) <= kEnd + 1) {
        throw UserError("a vocabulary needs at least 5 words, not " +
                        std::to_string(std::min(sizes.src_vocab, sizes.tgt_vocab)));
    }
    return sizes;
}

double value_at(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

Timing time_runs(const std::string& name, std::int64_t repeats, std::int64_t tokens,
                 const std::function<void()>& run) {
    using Clock = std::chrono::steady_clock;
    for (int warm_up = 0; warm_up < 3; ++warm_up) run();
    std::vector<double> times;
    for (std::int64_t i = 0; i < repeats; ++i) {
        const Clock::time_point start = Clock::now();
        run();
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    const double median = value_at(times, 0.5);
    return {name, median, value_at(times, 0.1), value_at(times, 0.9),
            1000 * static_cast<double>(tokens) / std::max(median, 1e-9)};
}

/// Random words, no reserved ones.
void fill_words(std::span<std::int32_t> ids, std::int64_t vocabulary, std::uint32_t stream) {
    const RandomStream random(1, stream);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto words = static_cast<std::uint64_t>(vocabulary - kEnd - 1);
        ids[i] = static_cast<std::int32_t>(random.below(i, words)) + kEnd + 1;
    }
}

void fill_with_tokens(Instance& instance, const BenchSizes& sizes) {
    const auto count = static_cast<std::size_t>(sizes.batch * sizes.steps);
    fill_words({instance.input<std::int32_t>("src"), count}, sizes.src_vocab, 1);
    fill_words({instance.input<std::int32_t>("tgt"), count}, sizes.tgt_vocab, 2);
    fill_words({instance.input<std::int32_t>("labels"), count}, sizes.tgt_vocab, 3);
    for (const char* lengths : {"src_lens", "tgt_lens"}) {
        if (!instance.has_input(lengths)) continue;
        std::fill_n(instance.input<std::int32_t>(lengths), sizes.batch,
                    static_cast<std::int32_t>(sizes.steps));
    }
}

DimValues dims_of(const BenchSizes& sizes) {
    return {{"batch", sizes.batch}, {"src_len", sizes.steps},       {"tgt_len", sizes.steps},
            {"steps", sizes.steps}, {"src_vocab", sizes.src_vocab}, {"tgt_vocab", sizes.tgt_vocab}};
}

Timing time_training(const Model& model, Parameters& parameters, const BenchSizes& sizes,
                     std::int64_t repeats) {
    Optimizer optimizer(parameters.trained_size());
    TrainingStep step(model, parameters, optimizer);
    step.instance().bind(dims_of(sizes));
    fill_with_tokens(step.instance(), sizes);
    return time_runs("training_step", repeats, sizes.batch * sizes.steps,
                     [&] { step.run(1, optimizer.step(), {.learning_rate = 0.0001, .clip = 1}); });
}

Timing time_forward(const Model& model, Parameters& parameters, const BenchSizes& sizes,
                    std::int64_t repeats) {
    Instance instance(model, "evaluate", parameters);
    instance.bind(dims_of(sizes));
    fill_with_tokens(instance, sizes);
    return time_runs("forward", repeats, sizes.batch * sizes.steps, [&] { instance.run(); });
}

/// Encodes a batch and decodes all its steps; the tokens read are random.
Timing time_decoding(const Model& model, Parameters& parameters, const BenchSizes& sizes,
                     std::int64_t repeats) {
    Decoding decoding(model, parameters,
                      {{"src_vocab", sizes.src_vocab}, {"tgt_vocab", sizes.tgt_vocab}});
    const auto batch = static_cast<std::size_t>(sizes.batch);
    std::vector<std::int32_t> sources(batch * static_cast<std::size_t>(sizes.steps));
    std::vector<std::int32_t> lengths(batch, static_cast<std::int32_t>(sizes.steps));
    std::vector<std::int32_t> tokens(batch);
    fill_words(sources, sizes.src_vocab, 1);
    fill_words(tokens, sizes.tgt_vocab, 2);
    return time_runs("decode", repeats, sizes.batch * sizes.steps, [&] {
        decoding.begin(sources, lengths, tokens, sizes.steps);
        for (std::int64_t step = 1; step < sizes.steps; ++step) decoding.step(tokens, step);
    });
}

void print_json(const Model& model, const BenchSizes& sizes, const std::vector<Timing>& timings) {
    Json::Array results;
    for (const Timing& timing : timings) {
        results.push_back(Json::Object{
            {"name", timing.name},
            {"ms",
             Json::Object{{"median", timing.median}, {"p10", timing.p10}, {"p90", timing.p90}}},
            {"tokens_per_second", timing.tokens_per_second}});
    }
    const Json report = Json::Object{{"model", model.name},
                                     {"threads", thread_count()},
                                     {"sizes", Json::Object{{"batch", sizes.batch},
                                                            {"steps", sizes.steps},
                                                            {"src_vocab", sizes.src_vocab},
                                                            {"tgt_vocab", sizes.tgt_vocab}}},
                                     {"results", std::move(results)}};
    std::printf("%s\n", report.text().c_str());
}

void print_table(const BenchSizes& sizes, const std::vector<Timing>& timings) {
    std::printf("batch %lld, steps %lld, vocabularies %lld and %lld, threads %d\n",
                static_cast<long long>(sizes.batch), static_cast<long long>(sizes.steps),
                static_cast<long long>(sizes.src_vocab), static_cast<long long>(sizes.tgt_vocab),
                thread_count());
    std::printf("%-14s %10s %10s %10s %12s\n", "", "median ms", "p10 ms", "p90 ms", "tokens/s");
    for (const Timing& t : timings) {
        std::printf("%-14s %10.3f %10.3f %10.3f %12.0f\n", t.name.c_str(), t.median, t.p10, t.p90,
                    t.tokens_per_second);
    }
}

}  // namespace

int bench_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = bench_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Model model = device::choose_device(generated, options.text("device"));
    const BenchSizes sizes = sizes_of(options, model);
    const std::int64_t repeats = options.integer("repeats");
    Parameters parameters(model, dims_of(sizes));
    parameters.initialize(1);
    const std::vector<Timing> timings = {time_training(model, parameters, sizes, repeats),
                                         time_forward(model, parameters, sizes, repeats),
                                         time_decoding(model, parameters, sizes, repeats)};
    if (options.flag("json")) {
        print_json(model, sizes, timings);
    } else {
        print_table(sizes, timings);
    }
    return 0;
}

}  // namespace fovea::runtime
