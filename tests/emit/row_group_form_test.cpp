#include "codegen/emit/cpp/rows/row_group_form.h"

#include <doctest/doctest.h>

#include <map>

#include "codegen/kernel/builder.h"
#include "tests/emit/sample_kernels.h"

using namespace fovea;
using namespace fovea::kernel;

namespace {

std::string reason(const Kernel& kernel) {
    const LoopNest nest = kernel::loop_nest(kernel);
    emit::Signature signature(kernel);
    const emit::RowForm rows = emit::find_row_form(kernel, nest, signature);
    return emit::why_not_row_groups(kernel, nest, rows, {}).value_or("");
}

/// A row divided by `divisor(its sum)`; `weighted`: by the sum of weights, too.
template <class Divisor>
Kernel divided(const Divisor& divisor, bool weighted = false) {
    Builder it("divided");
    const AxisId row = it.axis("row", "m"), j = it.axis("j", 40);
    const int x = it.input("x", {"m", 40}), w = it.input("w", {40});
    const int y = it.output("y", {"m", 40});
    it.each(row, [&] {
        const Id value = it.load(it.at(x, {row, j})), weight = it.load(it.at(w, {j}));
        const Id quotient = it.div(value, divisor(it, row, it.sum(value, {j})));
        it.store(it.at(y, {row, j}), weighted ? it.div(quotient, it.sum(weight, {j})) : quotient);
    });
    return it.finish();
}

}  // namespace

TEST_CASE("why_not_row_groups: short rows with a sum across them are taken in groups") {
    const std::map<std::string, std::string> expected = {
        {"layer_norm", ""},
        {"layer_norm_32", ""},
        {"cross_entropy", ""},
        {"cross_entropy_40", ""},
        {"heads", ""},
        {"layer_norm_300", "its rows are long"},
        {"softmax", "its rows end where a mask does"},
        {"embedding", "it gathers"},
        {"strides", "it has nothing to sum across lanes"},
        {"zeros", "it has no rows, or rows along two axes"},
        {"total", "its rows have not one axis"}};
    std::size_t found = 0;
    for (const Kernel& kernel : test::sample_row_kernels()) {
        const auto entry = expected.find(kernel.name);
        if (entry == expected.end()) continue;
        CAPTURE(kernel.name);
        CHECK(reason(kernel) == entry->second);
        ++found;
    }
    CHECK(found == expected.size());
}

TEST_CASE("why_not_row_groups: numbers of rows are float32 arithmetic") {
    CHECK(reason(divided([](Builder& it, AxisId, Id sum) {
              return it.map(Elementwise::sqrt, {sum});
          })).empty());
    CHECK(reason(divided([](Builder& it, AxisId, Id sum) {
              return it.map(Elementwise::maximum, {sum, it.constant(1)});
          })) == "it computes numbers of rows by more than float32 arithmetic");
    CHECK(reason(divided([](Builder& it, AxisId row, Id sum) {
              return it.add(sum, it.index(row));
          })) == "it has numbers of rows that are not values");
}

TEST_CASE("why_not_row_groups: every sum belongs to a row") {
    const auto sum_itself = [](Builder&, AxisId, Id sum) { return sum; };
    CHECK(reason(divided(sum_itself)).empty());
    CHECK(reason(divided(sum_itself, true)) == "it has a sum that is the same for all rows");
}
