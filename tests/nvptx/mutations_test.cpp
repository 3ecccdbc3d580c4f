// Of 200 random mistakes in the PTX of attention, at least 9 in 10 are noticed: by the checks of
// the interpreter, or by results that differ from the evaluator. None is left out as equivalent.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "codegen/ptx/fault.h"
#include "codegen/ptx/syntax.h"
#include "tests/kernel/attention_programs.h"
#include "tests/nvptx/in_bfloat16.h"
#include "tests/nvptx/mutations.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

constexpr unsigned kSeed = 1;
constexpr int kMutations = 200;
constexpr double kTolerance = 1e-5;
constexpr std::uint64_t kInstructions = 2'000'000;  // some ten times what a block takes

/// A kernel, what it is run on, and what is right.
struct Subject {
    Emitted emitted;
    std::vector<std::string> lines;
    std::vector<std::vector<float>> right;  // by buffer
    DimValues dims;

    const Kernel& kernel() const { return emitted.kernels[0]; }
    Arrays arrays() const {
        Arrays result(kernel(), dims, 71, 11);
        const std::int32_t lengths[] = {103, 0};
        for (std::size_t i = 0; i < result.exact.size(); ++i)
            for (std::size_t at = 0; at < result.exact[i].size(); ++at)
                if (kernel().buffers[i].dtype == i32)
                    result.exact[i][at] = result.integers[i][at] = lengths[at % 2];
        return result;
    }
};

Subject subject(const Kernel& kernel) {
    Subject result{emit_and_parse({kernel}), {}, {}, {{"b", 2}, {"m", 101}, {"n", 111}, {"k", 0}}};
    result.lines = lines_of(result.emitted.ptx.text);
    Arrays arrays = result.arrays();
    run_ptx(result.emitted, 0, result.dims, arrays);
    const double allowed = kernel.name.ends_with("_bfloat16") ? 1e-2 : kTolerance;
    check_against_evaluator(kernel, result.dims, arrays, allowed);
    result.right = arrays.floats;
    return result;
}

bool is_right(const Subject& subject, const Arrays& arrays) {
    for (std::size_t i = 0; i < subject.right.size(); ++i) {
        if (!subject.kernel().buffers[i].written) continue;
        double scale = 1;
        for (float value : subject.right[i])
            if (std::isfinite(value)) scale = std::max(scale, std::fabs(double(value)));
        for (std::size_t at = 0; at < subject.right[i].size(); ++at) {
            const double own = double(arrays.floats[i][at]), right = double(subject.right[i][at]);
            if (own != right && !(std::fabs(own - right) <= kTolerance * scale)) return false;
        }
    }
    return true;
}

/// None where the text is no PTX any more.
std::optional<bool> is_noticed(const Subject& subject, const Mutation& mutation) {
    Emitted emitted = subject.emitted;
    try {
        emitted.module = ptx::parse(mutated(subject.lines, mutation));
    } catch (const ptx::ParseError&) {
        return std::nullopt;
    }
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        Arrays arrays = subject.arrays();
        try {
            run_ptx(emitted, 0, subject.dims, arrays, schedule, kInstructions);
        } catch (const ptx::Fault&) {
            return true;
        }
        if (!is_right(subject, arrays)) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("mistakes in the PTX of attention are noticed") {
    std::vector<Subject> subjects;
    for (const AttentionVariant& variant : attention_variants())
        if (variant.name == "causal_padded" || variant.name == "uniform" ||
            variant.name == "dropout") {
            subjects.push_back(subject(attention_forward(variant)));
            subjects.push_back(subject(attention_backward(variant)));
            if (variant.name == "causal_padded") {
                subjects.push_back(subject(in_bfloat16(attention_forward(variant))));
                subjects.push_back(subject(backward_in_bfloat16(variant)));
            }
        }
    std::mt19937 generator(kSeed);
    int made = 0, noticed = 0;
    while (made < kMutations) {
        const Subject& one = subjects[generator() % subjects.size()];
        const auto mutation = draw_mutation(one.lines, generator);
        if (!mutation) continue;
        const auto found = is_noticed(one, *mutation);
        if (!found) continue;
        ++made;
        noticed += *found;
        if (!*found && std::getenv("FOVEA_SHOW_MUTATIONS"))
            MESSAGE(one.kernel().name << ":" << mutation->line + 1 << mutation->before << " -> "
                                      << mutation->after);
    }
    CHECK(noticed >= kMutations * 9 / 10);
}
