// The checks of `fovea verify`, kernels against the float64 reference and gradients against finite
// differences, on the small models with sizes drawn around lanes and tiles. FOVEA_SEED sets the
// seed.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/random_seed.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

class DrawnSizes {
  public:
    explicit DrawnSizes(unsigned seed) : generator_(seed) {}
    int below(int end) { return int(generator_() % unsigned(end)); }
    /// 1, odd, and one less or more than whole vectors and tiles.
    int size() {
        constexpr std::array kSizes = {1,  2,  3,  5,  7,  13, 15, 16, 17, 21,
                                       31, 32, 33, 47, 48, 49, 63, 64, 65, 97};
        return kSizes[std::size_t(below(int(kSizes.size())))];
    }
    int short_size() {
        constexpr std::array kSizes = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33};
        return kSizes[std::size_t(below(int(kSizes.size())))];
    }
    SettingValues settings(const std::string& model) {
        SettingValues values;
        const auto set = [&](const char* name, int value) {
            values.emplace_back(name, std::to_string(value));
        };
        const bool heads = model == "multi_head_attention" || model.ends_with("_block");
        const int count = heads ? 1 + below(3) : 1;
        if (heads) set("heads", count);
        if (model == "position_wise_ffn")
            set("input", size()), set("ffn", size()), set("output", size());
        else if (model == "positional_encoding") set("hidden", 2 * short_size());
        else if (model.ends_with("attention") || model == "masked_softmax")
            attention(model, count, set);
        else set("hidden", count * short_size());
        if (model.ends_with("_block")) set("ffn", size());
        return values;
    }
    Sample sample(const plan::Model& model) {
        Sample sample{{}, Sample::Lengths::any, std::uint64_t(below(1000))};
        for (const std::string& dim : model.dims)
            sample.dims[dim] = dim == "batch" ? 1 + below(4) : short_size();
        return sample;
    }

  private:
    template <class Set>
    void attention(const std::string& model, int heads, const Set& set) {
        if (model == "masked_softmax" || model == "dot_product_attention")
            return set("lens_rank", 1 + below(2));
        for (const char* name : {"query_size", "key_size", "value_size"}) set(name, short_size());
        set("hidden", heads * short_size());
    }

    std::mt19937 generator_;
};

std::string text_of(const SettingValues& values) {
    std::string text;
    for (const auto& [name, value] : values) text += " --set " + name + "=" + value;
    return text;
}

void check_rows(const std::vector<VerifyRow>& rows) {
    CHECK(!rows.empty());
    for (const VerifyRow& row : rows) {
        CAPTURE(row.kernel);
        CAPTURE(row.dims);
        CAPTURE(row.value_error.value_or(0));
        CAPTURE(row.gradient_error.value_or(0));
        CHECK(row.ok);
    }
}

/// The model with drawn settings, and two samples of drawn dims.
void check_drawn(const std::string& name, const Target& target, DrawnSizes& draw) {
    const SettingValues settings = draw.settings(name);
    CAPTURE(name);
    CAPTURE(text_of(settings));
    const LoadedModel model = load_model(name, settings);
    const std::vector<ProgramRequest> requests = runner_programs(model, {});
    const CompiledModel compiled = compile(model, requests, kernels_of(target));
    const auto generated = model_on(target, compiled.plan, model.dtype, Optimized::little);
    for (int i = 0; i < 2; ++i) {
        const Sample sample = draw.sample(compiled.plan);
        for (std::size_t p = 0; p < requests.size(); ++p) {
            const CompiledProgram& program = compiled.programs[p];
            const bool training = requests[p].training;
            check_rows(verify_kernels(compiled.plan, program, *generated, sample, training));
            if (i == 0 && program.name == "gradient")
                check_rows(verify_gradients(name, program, sample, training));
        }
    }
}

constexpr const char* kSmallModels[] = {
    "masked_softmax",       "dot_product_attention", "additive_attention",
    "multi_head_attention", "positional_encoding",   "add_norm",
    "position_wise_ffn",    "encoder_block",         "decoder_block"};

}  // namespace

TEST_CASE("models of sizes drawn at random pass the checks of verify") {
    const unsigned start = test::random_seed();
    CAPTURE(start);
    DrawnSizes draw(start);
    for (const std::size_t i : test::turns_of(std::size(kSmallModels), 2))
        check_drawn(kSmallModels[i], {"cpu", ""}, draw);
}

TEST_CASE("a model of sizes drawn at random passes the checks of verify on PTX") {
    if (emit::why_not_ptx()) return;
    const unsigned start = test::random_seed();
    CAPTURE(start);
    DrawnSizes draw(start);
    check_drawn(kSmallModels[draw.below(std::size(kSmallModels))], {"ptx-interpreter", "sm_80"},
                draw);
}
