#include "tests/nvptx/mutation_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "codegen/ptx/fault.h"
#include "codegen/ptx/instructions/half.h"
#include "codegen/ptx/text/syntax.h"

namespace fovea::test {

namespace {

/// Of the largest value of a result.
constexpr double kDifference = 1e-5;
constexpr std::uint64_t kInstructions = 2'000'000;  // some ten times what a block takes

/// A change, the kernel it is of, and whether it was noticed.
struct Trial {
    const MutationSubject* subject;
    Mutation mutation;
    std::optional<bool> noticed = {};
};

/// On all cores.
void try_all(std::vector<Trial>& trials) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < trials.size(); i = next++)
            trials[i].noticed = trials[i].subject->notices(trials[i].mutation);
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) others.emplace_back(work);
    work();
}

}  // namespace

MutationSubject::MutationSubject(const kernel::Kernel& kernel, const std::string& architecture,
                                 std::vector<MutationRun> runs, double tolerance)
    : emitted_(emit_and_parse({kernel}, as_for_many_rows(architecture))),
      lines_(lines_of(emitted_.ptx.text)),
      runs_(std::move(runs)) {
    for (const MutationRun& run : runs_) {
        right_.push_back(run.arrays());
        run_ptx(emitted_, 0, run.dims, right_.back());
        check_against_evaluator(kernel, run.dims, right_.back(), tolerance);
    }
}

bool MutationSubject::is_right(const Arrays& arrays, const Arrays& right) const {
    for (std::size_t i = 0; i < emitted_.kernels[0].buffers.size(); ++i) {
        const kernel::Buffer& buffer = emitted_.kernels[0].buffers[i];
        if (!buffer.written) continue;
        const auto value = [&](const Arrays& of, std::size_t at) {
            return is_half(buffer.dtype) ? value_of_half(buffer.dtype, of.halves[i][at])
                                         : double(of.floats[i][at]);
        };
        const std::size_t size = right.exact[i].size();
        double scale = 1;
        for (std::size_t at = 0; at < size; ++at)
            if (const double one = value(right, at); std::isfinite(one))
                scale = std::max(scale, std::fabs(one));
        for (std::size_t at = 0; at < size; ++at) {
            const double own = value(arrays, at), expected = value(right, at);
            if (own != expected && !(std::fabs(own - expected) <= kDifference * scale))
                return false;
        }
    }
    return true;
}

std::optional<bool> MutationSubject::notices(const Mutation& mutation) const {
    Emitted emitted = emitted_;
    try {
        emitted.module = ptx::parse(mutated(lines_, mutation));
    } catch (const ptx::ParseError&) {
        return std::nullopt;
    }
    for (const ptx::Schedule& schedule : ptx::schedules())
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            Arrays arrays = runs_[i].arrays();
            try {
                run_ptx(emitted, 0, runs_[i].dims, arrays, schedule, kInstructions);
            } catch (const ptx::Fault&) {
                return true;
            }
            if (!is_right(arrays, right_[i])) return true;
        }
    return false;
}

MutationCount try_mutations(const std::vector<MutationSubject>& subjects, int count,
                            unsigned seed) {
    MutationCount result;
    std::mt19937 generator(seed);
    while (result.made < count) {
        std::vector<Trial> trials;
        while (int(trials.size()) < count - result.made) {
            const MutationSubject& subject = subjects[generator() % subjects.size()];
            if (auto mutation = draw_mutation(subject.lines(), generator))
                trials.push_back({&subject, *mutation});
        }
        try_all(trials);
        for (const auto& [subject, mutation, noticed] : trials) {
            if (!noticed) continue;
            ++result.made;
            result.noticed += *noticed;
            if (!*noticed)
                result.unnoticed.push_back(fmt::format("{}:{}{} -> {}", subject->name(),
                                                       mutation.line + 1, mutation.before,
                                                       mutation.after));
        }
    }
    return result;
}

}  // namespace fovea::test
