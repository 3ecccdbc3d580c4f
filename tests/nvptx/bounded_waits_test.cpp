// Waits that end: a kernel that waits for what never comes traps, instead of hanging.
#include <doctest/doctest.h>

#include <optional>
#include <sstream>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/ptx/fault.h"
#include "tests/emit/sample_kernels.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const DimValues kBoundedSizes = attention_sizes(1, 70, 400);

Kernel waiting_attention() { return attention_forward(in_bfloat16_memory({.name = "waits"})); }

Emitted emitted_with(const Kernel& kernel, int seconds) {
    Emitted result{{kernel}, emit::emit_ptx({kernel}, "sm_90a", {.wait_seconds = seconds}), {}};
    result.module = ptx::parse(result.ptx.text);
    return result;
}

/// What the interpreter finds wrong without the line that starts at `begin`.
std::optional<ptx::FaultKind> fault_without(Emitted emitted, std::size_t begin) {
    std::string text = emitted.ptx.text;
    text.erase(begin, text.find('\n', begin) - begin);
    emitted.module = ptx::parse(text);
    Arrays arrays(emitted.kernels[0], kBoundedSizes, 7, 11);
    try {
        run_ptx(emitted, 0, kBoundedSizes, arrays);
    } catch (const ptx::Fault& fault) {
        CHECK(fault.place.kernel == emitted.ptx.kernels[0].launches[0].entry);
        return fault.kind;
    }
    return std::nullopt;
}

/// Where lines with a word start.
std::vector<std::size_t> lines_with(const std::string& text, const std::string& word) {
    std::vector<std::size_t> found;
    std::istringstream lines(text);
    std::string line;
    for (std::size_t begin = 0; std::getline(lines, line); begin += line.size() + 1)
        if (line.find(word) != line.npos) found.push_back(begin);
    return found;
}

}  // namespace

TEST_CASE("a wait for an arrival or a copy that never comes traps where waits are bounded") {
    const Emitted endless = emitted_with(waiting_attention(), 0),
                  bounded = emitted_with(waiting_attention(), 10);
    for (const char* word : {"mbarrier.arrive.", "cp.async.bulk.tensor"}) {
        const auto before = lines_with(endless.ptx.text, word);
        const auto after = lines_with(bounded.ptx.text, word);
        CHECK(before.size() == after.size());
        int hangs = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const bool deadlock = fault_without(endless, before[i]) == ptx::FaultKind::deadlock;
            hangs += deadlock;
            if (deadlock) CHECK(fault_without(bounded, after[i]) == ptx::FaultKind::trap);
        }
        CHECK(hangs >= 3);
    }
}

TEST_CASE("bounded waits change no result, and nothing where they are not asked for") {
    const Emitted endless = emitted_with(waiting_attention(), 0),
                  bounded = emitted_with(waiting_attention(), 10);
    CHECK(lines_with(endless.ptx.text, "%globaltimer").empty());
    CHECK(lines_with(endless.ptx.text, "trap").empty());
    CHECK(lines_with(bounded.ptx.text, "@late trap;").size() ==
          lines_with(bounded.ptx.text, "mbarrier.try_wait").size());
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        Arrays expected(endless.kernels[0], kBoundedSizes, 7, 11),
            own(endless.kernels[0], kBoundedSizes, 7, 11);
        run_ptx(endless, 0, kBoundedSizes, expected, schedule);
        run_ptx(bounded, 0, kBoundedSizes, own, schedule);
        CHECK(same_bits(expected, own));
    }
    const auto complaints = complaints_of_ptxas(bounded.ptx.text, "sm_90a");
    if (complaints) CHECK(*complaints == "");
}
