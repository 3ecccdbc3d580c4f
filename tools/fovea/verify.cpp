// `fovea verify`: kernels and gradients against the reference and finite differences.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/base/error.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/device/verify_layouts.h"
#include "tools/fovea/device/verify_optimizer.h"
#include "tools/fovea/model/known_models.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool {

namespace {

std::vector<ProgramRequest> verified_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = runner_programs(model, fusion);
    for (ProgramRequest& program : decoding_programs(model, fusion))
        requests.push_back(std::move(program));
    for (ProgramRequest& program : extra_programs(model, fusion))
        requests.push_back(std::move(program));
    return requests;
}

/// Whether a setting says how numbers are stored, as every model has it, and nothing of sizes.
bool is_of_numbers(const std::pair<std::string, std::string>& setting) {
    return setting.first == "dtype" || setting.first == "weights";
}

void append(std::vector<VerifyRow>& rows, std::vector<VerifyRow> more) {
    rows.insert(rows.end(), more.begin(), more.end());
}

/// Finite differences take two runs of the reference for each gradient: small samples are enough.
bool takes_finite_differences(const CompiledProgram& program, std::size_t sample) {
    return program.name.starts_with("gradient") && (sample == 1 || sample == 3);
}

/// What passes change shows at sizes 1, at small ones and with a row of length 0.
bool takes_graphs(std::size_t sample) { return sample == 0 || sample == 1 || sample == 3; }

/// What the setting `dtype` says; where it is unset on PTX both, float32 first.
std::vector<DType> checked_dtypes(const SettingValues& values, const Target& target) {
    if (const auto given = dtype_of(values)) return {*given};
    if (is_ptx(target)) return {f32, bf16};
    return {f32};
}

/// With `differences`, the optimized graph is compared with the model's own and gradients with
/// finite differences, too: these are the same whatever the dtype.
std::vector<VerifyRow> verify(const LoadedModel& model, const Target& target, Fusion fusion,
                              const std::vector<std::string>& sizes, bool differences) {
    std::vector<ProgramRequest> requests = verified_programs(model, fusion);
    CompiledModel compiled = compile(model, requests, kernels_of(target));
    const auto generated = target.name == "reference"
                               ? nullptr
                               : model_on(target, compiled.plan, model.dtype, Optimized::little);
    std::vector<VerifyRow> rows;
    const std::vector<Sample> samples = samples_for(compiled, sizes);
    for (std::size_t p = 0; p < compiled.programs.size(); ++p) {
        const CompiledProgram& program = compiled.programs[p];
        for (std::size_t s = 0; s < samples.size(); ++s) {
            check_memory(program.plan, samples[s].dims);
            bool training = requests[p].training;
            if (differences && takes_graphs(s))
                append(rows, verify_optimized(model.entry.name, program, samples[s], training));
            if (generated)
                append(rows,
                       verify_kernels(compiled.plan, program, *generated, samples[s], training));
            if (differences && takes_finite_differences(program, s))
                append(rows, verify_gradients(model.entry.name, program, samples[s], training));
        }
    }
    return rows;
}

/// A number JSON can hold: errors that are infinite stand as 1e300.
nlohmann::ordered_json number(const std::optional<double>& error) {
    if (!error) return nullptr;
    return std::min(*error, 1e300);
}

void print_json(const std::vector<VerifyRow>& rows) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const VerifyRow& row : rows)
        list.push_back({{"model", row.model},
                        {"kernel", row.kernel},
                        {"dims", row.dims},
                        {"value_error", number(row.value_error)},
                        {"gradient_error", number(row.gradient_error)},
                        {"of_bound", number(row.of_bound)},
                        {"note", row.note},
                        {"ok", row.ok}});
    fmt::print("{}\n", list.dump(1));
}

std::string error_text(const std::optional<double>& error) {
    return error ? fmt::format("{:.1e}", *error) : "";
}

