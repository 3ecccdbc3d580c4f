// The runtime beside a generated model.
#pragma once

#include <filesystem>
#include <vector>

namespace fovea::tool {

/// The sources in a folder of the runtime, in order of their names.
std::vector<std::filesystem::path> runtime_files(const std::filesystem::path& runtime);

/// Whether a file of the runtime is copied beside generated models: not where it reads tokenizers
/// of files, texts by them, or images. `name` is within the runtime.
bool goes_with_models(const std::filesystem::path& name);

enum class WithTranslator { no, yes };

/// Writes `folder`/fovea: the runtime's sources, and `runtime.cmake`, which builds them. Headers
/// have guards by name, since one source may include two models with a copy each.
void copy_runtime(const std::filesystem::path& folder, WithTranslator with);

}  // namespace fovea::tool
