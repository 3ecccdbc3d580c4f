// Generated files on disk, and generated code loaded into this process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/program.h"
#include "tools/fovea/compiler.h"

namespace fovea::tool {

/// The C++ identifier that generated files and functions of a model start with.
std::string generated_name(const plan::Model& model);

/// Writes the files of `model` into `folder`, which exists, for these instruction sets.
void write_generated(const plan::Model& model, const std::filesystem::path& folder,
                     const std::vector<std::string>& isas);

/// Its header and its source alone.
void write_sources(const plan::Model& model, const std::filesystem::path& folder,
                   const std::vector<std::string>& isas);

/// Compiles the model in `folder`, and `sources` beside it, several files at once: the objects of
/// the kernels, one for each instruction set, of the description, and of the sources. `flags` are
/// for all of them.
std::vector<std::string> compile_objects(const plan::Model& model,
                                         const std::filesystem::path& folder,
                                         const std::vector<std::string>& isas,
                                         const std::vector<std::string>& flags,
                                         const std::vector<std::string>& sources = {},
                                         Optimized optimized = Optimized::as_shipped);

/// Where the compiled library of a model stays.
enum class Keep { in_cache, nowhere };

/// Compiles the model for one instruction set into a library and loads it. The library is kept,
/// unless `keep` says nowhere, in the user's cache folder ($XDG_CACHE_HOME/fovea, ~/.cache/fovea)
/// under the hash of the code, the compiler, its flags and the runtime, so a second run of the same
/// model starts at once.
const runtime::Model& load_generated(const plan::Model& model, const std::string& isa,
                                     Keep keep = Keep::in_cache,
                                     Optimized optimized = Optimized::as_shipped);

/// Compiles several models, whose names differ, into one library and loads it: what a compiler
/// spends on headers is spent once. In their order.
std::vector<const runtime::Model*> load_together(const std::vector<const plan::Model*>& models,
                                                 const std::string& isa, Optimized optimized);

}  // namespace fovea::tool