void print_table(const std::vector<VerifyRow>& rows) {
    fmt::print("{:<5} {:>9} {:>9} {:>8}  {:<48} {}\n", "", "values", "gradients", "of bound",
               "dims", "kernel");
    std::size_t misses = 0;
    for (const VerifyRow& row : rows) {
        fmt::print("{:<5} {:>9} {:>9} {:>8.2g}  {:<48} {}{}{}\n", row.ok ? "ok" : "MISS",
                   error_text(row.value_error), error_text(row.gradient_error), row.of_bound,
                   row.dims, row.kernel, row.note.empty() ? "" : ": ", row.note);
        misses += !row.ok;
    }
    fmt::print("{} checks, {} missed (each element within the bound of its own rounding)\n",
               rows.size(), misses);
}

/// Rows of bfloat16 where there are others of float32.
void mark(std::vector<VerifyRow>& rows) {
    for (VerifyRow& row : rows) row.kernel += " (bf16)";
}

int verify_models(const Arguments& given) {
    const Target target = target_of(given);
    const Fusion fusion = fusion_of(given);
    std::vector<std::string> names = given.positional();
    if (given.has("all") && !names.empty())
        throw UserError(
            fmt::format("fovea verify takes --all, every built-in model, or models by "
                        "name ({}): give either",
                        comma_list(names)));
    if (given.has("all") && given.has("size"))
        throw UserError("--size is for models by name: those of --all have other dims each");
    if (given.has("all") && given.has(kCheckpointOption))
        throw UserError("--checkpoint is for one model by name, not for --all");
    if (given.has("all"))
        for (const ModelEntry& entry : known_models()) names.push_back(entry.name);
    if (names.empty()) given.model();
    const std::vector<DType> dtypes = checked_dtypes(given.settings(), target);
    const target::Targets targets = targets_of(given);
    std::vector<VerifyRow> rows;
    if (is_ptx(target)) append(rows, verify_layouts(target));
    for (const std::string& name : names) {
        SettingValues values = given.settings();
        const ModelEntry* entry = find_known_model(name);
        const bool is_small = entry && !given.has(kCheckpointOption);
        if (is_small && std::ranges::all_of(values, is_of_numbers))
            values.insert(values.end(), entry->small_settings.begin(), entry->small_settings.end());
        LoadedModel model = is_small ? load_model(name, values) : load_model(given, name);
        model.targets = targets;
        Progress progress(fmt::format("checking {}", model.entry.name));
        for (DType dtype : dtypes) {
            model.dtype = dtype;
            const bool first = dtype == dtypes[0];
            std::vector<VerifyRow> own = verify(model, target, fusion, given.sizes(), first);
            if (!first) mark(own);
            append(rows, std::move(own));
        }
    }
    if (is_ptx(target)) append(rows, verify_optimizer(target));
    if (given.has("json")) print_json(rows);
    else print_table(rows);
    bool ok = true;
    for (const VerifyRow& row : rows) ok = ok && row.ok;
    return ok ? 0 : 1;
}

}  // namespace

Command verify_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("all", "every built-in model");
    add_target_options(options);
    add_fusion_option(options);
    add_size_option(options, "sizes of dims that are the same in all checks; the others are drawn");
    add("json", "print JSON");
    add_schedule_option(options);
    add_settings_option(options);
    return {{"verify",
             "check kernels and gradients against the reference",
             "MODEL…",
             "Checks every kernel against the float64 reference, the graph that kernels are\n"
             "made of against the model's own, and every gradient against finite differences,\n"
             "at several sizes. Built-in models are taken small unless --set says otherwise\n"
             "(dtype and weights apart). On PTX both are checked, float32 and bfloat16, unless\n"
             "--set dtype=f32|tf32|bf16|f16 says which. Exit status 1 when a check misses.",
             {{"a model of yours", "fovea verify my_model.cpp:my_model"},
              {"built-in models, one dim at a size of your choice",
               "fovea verify add_norm masked_softmax --size batch=3"},
              {"every built-in model; takes minutes", "fovea verify --all"}},
             true},
            options,
            verify_models};
}

}  // namespace fovea::tool
