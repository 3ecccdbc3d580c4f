// Names of models and settings, and what is said about unknown ones.
#include "tools/fovea/model/load_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/graph/scan_function.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/files/checkpoint.h"
#include "tools/fovea/files/verify_outputs.h"
#include "tools/fovea/model/crash_report.h"
#include "tools/fovea/model/known_models.h"

namespace fovea::tool {

namespace {

/// The colon between a file and a function, which may be qualified (`my.cpp:models::f`).
std::size_t separator(const std::string& name) {
    for (std::size_t i = 1; i + 1 < name.size(); ++i)
        if (name[i] == ':' && name[i - 1] != ':' && name[i + 1] != ':') return i;
    return std::string::npos;
}

std::vector<std::string> model_names() {
    std::vector<std::string> names;
    for (const ModelEntry& entry : known_models()) names.push_back(entry.name);
    return names;
}

/// The setting of every model that says how weights and activations lie in memory.
constexpr std::string_view kDtype = "dtype", kTf32 = "tf32", kDtypes = "f32|tf32|bf16|f16";
/// The one that says how weights of products lie, for inference.
constexpr std::string_view kWeights = "weights", kStorages = "float32|int8|int4";

void check_names(const ModelEntry& entry, const SettingValues& values) {
    std::vector<std::string> names;
    for (const SettingSpec& spec : settings_with_dtype(entry)) names.push_back(spec.name);
    for (const auto& [name, value] : values) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        std::string listed = " settings: " + comma_list(names);
        std::string nearest = did_you_mean(name, names);
        throw UserError(fmt::format("unknown setting '{}' of {}{}{}", name, entry.name,
                                    nearest.empty() ? ";" : nearest, listed));
    }
}

/// One value would be that of both.
void refuse_settings_of_one_name(const ModelEntry& entry) {
    std::set<std::string> known;
    for (const SettingSpec& spec : entry.settings)
        if (!known.insert(spec.name).second)
            throw UserError(
                fmt::format("{} has two settings of the name '{}'", entry.name, spec.name));
}

std::vector<plan::Setting> settings_of(const ModelEntry& entry, const SettingValues& values) {
    std::vector<plan::Setting> settings;
    for (const SettingSpec& spec : entry.settings) {
        std::string text = spec.default_text;
        for (const auto& [name, value] : values)
            if (name == spec.name) text = value;
        if (!text.empty())
            settings.push_back({spec.name, text, text == spec.default_text, spec.in_training});
    }
    return settings;
}

/// What a model's function throws is the user's.
Graph build(const ModelEntry& entry, const SettingValues& values) {
    try {
        Graph graph = [&] {
            const CrashReport crashes(entry.name);
            return entry.build(values);
        }();
        add_names_in_files(graph, entry.checkpoint);
        return seal_scans(graph);
    } catch (const ModelMistakes& mistakes) {
        // Layers of one form have the same one.
        std::vector<std::string> different;
        for (const std::string& text : mistakes.texts())
            if (std::ranges::find(different, text) == different.end()) different.push_back(text);
        throw UserError(fmt::format("{}", fmt::join(different, "\nfovea: ")));
    } catch (const UserError&) {
        throw;
    } catch (const InternalError&) {
        throw;
    } catch (const std::exception& error) {
        throw UserError(fmt::format("the function of {} throws: {}", entry.name, error.what()));
    } catch (...) {
        throw UserError(
            fmt::format("the function of {} throws what is no std::exception", entry.name));
    }
}

}  // namespace

std::vector<SettingSpec> settings_with_dtype(const ModelEntry& entry) {
    std::vector<SettingSpec> settings = entry.settings;
    settings.push_back({std::string(kDtype), std::string(kDtypes), "", false});
    settings.push_back({std::string(kWeights), std::string(kStorages), "", false});
    return settings;
}

