// Random inputs that a program accepts, and the timing of its runs.
#include "bench_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <set>

#include "../error.h"
#include "../memory/halves.h"
#include "../memory/shape.h"
#include "../threads.h"
#include "../training/random_stream.h"

namespace fovea::runtime {
namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool accepts(Instance& instance) {
    try {
        instance.check_inputs();
        return true;
    } catch (const UserError&) {
        return false;
    }
}

constexpr std::int32_t kAny = 1 << 20;

/// Whether the ids and lengths that the program computes are in range, too.
bool runs(Instance& instance) {
    try {
        instance.run(1, 0);
        return true;
    } catch (const UserError&) {
        return false;
    }
}

/// Fills an input that ids or lengths are computed of: with the last position along the longest
/// axis that lets the program run, else 0.
void fill_for_computed(Instance& instance, std::span<std::int32_t> values) {
    std::set<std::int32_t, std::greater<>> tried = {0};
    for (const TensorSpec& spec : instance.program().inputs)
        for (std::int64_t size : instance.shape_of(spec))
            if (size > 0 && size <= kAny) tried.insert(static_cast<std::int32_t>(size - 1));
    for (std::int32_t value : tried) {
        std::fill(values.begin(), values.end(), value);
        if (runs(instance)) return;
    }
}

/// The largest value that the program's check lets every element of this input have, with all
/// other inputs as they are; 1 for a program without a check, kAny when any value passes.
std::int32_t largest_accepted(Instance& instance, std::span<std::int32_t> values) {
    if (!instance.program().check_inputs) return 1;
    const auto passes = [&](std::int32_t value) {
        std::fill(values.begin(), values.end(), value);
        return accepts(instance);
    };
    std::int32_t good = 0, bad = kAny + 1;
    while (bad - good > 1) {
        const std::int32_t middle = good + (bad - good) / 2;
        (passes(middle) ? good : bad) = middle;
    }
    std::fill(values.begin(), values.end(), good);
    return good;
}

std::size_t elements_of(const Instance& instance, const TensorSpec& spec) {
    return static_cast<std::size_t>(element_count(instance.shape_of(spec)));
}

void fill_halves(DType type, std::uint16_t* values, std::size_t count, const RandomStream& stream) {
    for (std::size_t i = 0; i < count; ++i)
        values[i] = half_of_float(type, static_cast<float>(stream.normal(i)));
}

double milliseconds_of_run(Instance& instance) {
    const auto start = std::chrono::steady_clock::now();
    instance.run(1, 0);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    return elapsed.count();
}

ProgramTime time_program(Instance& instance) {
    constexpr std::size_t kLeastRuns = 5, kMostRuns = 200;
    constexpr double kLeastMilliseconds = 300;
    milliseconds_of_run(instance);
    std::vector<double> times;
    double sum = 0;
    while (times.size() < kLeastRuns || (sum < kLeastMilliseconds && times.size() < kMostRuns)) {
        times.push_back(milliseconds_of_run(instance));
        sum += times.back();
    }
    std::sort(times.begin(), times.end());
    const std::size_t last = times.size() - 1;
    ProgramTime time;
    time.program = instance.program().name;
    time.runs = static_cast<int>(times.size());
    time.median_ms = (times[last / 2] + times[(last + 1) / 2]) / 2;
    time.p10_ms = times[last / 10];
    time.p90_ms = times[last - last / 10];
    time.workspace_bytes = instance.workspace_bytes();
    time.prepared_bytes = instance.prepared_bytes();
    return time;
}

}  // namespace

DimValues default_dims(const Model& model, DimValues given) {
    const auto is_length = [](std::string_view dim) {
        return !contains(dim, "batch") && !contains(dim, "vocab");
    };
    std::int64_t length = 64;
    for (const auto& [dim, size] : given)
        if (is_length(dim)) length = std::max(length, size);
    for (const std::string& dim : model.dims)
        given.try_emplace(dim, is_length(dim) ? length : contains(dim, "batch") ? 16 : 1000);
    return given;
}

