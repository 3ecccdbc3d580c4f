// Checkpoints as people have them: a folder with `config.json` and the weights.
#pragma once

#include <string>
#include <vector>

#include "dsl/model_entry.h"

namespace fovea::tool {

/// The settings of a model that the folder's `config.json` has fields of, as
/// `runtime::CheckpointConfig` reads them. For a model that says nothing of its checkpoints a
/// warning lists what it has no settings for, and these values become what it is right for.
/// UserError with the path where there is no such file, where it is not right, or where it is of
/// another kind of model than `ModelEntry::checkpoint` says.
SettingValues settings_of_checkpoint(ModelEntry& entry, const std::string& folder);

/// `runtime::Model::config_fields` of a model.
std::vector<std::string> config_fields(const CheckpointForm& form);

/// Gives the graph's parameters the names that files have for them, beside their own.
void add_names_in_files(Graph& graph, const CheckpointForm& form);

}  // namespace fovea::tool
