// The model that a command names: a built-in one, or a function of the user's own file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/target/target.h"
#include "dsl/model_entry.h"
#include "tools/fovea/arguments.h"

namespace fovea::tool {

struct LoadedModel {
    ModelEntry entry;
    SettingValues values;                 // as given
    std::vector<plan::Setting> settings;  // all that have a value
    Graph graph;                          // of the main function
    DType dtype = DType::f32;  // of weights and activations in memory: the setting `dtype`
    DType caches = DType::f32;  // of keys and values that decoding keeps: halves if `dtype` says so
    bool tf32 = false;  // with f32: products on a GPU round their operands to tf32
    WeightStorage weights{};  // of products: the setting `weights`
    target::Targets targets{};  // that it may be compiled for
    bool has_lora = false;  // `graph` has pairs of small matrices (tools/fovea/adapt)
    Graph merge{};  // the program that takes them in
    std::vector<std::string> files{};  // that its function was compiled from; none: a built-in one
};

/// How the setting `dtype` keeps weights and activations in memory, where it is among the values:
/// tf32 as float32. UserError for other than f32, tf32, bf16 and f16.
std::optional<DType> dtype_of(const SettingValues& values);
/// Whether it is tf32.
bool takes_tf32(const SettingValues& values);

/// How the setting `weights` has weights lie. UserError for a value that says nothing of it.
WeightStorage weights_of(const SettingValues& values);

/// Every model takes the setting `dtype`, f32, tf32, bf16 or f16, beside its own; unset it is
/// `unset`; and the setting `weights`. UserError for an unknown model or setting (with the nearest
/// name), and with the text of the mistake for a model that is wrong.
LoadedModel load_model(const std::string& name, const SettingValues& values,
                       DType unset = DType::f32);

/// The model `name` with the settings that a command line gives it: those of `--set`, and the
/// others of the `config.json` of `--checkpoint`.
LoadedModel load_model(const Arguments& given, const std::string& name, DType unset = DType::f32);

/// The settings of a model, `dtype` and `weights` among them.
std::vector<SettingSpec> settings_with_dtype(const ModelEntry& entry);

/// The entry alone. `read`: see `compile_entry`.
ModelEntry find_entry(const std::string& name, std::vector<std::string>* read = nullptr);

/// Compiles `file` and gives the entry of its function `function`. The compiled code stays loaded.
/// `read`, unless null, gets the files that the compiler read, fovea's headers among them, but none
/// of the system's.
ModelEntry compile_entry(const std::string& file, const std::string& function,
                         std::vector<std::string>* read = nullptr);

}  // namespace fovea::tool
