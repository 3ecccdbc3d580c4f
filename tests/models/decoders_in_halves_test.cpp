// Decoders in halves: their kernels are right, in training, too, and caches hold keys and values as
// halves.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/decode/derive_decoding.h"
#include "codegen/kernel/analysis/kept_row.h"
#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/optimize/select_mode.h"
#include "tests/models/misses.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

const SettingValues kSmallDecoder = {{"vocab_size", "40"},         {"hidden_size", "64"},
                                     {"intermediate_size", "48"},  {"num_hidden_layers", "2"},
                                     {"num_attention_heads", "4"}, {"num_key_value_heads", "2"}};

LoadedModel small_decoder(const std::string& name, const std::string& dtype) {
    SettingValues values = kSmallDecoder;
    if (!dtype.empty()) values.emplace_back("dtype", dtype);
    if (name == "mistral") values.emplace_back("sliding_window", "3");
    return load_model(name, values);
}

/// Checks that keys and values lie as `type` in what a prompt leaves and in what a step changes.
void check_caches(const LoadedModel& model, DType type) {
    const Decoding decoding = derive_decoding(select_mode(model.graph, false), model.caches);
    for (const Graph* program : {&decoding.prefill, &decoding.step}) {
        int caches = 0;
        for (const Node& node : program->nodes) {
            if (node.op != Op::output && node.op != Op::input) continue;
            const std::string_view name = node.name;
            if (!name.ends_with(".keys") && !name.ends_with(".values")) continue;
            CHECK(node.dtype == type);
            ++caches;
        }
        CHECK(caches == (program == &decoding.step ? 8 : 4));
    }
}

void check_decoding_programs(const LoadedModel& model) {
    std::vector<ProgramRequest> requests = runner_programs(model, {});
    for (ProgramRequest& request : text_programs(model, {})) requests.push_back(std::move(request));
    const CompiledModel compiled = compile(model, std::move(requests));
    const auto generated = model_on({"cpu", ""}, compiled.plan, model.dtype, Optimized::little);
    for (const CompiledProgram& program : compiled.programs) {
        CAPTURE(program.name);
        for (const SampleDims& dims :
             {SampleDims{{"batch", 1}, {"len", 1}, {"steps", 1}, {"steps_of_window_3", 1}},
              SampleDims{{"batch", 3}, {"len", 5}, {"steps", 37}, {"steps_of_window_3", 3}}}) {
            const Sample sample{dims, Sample::Lengths::one_is_zero, 3};
            const auto rows = verify_kernels(compiled.plan, program, *generated, sample, true);
            CHECK(!rows.empty());
            CHECK(test::misses(rows) == "");
        }
    }
}

/// Kernels that write one row of a cache where that lies, and leave its others.
int count_kernels_of_one_row(const LoadedModel& model) {
    const CompiledModel compiled = compile(model, text_programs(model, {}));
    return int(std::ranges::count_if(compiled.plan.kernels, [](const kernel::Kernel& it) {
        if (it.form == kernel::Form::tiles) return false;
        const auto row = kernel::find_kept_row(it, kernel::loop_nest(it).nodes, -1);
        return row && row->position >= 0;
    }));
}

}  // namespace

TEST_CASE("a step writes one row of each cache, whatever caches hold") {
    const int of_floats = count_kernels_of_one_row(small_decoder("llama", ""));
    CHECK(of_floats > 0);
    CHECK(count_kernels_of_one_row(small_decoder("llama", "bf16")) == of_floats);
    CHECK(count_kernels_of_one_row(small_decoder("llama", "f16")) == of_floats);
}

TEST_CASE("caches are float32 where nothing is said of types") {
    const LoadedModel model = small_decoder("llama", "");
    check_caches(model, f32);
    check_caches(small_decoder("llama", "tf32"), f32);
}

TEST_CASE("kernels of decoders in halves are right, and their caches are halves") {
    for (const auto& [name, dtype] :
         {std::pair("llama", "bf16"), std::pair("llama", "f16"), std::pair("mistral", "bf16")}) {
        CAPTURE(std::string(name));
        CAPTURE(std::string(dtype));
        const LoadedModel model = small_decoder(name, dtype);
        check_caches(model, model.dtype);
        check_decoding_programs(model);
    }
}
