#include "verify_config.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "../error.h"
#include "../files/number_text.h"
#include "../program.h"
#include "checkpoint_config.h"
#include "checkpoint_folder.h"

namespace fovea::runtime {

namespace {

namespace fs = std::filesystem;

/// Settings that may be another's without changing what weights mean: how values lie, the most
/// positions, and pairs beside the weights.
bool may_differ(const std::string& setting) {
    constexpr std::string_view kOpen[] = {"dtype",       "weights",   "max_position_embeddings",
                                          "n_positions", "lora_rank", "lora_alpha"};
    return std::find(std::begin(kOpen), std::end(kOpen), setting) != std::end(kOpen);
}

/// Whether two texts are one value: the same text, or the same number.
bool is_value(const std::string& text, const std::string& other) {
    if (text == other) return true;
    const auto number = [](const std::string& from, float& to) {
        if (from == "true" || from == "false") return to = from == "true" ? 1 : 0, true;
        std::size_t length = 0;
        to = static_cast<float>(read_number(from, length));
        return length > 0 && length == from.size();
    };
    float a = 0, b = 0;
    return number(text, a) && number(other, b) && a == b;
}

/// The words of a row: blanks inside of them are `\s`, line feeds `\n`, and backslashes double.
std::vector<std::string> words_of_row(const std::string& row) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] == ' ') {
            words.emplace_back();
        } else if (row[i] == '\\' && i + 1 < row.size()) {
            const char escaped = row[++i];
            words.back() += escaped == 's' ? ' ' : escaped == 'n' ? '\n' : escaped;
        } else {
            words.back() += row[i];
        }
    }
    return words;
}

/// `row` is one of Model::config_fields: a field and its values.
void verify_field(const CheckpointConfig& config, const std::string& row,
                  const std::string& model) {
    const std::vector<std::string> words = words_of_row(row);
    config.verify(words.front(), std::span(words).subspan(1), model);
}

/// Whether a configuration tells of a setting: it says it, perhaps as a field of rotary positions,
/// or it is that of a model, which has the default of what it does not say.
bool tells_of(const Json& config, const std::string& setting) {
    const auto has = [&](const std::string& field) { return config.find(field) != nullptr; };
    return has(setting) || has("rope_scaling") || has("rope_parameters") || has("model_type");
}

void verify_setting(const CheckpointConfig& config, const std::string& path, const Model& model,
                    const Setting& setting) {
    const std::optional<std::string> value = config.value_of(setting.name);
    if (value ? is_value(*value, setting.value) : setting.is_default) return;
    const Json* field = config.find(setting.name);
    const std::string has = field ? "has " + setting.name + " = " + field->text()
                                  : "lacks " + setting.name + ", which then has its default";
    throw UserError(
        "'{}' {}, and this {} was built with {}: build one with `--checkpoint {}`, or give the "
        "file of the weights alone",
        {path, has, model.name, setting.value, fs::path(path).parent_path().string()});
}

void verify_config(const Model& model, const std::string& weights) {
    const std::optional<Json> object = object_beside(weights, "config.json");
    if (!object) return;
    const std::string path = (fs::path(weights) / "config.json").string();
    const CheckpointConfig config(path, *object);
    std::vector<std::string> settings;
    for (const Setting& setting : model.settings) settings.push_back(setting.name);
    for (const std::string& row : model.config_fields) verify_field(config, row, model.name);
    config.verify_settings_of_positions(settings);
    for (const Setting& setting : model.settings)
        if (!setting.in_training && !may_differ(setting.name) && tells_of(*object, setting.name))
            verify_setting(config, path, model, setting);
}

}  // namespace

const VerifiedConfigs kVerifiedConfigs = {verify_config};

}  // namespace fovea::runtime
