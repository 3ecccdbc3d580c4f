// The kernels of all built-in models: each has a form, agrees with the evaluator, and passes ptxas.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/analysis/same_kernel.h"
#include "codegen/kernel/parameters.h"
#include "tests/nvptx/model_kernels.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// Each once.
void add_kernels(const std::vector<Kernel>& kernels, std::vector<Kernel>& all) {
    for (const Kernel& kernel : kernels) {
        const auto is_same = [&](const Kernel& other) { return same_kernel(kernel, other); };
        if (kernel.steps) add_kernels(kernel.steps->kernels, all);
        else if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(kernel);
    }
}

/// Those of the models that are wanted, with those of scans, each once.
template <class Wanted>
std::vector<Kernel> different_kernels(const Wanted& is_wanted) {
    std::vector<Kernel> result;
    for (const ModelKernels& model : all_model_kernels())
        if (is_wanted(model)) add_kernels(model.kernels, result);
    return result;
}

/// Operands of products that are rounded to bfloat16 first are so for the target alone.
double model_tolerance(const Kernel& kernel) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto contract = std::get_if<kernel::Contract>(&node.operation))
            if (contract->factors == kernel::Factors::bf16) return 1. / 64;
    return 1e-5;
}

/// Sizes that are small and odd, another for each symbol.
DimValues sizes_of(const Kernel& kernel, std::int64_t more) {
    DimValues result;
    std::set<std::string> symbols;
    const auto add = [&](const Dim& dim) {
        for (const DimTerm& term : dim.terms())
            for (Symbol symbol : term.symbols) {
                if (!term.factor || !symbol) continue;
                Text name;
                name << symbol;
                symbols.insert(std::string(name.view()));
            }
    };
    for (const kernel::Buffer& buffer : kernel.buffers)
        for (const Dim& dim : buffer.shape) add(dim);
    for (const std::string& symbol : kernel::symbols_of(kernel)) symbols.insert(symbol);
    std::int64_t next = 3;
    for (const std::string& symbol : symbols) {
        result[symbol] = symbol == "batch" ? 2 : next + more;
        next += 2;
    }
    return result;
}

}  // namespace

TEST_CASE("every kernel of every model has a form in PTX") {
    for (const ModelKernels& model : all_model_kernels())
        for (const Kernel& kernel : model.kernels) {
            const auto reason = emit::why_not_ptx(kernel, target::gpu_of("sm_90"));
            CHECK_MESSAGE(!reason, model.model, " ", model.variant, ": ", kernel.name, ": ",
                          reason.value_or(""));
        }
}

// By turns; `fovea verify --target ptx-interpreter` takes whole programs.
TEST_CASE("kernels of models in PTX agree with the evaluator") {
    const std::vector<std::string> wanted =
        turns_of<std::string>({"masked_softmax", "encoder_block", "additive_attention",
                               "seq2seq_attention", "positional_encoding"},
                              2);
    const std::vector<Kernel> kernels = different_kernels([&](const ModelKernels& model) {
        return std::ranges::find(wanted, model.model) != wanted.end() &&
               (model.model != "seq2seq_attention" || model.variant.empty());
    });
    const Emitted emitted = emit_and_parse(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        CAPTURE(kernels[i].name);
        for (std::int64_t more : {0, 6}) {
            const DimValues dims = sizes_of(kernels[i], more);
            Arrays arrays(kernels[i], dims, 2, 3);
            run_ptx(emitted, i, dims, arrays);
            check_against_evaluator(kernels[i], dims, arrays, model_tolerance(kernels[i]));
        }
    }
}

/// By turns: ptxas takes seconds for a model.
TEST_CASE("ptxas has nothing against the kernels of all models") {
    const std::vector<Kernel> kernels =
        different_kernels([](const ModelKernels& model) { return model.variant != "unfused"; });
    check_ptxas(turns_of(kernels, 24), emit::ptx_architectures());
}
