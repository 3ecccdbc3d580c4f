// Emitted attention as text: made for reading, so short, and without numbered names.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#include "codegen/emit/cpp/skeletons.h"
#include "codegen/kernel/builder.h"
#include "tests/golden.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using namespace fovea::kernel;

namespace {

void check_readable(const std::string& golden, const Kernel& kernel) {
    CAPTURE(golden);
    REQUIRE(!emit::why_not_tile_kernel(kernel, {}));
    const std::string text = emit::cpp_kernel(kernel, {});
    CHECK(std::count(text.begin(), text.end(), '\n') <= 160);
    CHECK(text.find(kernel.name + "(") != std::string::npos);
    CHECK(text.find(kernel.sources[0]) != std::string::npos);
    static const std::regex numbered("\\b[A-Za-z_]+_[0-9]+(_[A-Za-z_]+)?\\b|\\bt[0-9]+\\b");
    std::smatch found;
    CHECK_MESSAGE(!std::regex_search(text, found, numbered), found.str());
    check_golden(golden, text);
}

/// A kernel that has no place, and why.
struct Refused {
    const char* says;
    Kernel (*build)();
};

Kernel with_wide_axis() {
    Builder b("wide");
    const AxisId k = b.axis("k", "n"), d = b.axis("d", 4096);
    const int x = b.input("x", {"n", 4096}), y = b.output("y", {4096});
    const auto sums = b.tiles(k, {}, {b.fill(0, {d})}, [&](auto carried) {
        return std::vector<Id>{b.add(carried[0], b.sum(b.load(b.at(x, {k, d})), {k}))};
    });
    b.store(b.at(y, {d}), sums[0]);
    return b.finish();
}

Kernel with_unlooped_axis() {
    Builder b("unlooped");
    const AxisId k = b.axis("k", "n"), d = b.axis("d", "m");
    const int x = b.input("x", {"n", "m"}), y = b.output("y", {"n"});
    b.tiles(k, {}, {}, [&](const auto&) {
        b.store(b.at(y, {k}), b.sum(b.load(b.at(x, {k, d})), {d}));
        return std::vector<Id>{};
    });
    return b.finish();
}

Kernel with_scatter() {
    Builder b("scatter");
    const AxisId k = b.axis("k", "n"), d = b.axis("d", 8);
    const int ids = b.input("ids", {"n"}, i32), x = b.input("x", {"n", 8});
    const int y = b.output("y", {"m", 8});
    b.tiles(k, {}, {}, [&](const auto&) {
        b.store(b.at_row(y, b.load(b.at(ids, {k})), {d}), b.load(b.at(x, {k, d})));
        return std::vector<Id>{};
    });
    return b.finish();
}

Kernel with_counts() {
    Builder b("counts");
    const AxisId k = b.axis("k", "n"), d = b.axis("d", 8);
    const int x = b.input("x", {"n", 8}, i32), y = b.output("y", {8}, i32);
    const auto sums = b.tiles(k, {}, {b.fill(0, {d}, i32)}, [&](auto carried) {
        return std::vector<Id>{b.add(carried[0], b.sum(b.load(b.at(x, {k, d})), {k}))};
    });
    b.store(b.at(y, {d}), sums[0]);
    return b.finish();
}

const Refused kRefused[] = {
    {"it has a reduced or carried tile of i32", with_counts},
    {"it has the axis d of 4096 elements, more than 512", with_wide_axis},
    {"it has the axis d, which has neither a loop nor a static size", with_unlooped_axis},
    {"it has a store to a row that is picked", with_scatter},
};

}  // namespace

TEST_CASE("attention reads well") {
    check_readable("emit/attention_forward.cpp", attention_forward(readable_attention()));
    check_readable("emit/attention_backward.cpp", attention_backward(readable_attention()));
}

TEST_CASE("kernels that have no place in tiles are refused with a reason") {
    for (const Refused& refused : kRefused) {
        const Kernel kernel = refused.build();
        CHECK(kernel.form == Form::tiles);
        CHECK(emit::why_not_tile_kernel(kernel, {}) == refused.says);
        CHECK_THROWS(emit::cpp_kernel(kernel, {}));
    }
}

TEST_CASE("an additive score is computed once forward, and twice backward") {
    const AttentionVariant variant{.score = Score::additive};
    const auto calls = [](const std::string& text, const std::string& function) {
        int count = 0;
        for (std::size_t at = text.find(function + "("); at != std::string::npos;
             at = text.find(function + "(", at + 1))
            ++count;
        return count;
    };
    const std::string forward = emit::cpp_kernel(attention_forward(variant), {});
    CHECK(calls(forward, "tanh_of_exp") == 1);
    CHECK(calls(forward, "tanh") == 0);
    const std::string backward = emit::cpp_kernel(attention_backward(variant), {});
    CHECK(calls(backward, "tanh_of_exp") == 2);
    CHECK(calls(backward, "tanh") == 0);
    CHECK(calls(backward, "joint_sums") == 1);
    // The score has keys in its lanes, the gradients have features: parts of keys lie both ways.
    CHECK(calls(backward, "load_strided") == 0);
}

TEST_CASE("narrow heads have a text for one small tile, without loops over tiles") {
    AttentionVariant variant{.width = 8, .value_width = 16};
    const std::string text = emit::cpp_kernel(attention_backward(variant), {});
    const std::size_t choice = text.find(
        "if (fits_tile(fixed<16>, keys) && fits_tile(fixed<16>, queries)) "
        "return in_one_tile();");
    REQUIRE(choice != text.npos);
    const std::string small = text.substr(0, choice), large = text.substr(choice);
    for (const char* only_large : {"fill_tile", "k_at", "k_step"}) {
        CHECK(small.find(only_large) == text.npos);
        CHECK(large.find(only_large) != text.npos);
    }
    CHECK(std::count(small.begin(), small.end(), '\n') <= 110);
    CHECK(std::count(large.begin(), large.end(), '\n') <= 130);
    variant.value_width = 64;
    CHECK(emit::cpp_kernel(attention_backward(variant), {}).find("in_one_tile") == text.npos);
}

TEST_CASE("products of attention in bfloat16 take pairs, and nothing is widened for them") {
    const auto count = [](const Kernel& kernel, const std::string& what) {
        const std::string text = emit::cpp_kernel(kernel, {});
        int found = 0;
        for (std::size_t at = text.find(what); at != std::string::npos;
             at = text.find(what, at + 1))
            ++found;
        return found;
    };
    const AttentionVariant variant = in_bfloat16_memory(attention_variant("causal_padded"));
    CHECK(count(attention_forward(variant), " pair_products(") == 2);
    CHECK(count(attention_forward(variant), "copy_tile(") == 0);
    CHECK(count(attention_backward(variant), " pair_products(") == 5);
    CHECK(count(attention_backward(variant), "copy_tile(") == 0);
    // A score that is no product, and vectors shorter than those of a machine.
    const AttentionVariant additive = in_bfloat16_memory(attention_variant("additive"));
    CHECK(count(attention_forward(additive), " pair_products(") == 1);
    const AttentionVariant narrow = in_bfloat16_memory(attention_variant("heads_inside"));
    CHECK(count(attention_forward(narrow), " pair_products(") == 0);
    CHECK(count(attention_forward(narrow), "copy_tile(") > 0);
}
