// `config.json` of a checkpoint as transformers reads it, with what that takes where a field is
// lacking or null.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../files/json.h"

namespace fovea::runtime {

/// A field of `config.json` as a setting takes it: lists by commas, strings without quotes.
std::string setting_text(const Json& value);

/// The fields of a configuration. Those of rotary positions stand among the others, but as
/// `rope_parameters.full_attention.rope_theta` where layers differ, and as `rope_parameters.NAME`
/// where no model here has them; `num_labels` is the size of `id2label`.
class CheckpointConfig {
  public:
    /// `config` is the object of the file `path`. UserError with the path where it lacks what
    /// positions of its kind need.
    CheckpointConfig(std::string path, Json config);

    /// What stands in the field, or what transformers takes in its place; null where neither is.
    const Json* find(const std::string& field) const { return config_.find(field); }
    /// The value that a setting of this name has; none: its default. A window or a cap that is null
    /// is 0, which is none.
    std::optional<std::string> value_of(const std::string& setting) const;
    /// UserError where positions are of a kind that no model has here, or differ from layer to
    /// layer, and no setting is called after them.
    void verify_settings_of_positions(const std::vector<std::string>& settings) const;
    /// Fields that may change what a model computes, and are none of the settings,
    /// with their values: not those of training, of tokens, or of what wrote the file.
    std::vector<std::pair<std::string, std::string>> unread(
        const std::vector<std::string>& settings) const;
    /// UserError where the field has another value than those that `model` is right for.
    void verify(const std::string& field, std::span<const std::string> values,
                const std::string& model) const;

  private:
    void spread_positions();
    void spread(const std::string& name, const Json& fields);
    void set_of_models(const std::string& name, const Json& value);
    void complete_positions(const std::string& name, const Json& fields);
    void verify_positions(const std::string& name, const Json& fields) const;
    void fill_in();
    void name_layers_of_gemma3();
    bool says(const std::string& field) const;

    /// A field of positions that takes settings of a model's own, and where it stands.
    struct OfModels {
        std::string field, place;
        bool is_layers;  // it has the fields of some layers
    };

    std::string path_;
    Json config_;
    std::vector<OfModels> of_models_;
};

}  // namespace fovea::runtime
