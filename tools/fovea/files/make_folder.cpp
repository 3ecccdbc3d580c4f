#include "tools/fovea/files/make_folder.h"

#include <fmt/format.h>

#include "codegen/base/error.h"

namespace fovea::tool {

void make_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw UserError(
            fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

}  // namespace fovea::tool
