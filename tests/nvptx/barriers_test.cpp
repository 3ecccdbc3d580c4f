// Every barrier of the emitted kernels is needed: without one, the interpreter finds a race, or the
// results change.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/ptx/fault.h"
#include "tests/kernel/attention_programs.h"
#include "tests/nvptx/in_bfloat16.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// Where lines with `word` begin.
std::vector<std::size_t> lines_with(const std::string& text, const std::string& word) {
    std::vector<std::size_t> lines;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
        lines.push_back(text.rfind('\n', at) + 1);
    return lines;
}

/// The text with the line at `begin` as a comment.
std::string without_line(std::string text, std::size_t begin) {
    text.insert(begin, "//");
    return text;
}

/// All keys are seen.
Arrays arrays_for(const Kernel& kernel, const DimValues& dims) {
    Arrays arrays(kernel, dims, 2, 11);
    for (std::vector<std::int32_t>& lengths : arrays.integers)
        std::fill(lengths.begin(), lengths.end(), std::int32_t(dims.at("n")));
    return arrays;
}

bool is_noticed(Emitted emitted, const std::string& text, const DimValues& dims,
                const Arrays& right) {
    emitted.module = ptx::parse(text);
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        Arrays arrays = arrays_for(emitted.kernels[0], dims);
        try {
            run_ptx(emitted, 0, dims, arrays, schedule);
        } catch (const ptx::Fault&) {
            return true;
        }
        if (!same_bits(arrays, right)) return true;
    }
    return false;
}

void check_barriers(const Kernel& kernel, const DimValues& dims) {
    CAPTURE(kernel.name);
    const Emitted emitted = emit_and_parse({kernel});
    Arrays right = arrays_for(kernel, dims);
    run_ptx(emitted, 0, dims, right);
    const auto lines = lines_with(emitted.ptx.text, "bar.sync");
    CHECK(!lines.empty());
    for (std::size_t line : lines) {
        CAPTURE(emitted.ptx.text.substr(0, line).size());
        CHECK(is_noticed(emitted, without_line(emitted.ptx.text, line), dims, right));
    }
}

}  // namespace

TEST_CASE("every barrier of attention in PTX is needed") {
    const DimValues dims{{"b", 1}, {"m", 70}, {"n", 70}, {"k", 0}};
    for (const AttentionVariant& variant : attention_variants()) {
        if (variant.name == "wide" || variant.name == "window" || variant.name == "padded")
            continue;
        check_barriers(attention_forward(variant), dims);
        check_barriers(attention_backward(variant), dims);
    }
}

TEST_CASE("every barrier of attention in bfloat16 is needed") {
    const DimValues dims{{"b", 1}, {"m", 70}, {"n", 140}, {"k", 0}};
    const DimValues square{{"b", 1}, {"m", 200}, {"n", 200}, {"k", 0}};
    for (const AttentionVariant& variant : attention_variants())
        if (variant.name == "plain" || variant.name == "dropout" || variant.causal)
            check_barriers(in_bfloat16(attention_forward(variant)), variant.causal ? square : dims);
}
