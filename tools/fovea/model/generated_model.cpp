// Writing, compiling, caching and loading generated code.
#include "tools/fovea/model/generated_model.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "codegen/base/error.h"
#include "codegen/emit/emitter.h"
#include "runtime/files/files.h"
#include "runtime/isa.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/files/cache.h"
#include "tools/fovea/files/copy_runtime.h"
#include "tools/fovea/files/hash.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/files/runtime_archive.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

std::string hash_of(const plan::Model& model, const std::string& isa, const Home& home,
                    Optimized optimized) {
    Hash hash;
    for (const emit::File& file : emit::make_cpp_emitter({isa})->emit_model(model))
        hash.add(file.text);
    const std::vector<std::string> compiler = find_compiler();
    for (const std::string& part : compiler) hash.add(part);
    for (const std::string& flag : generated_code_flags(isa, optimized)) hash.add(flag);
    hash.add_file(find_program(compiler[0]));
    for (const fs::path& file : runtime_files(home.sources / "runtime"))
        if (file.extension() == ".h") hash.add_file(file);
    return hash.text();
}

/// What all machines have that have `isa`: what shares names with other code of a program is
/// compiled for it.
std::string least_beside(const std::string& isa) {
    return std::string(runtime::isas_of(runtime::machine_of(isa)).back());
}

/// The model of a library; nothing where it cannot be loaded or holds another model.
const runtime::Model* load(const fs::path& library, const std::string& name) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    // `const Model& <name>_model()`, as the Itanium C++ ABI spells it.
    const std::string symbol = fmt::format("_Z{}{}_modelv", name.size() + 6, name);
    auto model = reinterpret_cast<const runtime::Model& (*)()>(dlsym(handle, symbol.c_str()));
    return model ? &model() : nullptr;
}

/// Compiles a model, loads it, and keeps it as `library`, unless that is empty.
const runtime::Model& compile_library(const plan::Model& model, const std::string& isa,
                                      const Home& home, Optimized optimized,
                                      const fs::path& library) {
    check_kind_of_compiler();
    TemporaryFolder folder;
    write_generated(model, folder.path(), {isa});
    fs::create_directory_symlink(home.sources / "runtime", folder.path() / "fovea");
    const fs::path linked = folder.path() / "model.so";
    std::vector<std::string> link = find_compiler();
    link.insert(link.end(), {"-shared", "-fopenmp", "-o", linked.string()});
    for (std::string& object :
         compile_objects(model, folder.path(), {isa}, {"-fPIC"}, {}, optimized))
        link.push_back(std::move(object));
    compile_generated(link);
    const runtime::Model* loaded = load(linked, generated_name(model));
    if (!loaded) throw InternalError(fmt::format("cannot load generated code: {}", dlerror()));
    keep_in_cache(linked, library);
    return *loaded;
}

}  // namespace

std::string generated_name(const plan::Model& model) {
    std::string header = emit::make_cpp_emitter()->emit_model({.name = model.name}).front().name;
    return header.substr(0, header.rfind('.'));
}

void write_generated(const plan::Model& model, const fs::path& folder,
                     const std::vector<std::string>& isas) {
    for (const emit::File& file : emit::make_cpp_emitter(isas)->emit_model(model))
        runtime::write_file_atomically((folder / file.name).string(), file.text);
}

void write_sources(const plan::Model& model, const fs::path& folder,
                   const std::vector<std::string>& isas) {
    for (const emit::File& file : emit::make_cpp_emitter(isas)->emit_model(model))
        if (const std::string kind = fs::path(file.name).extension();
            kind == ".h" || kind == ".cpp")
            runtime::write_file_atomically((folder / file.name).string(), file.text);
}

