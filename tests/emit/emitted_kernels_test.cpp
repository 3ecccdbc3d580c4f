// Emitted kernels, compiled and run: against the float64 evaluator over odd sizes, and bit by bit
// over the number of threads.
#include <doctest/doctest.h>

#include "tests/emit/compiled_model.h"
#include "tests/emit/sample_kernels.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const std::vector<DimValues>& sizes() {
    static const std::vector<DimValues> all = [] {
        std::vector<DimValues> result;
        const std::int64_t odd[] = {0, 1, 7, 16, 17, 33, 100};
        for (std::int64_t m : odd)
            for (std::int64_t n : odd) result.push_back({{"m", m}, {"n", n}, {"k", n + 3}, {"b", 2}});
        result.push_back({{"m", 5}, {"n", 40}, {"k", 0}, {"b", 3}});
        result.push_back({{"m", 9}, {"n", 64}, {"k", 65}, {"b", 1}});
        return result;
    }();
    return all;
}

void check_all(const std::string& name, const std::vector<Kernel>& kernels, double tolerance) {
    const runtime::Model& model = compile_and_load(model_of_kernels(name, kernels));
    REQUIRE(model.programs.size() == kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes()) {
            CAPTURE(kernels[i].name);
            CAPTURE(dims.at("m"));
            CAPTURE(dims.at("n"));
            Arrays one(kernels[i], dims, 7, 11), two(kernels[i], dims, 7, 11);
            Arrays three(kernels[i], dims, 7, 11);
            run_program(model, int(i), dims, one, 1);
            run_program(model, int(i), dims, two, 2);
            run_program(model, int(i), dims, three, 3);
            CHECK(same_bits(one, two));
            CHECK(same_bits(one, three));
            check_against_evaluator(kernels[i], dims, one, tolerance);
        }
}

}  // namespace

TEST_CASE("row kernels agree with the evaluator") {
    check_all("rows", sample_row_kernels(), 3e-6);
}

TEST_CASE("column kernels agree with the evaluator") {
    check_all("columns", sample_column_kernels(), 3e-6);
}

TEST_CASE("contractions agree with the evaluator") {
    check_all("contractions", sample_contractions(), 2e-6);
}
