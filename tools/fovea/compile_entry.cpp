// Compiles a user's model file into a library and takes the entry of its function from there.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "codegen/base/error.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/load_model.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

std::string last_name(const std::string& qualified) {
    std::size_t colon = qualified.rfind(':');
    return colon == std::string::npos ? qualified : qualified.substr(colon + 1);
}

bool is_function_name(const std::string& name) {
    for (char c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != ':') return false;
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
}

/// A source that includes the user's file and exports its function.
std::string entry_source(const std::string& file, const fs::path& path,
                         const std::string& function) {
    return fmt::format(R"(#include "{0}"
#include "dsl/model_entry.h"
extern "C" void fovea_entry(fovea::ModelEntry* entry) {{
    *entry = fovea::entry_of<::{1}>("{2}", "{3}");
}}
)",
                       path.string(), function, last_name(function), file);
}

[[noreturn]] void report(const std::string& file, const std::string& function,
                         const std::string& output) {
    std::vector<std::string> messages = because_messages(output);
    if (!messages.empty()) throw UserError(fmt::format("{}", fmt::join(messages, "\nfovea: ")));
    if (output.find("'::" + function + "' has not been declared") != std::string::npos ||
        output.find("‘::" + function + "’ has not been declared") != std::string::npos ||
        output.find("no member named '" + function + "'") != std::string::npos)
        throw UserError(fmt::format("'{}' has no function '{}'", file, function));
    throw UserError(fmt::format("'{}' does not compile: {}", file, first_error(output)));
}

}  // namespace

ModelEntry compile_entry(const std::string& file, const std::string& function) {
    std::error_code error;
    fs::path path = fs::canonical(file, error);
    if (error) throw UserError(fmt::format("cannot read '{}': {}", file, error.message()));
    if (!is_function_name(function))
        throw UserError(
            fmt::format("'{}' is no name of a function, in '{}:{}'", function, file, function));
    Home home = find_home();
    TemporaryFolder folder;
    fs::path source = folder.path() / "entry.cpp", library = folder.path() / "entry.so";
    std::ofstream(source) << entry_source(file, path, function);
    std::vector<std::string> command = find_compiler();
    // g++ ignores a precompiled header of another version or other flags, and reads the header.
    if (fs::exists(home.precompiled.string() + ".gch"))
        command.insert(command.end(), {"-include", home.precompiled.string()});
    for (const std::string& flag :
         {std::string("-std=c++20"), std::string("-O0"), std::string("-fPIC"),
          std::string("-shared"), "-I" + home.sources.string(),
          "-I" + (home.sources / "dsl").string(), std::string("-o"), library.string(),
          source.string()})
        command.push_back(flag);
    ProcessResult result = run_process(command);
    if (result.status) report(file, function, result.output);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw InternalError(fmt::format("cannot load '{}': {}", file, dlerror()));
    auto fill = reinterpret_cast<void (*)(ModelEntry*)>(dlsym(handle, "fovea_entry"));
    if (!fill) throw InternalError(fmt::format("'{}' has no entry: {}", file, dlerror()));
    ModelEntry entry;
    fill(&entry);
    return entry;
}

}  // namespace fovea::tool