void fill_random(Instance& instance, std::uint64_t seed) {
    const Program& program = instance.program();
    // Zeros first: ids and lengths of zero pass every check while one input is tried.
    for (const TensorSpec& spec : program.inputs) {
        auto* bytes = instance.input<std::byte>(spec.name);
        std::fill_n(bytes, elements_of(instance, spec) * size_of(spec.dtype), std::byte{0});
    }
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const TensorSpec& spec = program.inputs[i];
        const RandomStream stream(seed, static_cast<std::uint32_t>(i));
        const std::size_t count = elements_of(instance, spec);
        if (spec.dtype == DType::f32) {
            stream.fill_normal({instance.input<float>(spec.name), count});
        } else if (is_half(spec.dtype)) {
            fill_halves(spec.dtype, instance.input<std::uint16_t>(spec.name), count, stream);
        } else if (spec.dtype == DType::boolean) {
            auto* values = instance.input<std::uint8_t>(spec.name);
            for (std::size_t j = 0; j < count; ++j) {
                values[j] = static_cast<std::uint8_t>(stream.below(j, 2));
            }
        } else {
            const std::span values(instance.input<std::int32_t>(spec.name), count);
            const std::int32_t largest = largest_accepted(instance, values);
            if (contains(spec.name, "len")) continue;  // every length the full one
            for (std::size_t j = 0; j < count; ++j) {
                const auto limit = static_cast<std::uint64_t>(largest) + 1;
                values[j] = static_cast<std::int32_t>(stream.below(j, limit));
            }
            if (!program.computed.empty() && !runs(instance)) fill_for_computed(instance, values);
        }
    }
}

std::vector<ProgramTime> bench_model(const Model& model, const DimValues& dims) {
    Parameters parameters(model, dims);
    parameters.initialize(1);
    std::vector<ProgramTime> times;
    for (const Program& program : model.programs) {
        Instance instance(model, program.name, parameters);
        // Caches stay where they are from step to step, as when texts are decoded.
        instance.keep_states(Instance::States::of_session);
        instance.leave_states();
        instance.bind(dims);
        fill_random(instance, 1);
        times.push_back(time_program(instance));
    }
    return times;
}

std::string bench_text(const Model& model, const DimValues& dims,
                       const std::vector<ProgramTime>& times) {
    std::string text = model.name + ", " + std::to_string(thread_count()) + " threads";
    for (const auto& [name, value] : dims) text += ", " + name + "=" + std::to_string(value);
    text += "\nprogram               median ms     p10 ms     p90 ms    runs   workspace MiB\n";
    for (const ProgramTime& time : times) {
        char line[160];
        std::snprintf(line, sizeof line, "%-20s %10.3f %10.3f %10.3f %7d %15.2f\n",
                      time.program.c_str(), time.median_ms, time.p10_ms, time.p90_ms, time.runs,
                      static_cast<double>(time.workspace_bytes) / (1 << 20));
        text += line;
    }
    return text;
}

Json bench_json(const Model& model, const DimValues& dims, const std::vector<ProgramTime>& times) {
    Json sizes{Json::Object{}};
    for (const auto& [name, value] : dims) sizes.set(name, value);
    Json::Array results;
    for (const ProgramTime& time : times) {
        Json milliseconds, result;
        milliseconds.set("median", time.median_ms).set("p10", time.p10_ms);
        milliseconds.set("p90", time.p90_ms);
        result.set("program", time.program).set("runs", time.runs);
        result.set("ms", std::move(milliseconds));
        result.set("workspace_bytes", static_cast<std::int64_t>(time.workspace_bytes));
        result.set("prepared_bytes", static_cast<std::int64_t>(time.prepared_bytes));
        results.push_back(std::move(result));
    }
    Json json;
    json.set("model", model.name).set("threads", thread_count()).set("dims", std::move(sizes));
    json.set("results", std::move(results));
    return json;
}

}  // namespace fovea::runtime