std::vector<std::string> compile_objects(const plan::Model& model, const fs::path& folder,
                                         const std::vector<std::string>& isas,
                                         const std::vector<std::string>& flags,
                                         const std::vector<std::string>& sources,
                                         Optimized optimized) {
    std::vector<std::string> objects;
    std::vector<std::vector<std::string>> commands;
    const auto add = [&](const std::string& source, const std::string& object,
                         const std::string& isa, const std::string& flag) {
        std::vector<std::string> command = find_compiler_for(isa);
        for (const auto& more : {generated_code_flags(isa, optimized), flags})
            command.insert(command.end(), more.begin(), more.end());
        objects.push_back((folder / object).string());
        command.insert(command.end(), {flag, "-I" + folder.string(), "-c", "-o", objects.back(),
                                       (folder / source).string()});
        commands.push_back(std::move(command));
    };
    const std::string source = generated_name(model) + ".cpp";
    const std::vector<emit::File> parts = emit::cpp_source_parts(model, processors());
    for (const emit::File& part : parts)
        runtime::write_file_atomically((folder / part.name).string(), part.text);
    // The longest compilation first: the fewer lanes a register has, the more code there is.
    for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa)
        for (const emit::File& part : parts)
            add(part.name, part.name + "." + *isa + ".o", *isa, "-DFOVEA_KERNELS");
    const std::string least = least_beside(isas.front());
    add(source, "description.o", least, "-DFOVEA_DESCRIPTION");
    for (const std::string& other : sources) add(other, other + ".o", least, "-DNDEBUG");
    compile_generated(commands);
    return objects;
}

const runtime::Model& load_generated(const plan::Model& model, const std::string& isa, Keep keep,
                                     Optimized optimized) {
    const Home home = find_home();
    const fs::path cache = keep == Keep::in_cache ? cache_folder() : fs::path();
    if (cache.empty()) return compile_library(model, isa, home, optimized, {});
    const fs::path library = cache / (hash_of(model, isa, home, optimized) + ".so");
    if (is_whole_library(library))
        if (const runtime::Model* kept = load(library, generated_name(model))) return *kept;
    return compile_library(model, isa, home, optimized, library);
}

std::vector<const runtime::Model*> load_together(const std::vector<const plan::Model*>& models,
                                                 const std::string& isa, Optimized optimized) {
    check_kind_of_compiler();
    const Home home = find_home();
    TemporaryFolder folder;
    fs::create_directory_symlink(home.sources / "runtime", folder.path() / "fovea");
    std::vector<std::string> kernels(processors());
    std::string descriptions;
    for (std::size_t i = 0; i < models.size(); ++i) {
        write_generated(*models[i], folder.path(), {isa});
        const std::string include =
            fmt::format("#include \"{}.cpp\"\n", generated_name(*models[i]));
        kernels[i % kernels.size()] += include;
        descriptions += include;
    }
    std::vector<std::string> link = find_compiler();
    const fs::path linked = folder.path() / "models.so";
    link.insert(link.end(), {"-shared", "-fopenmp", "-o", linked.string()});
    std::vector<std::vector<std::string>> commands;
    const auto add = [&](const std::string& name, const std::string& text, const std::string& part,
                         const std::string& flag) {
        const fs::path source = folder.path() / name;
        runtime::write_file_atomically(source.string(), text);
        std::vector<std::string> command = find_compiler();
        for (const std::string& more : generated_code_flags(part, optimized))
            command.push_back(more);
        command.insert(command.end(), {"-fPIC", flag, "-I" + folder.path().string(), "-c", "-o",
                                       source.string() + ".o", source.string()});
        link.push_back(source.string() + ".o");
        commands.push_back(std::move(command));
    };
    for (std::size_t i = 0; i < kernels.size(); ++i)
        add(fmt::format("kernels_{}.cpp", i), kernels[i], isa, "-DFOVEA_KERNELS");
    add("descriptions.cpp", descriptions, least_beside(isa), "-DFOVEA_DESCRIPTION");
    compile_generated(commands);
    compile_generated(link);
    std::vector<const runtime::Model*> loaded;
    for (const plan::Model* model : models) {
        loaded.push_back(load(linked, generated_name(*model)));
        if (!loaded.back()) throw InternalError(fmt::format("cannot load {}", model->name));
    }
    return loaded;
}

}  // namespace fovea::tool