ModelEntry find_entry(const std::string& name, std::vector<std::string>* read) {
    if (const ModelEntry* entry = find_known_model(name)) return *entry;
    if (std::size_t colon = separator(name); colon != std::string::npos)
        return compile_entry(name.substr(0, colon), name.substr(colon + 1), read);
    if (name.find('.') != std::string::npos || name.find('/') != std::string::npos)
        throw UserError(fmt::format("'{}' names no function: write {}:FUNCTION", name,
                                    name.substr(0, name.find_last_not_of(':') + 1)));
    std::string nearest = did_you_mean(name, model_names());
    throw UserError(fmt::format("unknown model '{}'{} models: {}; or FILE.cpp:FUNCTION", name,
                                nearest.empty() ? ";" : nearest, comma_list(model_names())));
}

std::optional<DType> dtype_of(const SettingValues& values) {
    std::optional<DType> dtype;
    for (const auto& [name, value] : values) {
        if (name != kDtype) continue;
        dtype.reset();
        for (DType type : {f32, bf16, f16})
            if (value == name_of(type)) dtype = type;
        if (value == kTf32) dtype = f32;
        if (!dtype)
            throw UserError(fmt::format("setting '{}' takes {}, not '{}'", kDtype, kDtypes, value));
    }
    return dtype;
}

bool takes_tf32(const SettingValues& values) {
    return std::any_of(values.begin(), values.end(), [](const auto& setting) {
        return setting.first == kDtype && setting.second == kTf32;
    });
}

WeightStorage weights_of(const SettingValues& values) {
    WeightStorage storage;
    for (const auto& [name, value] : values) {
        if (name != kWeights) continue;
        const auto parsed = parse_weight_storage(value);
        if (!parsed)
            throw UserError(fmt::format(
                "setting '{}' takes {}, the last two with the numbers of a group, too, a "
                "multiple of {} up to {}, as int8:64, not '{}'",
                kWeights, kStorages, WeightStorage::kGroupStep, WeightStorage::kLargestGroup,
                value));
        storage = *parsed;
    }
    return storage;
}

namespace {

bool is_among(const SettingValues& values, const std::string& setting) {
    return std::ranges::any_of(values, [&](const auto& value) { return value.first == setting; });
}

LoadedModel model_of_entry(ModelEntry entry, const SettingValues& values, DType unset) {
    LoadedModel model{std::move(entry), values, {}, {}};
    refuse_settings_of_one_name(model.entry);
    check_names(model.entry, values);
    model.dtype = dtype_of(values).value_or(unset);
    model.caches = dtype_of(values).value_or(f32);
    model.tf32 = takes_tf32(values);
    model.weights = weights_of(values);
    std::erase_if(model.values, [](const auto& setting) {
        return setting.first == kDtype || setting.first == kWeights;
    });
    model.settings = settings_of(model.entry, model.values);
    model.graph = build(model.entry, model.values);
    return model;
}

}  // namespace

LoadedModel load_model(const std::string& name, const SettingValues& values, DType unset) {
    std::vector<std::string> files;
    LoadedModel model = model_of_entry(find_entry(name, &files), values, unset);
    model.files = std::move(files);
    return model;
}

LoadedModel load_model(const Arguments& given, const std::string& name, DType unset) {
    if (!given.has(kCheckpointOption)) {
        LoadedModel model = load_model(name, given.settings(), unset);
        verify_outputs(given, model.files);
        return model;
    }
    std::vector<std::string> files;
    ModelEntry entry = find_entry(name, &files);
    verify_outputs(given, files);
    SettingValues values = given.settings();
    const SettingValues there = settings_of_checkpoint(entry, given.text(kCheckpointOption));
    for (const auto& [setting, value] : there)
        if (!is_among(values, setting)) values.emplace_back(setting, value);
    try {
        LoadedModel model = model_of_entry(std::move(entry), values, unset);
        model.files = std::move(files);
        // What the checkpoint does not say is what was given beside it.
        for (plan::Setting& setting : model.settings)
            if (!is_among(there, setting.name)) setting.is_default = true;
        return model;
    } catch (const UserError& mistake) {
        throw UserError(fmt::format("with the settings of checkpoint '{}': {}",
                                    given.text(kCheckpointOption), mistake.what()));
    }
}

}  // namespace fovea::tool
