// Modules of LLVM to PTX, several at once, and what several architectures share once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/module.h"

namespace fovea::emit::nvptx {

/// The PTX of a module in parts: what stands before its first entry, but for version, target and
/// address size, as lines; and from the first entry on.
struct ModuleText {
    std::vector<std::string> declarations;
    std::string entries;
};

/// ModuleText of each module, in their order. Modules that say the same are compiled once, for the
/// architecture of the first of them, whose PTX the later ones run as well: list older ones first.
/// InternalError as ModuleBuilder::finish.
std::vector<std::shared_ptr<const ModuleText>> compile_modules(
    std::vector<std::unique_ptr<ModuleBuilder>> modules);

}  // namespace fovea::emit::nvptx
