#include "tools/fovea/model/known_models.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "models/registry.h"
#include "tools/fovea/files/home.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

void verify_library(const fs::path& library) {
    std::error_code error;
    const fs::file_time_type made = fs::last_write_time(library, error);
    if (error)
        throw UserError(fmt::format("cannot read '{}', which FOVEA_MODELS names: {}",
                                    library.string(), error.message()));
    if (made < fs::last_write_time(command_file()))
        throw UserError(fmt::format("'{}' is older than fovea: build it again", library.string()));
}

std::vector<ModelEntry> models_of(const std::string& libraries) {
    std::vector<ModelEntry> models;
    std::istringstream stream(libraries);
    for (std::string library; std::getline(stream, library, ':');) {
        verify_library(library);
        models.push_back(load_entry(library));
    }
    return models;
}

}  // namespace

std::span<const ModelEntry> known_models() {
    const char* libraries = std::getenv("FOVEA_MODELS");
    if (!libraries || !*libraries) return models::built_in_models();
    static const std::vector<ModelEntry> loaded = models_of(libraries);
    return loaded;
}

const ModelEntry* find_known_model(std::string_view name) {
    for (const ModelEntry& entry : known_models())
        if (entry.name == name) return &entry;
    return models::find_model(name);
}

ModelEntry load_entry(const fs::path& library) {
    void* handle = dlopen(fs::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        throw InternalError(fmt::format("cannot load '{}': {}", library.string(), dlerror()));
    auto fill = reinterpret_cast<void (*)(ModelEntry*)>(dlsym(handle, "fovea_entry"));
    if (!fill)
        throw InternalError(fmt::format("'{}' has no model: {}", library.string(), dlerror()));
    ModelEntry entry;
    fill(&entry);
    return entry;
}

}  // namespace fovea::tool
