// Every barrier of row, column and scatter kernels is needed: without one, the interpreter finds a
// race, or the results change.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/ptx/fault.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const DimValues kSizes{{"b", 2}, {"m", 700}, {"n", 100}, {"k", 1}};

/// Whether one of the schedules faults, or gives other results.
bool is_noticed(Emitted emitted, const std::string& text, const Arrays& right) {
    emitted.module = ptx::parse(text);
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        Arrays arrays(emitted.kernels[0], kSizes, 7, 11);
        try {
            run_ptx(emitted, 0, kSizes, arrays, schedule);
        } catch (const ptx::Fault&) {
            return true;
        }
        if (!same_bits(arrays, right)) return true;
    }
    return false;
}

/// How many barriers there are in the text of the kernel, and how many could go.
struct Barriers {
    int all = 0, unneeded = 0;
};
Barriers barriers_of(const Kernel& kernel) {
    const Emitted emitted = emit_and_parse({kernel});
    Arrays right(kernel, kSizes, 7, 11);
    run_ptx(emitted, 0, kSizes, right);
    Barriers result;
    const std::string& text = emitted.ptx.text;
    for (std::size_t at = text.find("bar.sync"); at != text.npos;
         at = text.find("bar.sync", at + 1)) {
        std::string without = text;
        without.insert(at, "//");
        ++result.all;
        result.unneeded += !is_noticed(emitted, without, right);
    }
    return result;
}

}  // namespace

TEST_CASE("every barrier of row kernels in PTX is needed") {
    std::vector<Kernel> kernels = sample_row_kernels();
    for (const Kernel& kernel : sample_column_kernels()) kernels.push_back(kernel);
    int all = 0;
    for (const Kernel& kernel : kernels) {
        CAPTURE(kernel.name);
        const Barriers barriers = barriers_of(kernel);
        CHECK(barriers.unneeded == 0);
        all += barriers.all;
    }
    CHECK(all >= 20);
}
