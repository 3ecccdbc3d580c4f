// Compiles a user's model file into a library and takes the entry of its function from there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/program_description.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/files/depfile.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/files/kept_library.h"
#include "tools/fovea/model/known_models.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/model/pytorch_names.h"
#include "tools/fovea/process.h"
#include "tools/fovea/progress.h"

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

/// A user's file as a source includes it. A name in `#include "…"` cannot be escaped: what is not
/// plain goes by links in `folder`, which the compiler's messages do not show (see `report`).
struct Included {
    std::string path;    // that the source names
    std::string behind;  // what messages name in the place of `path`
    std::vector<std::string> flags;
};

bool is_plain(const std::string& name) {
    return std::none_of(name.begin(), name.end(), [](unsigned char c) {
        return c == '"' || c == '\\' || c < 32 || c == 127;
    });
}

Included include(const fs::path& path, const fs::path& folder) {
    if (is_plain(path.string())) return {path.string(), path.string(), {}};
    // Files that it includes are looked for beside the link to its folder, which is its folder.
    fs::path parent = path.parent_path(), file = parent / path.filename();
    if (!is_plain(parent.string())) {
        fs::create_directory_symlink(parent, folder / "model_folder");
        file = folder / "model_folder" / path.filename();
    }
    std::vector<std::string> flags;
    if (!is_plain(path.filename().string())) {
        fs::create_symlink(path, folder / "model.cpp");
        file = folder / "model.cpp";
        flags = {"-iquote", parent.string()};
    }
    flags.push_back("-fmacro-prefix-map=" + file.string() + "=" + path.string());
    return {file.string(), path.string(), flags};
}

/// A source that includes the user's file and exports its function.
std::string entry_source(const std::string& file, const Included& included,
                         const std::string& function) {
    return fmt::format(R"(#include "{0}"
#include "dsl/model_function.h"
extern "C" void fovea_entry(fovea::ModelEntry* entry) {{
    *entry = fovea::entry_of<fovea::model_function(&::{1})>({2}, {3});
}}
)",
                       included.path, function, emit::quoted(last_name(function)),
                       emit::quoted(file));
}

/// `text` with every `from` replaced by `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    if (from == to) return text;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

/// What the compiler read, but for what it was given in the temporary folder.
std::vector<std::string> files_read(const fs::path& depfile, const fs::path& source,
                                    const Included& included) {
    const std::string through = fs::path(included.path).parent_path().string() + "/",
                      behind = fs::path(included.behind).parent_path().string() + "/";
    std::vector<std::string> files = {included.behind};
    for (const std::string& name : read_depfile(depfile)) {
        const fs::path path = fs::absolute(name);
        if (path == source || path == included.path || path.extension() == ".gch") continue;
        const std::string text = path.lexically_normal().string();
        files.push_back(text.starts_with(through) ? behind + text.substr(through.size()) : text);
    }
    return files;
}

/// The headers of fovea that the precompiled one was made of.
std::vector<fs::path> precompiled_headers(const Home& home) {
    std::vector<fs::path> headers;
    for (const std::string& name : read_depfile(home.precompiled.string() + ".d"))
        if (name.starts_with(home.sources.string() + "/") && name.ends_with(".h"))
            headers.emplace_back(name);
    return headers;
}

/// UserError when fovea's headers changed after it was built: a model would be another graph to
/// them than to the command.
void verify_built(const Home& home, const fs::path& precompiled) {
    const fs::file_time_type built = fs::last_write_time(precompiled);
    for (const fs::path& header : precompiled_headers(home)) {
        std::error_code missing;
        const fs::file_time_type changed = fs::last_write_time(header, missing);
        if (missing || changed > built)
            throw UserError(fmt::format("'{}' {} after fovea was built: build it again",
                                        header.string(), missing ? "was removed" : "changed"));
    }
}

/// The namespaces that are open where a text ends, `fovea::models::`.
std::string open_namespaces(const std::string& text) {
    static const std::regex brace(R"((?:\bnamespace\s+([\w:]+)\s*)?\{|\})");
    std::vector<std::string> open;
    for (std::sregex_iterator found(text.begin(), text.end(), brace), end; found != end; ++found) {
        if ((*found)[0] != "}") open.push_back((*found)[1].matched ? found->str(1) + "::" : "");
        else if (!open.empty()) open.pop_back();
    }
    std::string names;
    for (const std::string& name : open) names += name;
    return names;
}

/// The models in a file, as far as they are written in the plain way.
std::string what_is_there(const std::string& file, const std::string& function) {
    static const std::regex model(R"(\bvoid\s+(\w+)\s*\(\s*(?:fovea::)?Scope\b)");
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::vector<std::string> names;
    for (std::sregex_iterator found(text.begin(), text.end(), model), end; found != end; ++found)
        names.push_back(open_namespaces(text.substr(0, std::size_t(found->position()))) +
                        found->str(1));
    if (names.empty()) return "";
    const std::string nearest = did_you_mean(function, names);
    return (nearest.empty() ? ";" : nearest) + " models: " + comma_list(names);
}

[[noreturn]] void report(const std::string& file, const std::string& function,
                         const Included& included, const std::string& output) {
    check_room(output);
    std::vector<std::string> messages = pattern_messages(output);
    if (messages.empty()) messages = because_messages(output);
    if (!messages.empty()) throw UserError(fmt::format("{}", fmt::join(messages, "\nfovea: ")));
    if (output.find("'::" + function + "' has not been declared") != std::string::npos ||
        output.find("no member named '" + function + "'") != std::string::npos)
        throw UserError(fmt::format("'{}' has no function '{}'{}", file, function,
                                    what_is_there(file, function)));
    if (output.find("call to 'model_function") != std::string::npos)
        throw UserError(
            fmt::format("'{}' in '{}' is no model: write one function void {}(Scope) or "
                        "void {}(Scope, const Settings&)",
                        function, file, last_name(function), last_name(function)));
    const std::string error = first_error(output, included.path);
    throw UserError(fmt::format("'{}' does not compile: {}{}", file,
                                replaced(error, included.path, included.behind),
                                advice_of_pytorch_name(error)));
}

/// What a library depends on beside the files that its source includes; `made` is the precompiled
/// header, if there is one.
Hash key_of(const std::string& text, const std::vector<std::string>& command,
            const fs::path& folder, const fs::path& made) {
    Hash key;
    key.add(text);
    for (const std::string& part : command)
        if (!part.starts_with(folder.string())) key.add(part);
    for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"})
        if (const char* value = std::getenv(name)) key.add(value);
    for (const fs::path& file :
         {fs::path(find_program(command[0])), fs::path("/proc/self/exe"), made})
        if (!file.empty()) key.add_file(file);
    return key;
}

}  // namespace

ModelEntry compile_entry(const std::string& file, const std::string& function,
                         std::vector<std::string>* read) {
    std::error_code error;
    fs::path path = fs::canonical(file, error);
    if (error) throw UserError(fmt::format("cannot read '{}': {}", file, error.message()));
    if (!is_function_name(function))
        throw UserError(
            fmt::format("'{}' is no name of a function, in '{}:{}'", function, file, function));
    Home home = find_home();
    TemporaryFolder folder;
    fs::path source = folder.path() / "entry.cpp", library = folder.path() / "entry.so",
             depfile = folder.path() / "entry.d";
    const Included included = include(path, folder.path());
    const std::string text = entry_source(file, included, function);
    write_temporary(source, text);
    std::vector<std::string> command = find_compiler();
    // g++ gives inline variables and static members one address for all libraries of a process.
    const bool by_clang = is_clang(command);
    // g++ ignores a precompiled header of another version or other flags, and reads the header.
    const fs::path made = home.precompiled.string() + ".gch";
    const bool is_precompiled = fs::exists(made);
    if (is_precompiled) {
        verify_built(home, made);
        command.insert(command.end(), {"-include", home.precompiled.string()});
    }
    // What the file defines is its own, also where a built-in model, or another file, has the name;
    // and a position that a vector does not have is said.
    for (const std::string& flag :
         {std::string("-std=c++20"), std::string("-O0"), std::string("-fPIC"),
          std::string("-D_GLIBCXX_ASSERTIONS"), std::string("-shared"),
          std::string("-Wl,-Bsymbolic-functions"), "-I" + home.sources.string(),
          "-I" + (home.sources / "dsl").string(), std::string("-MMD"), std::string("-MF"),
          depfile.string(), std::string("-o"), library.string(), source.string()})
        command.push_back(flag);
    if (!by_clang) command.push_back("-fno-gnu-unique");
    command.insert(command.end(), included.flags.begin(), included.flags.end());
    const KeptLibrary kept(key_of(text, command, folder.path(), is_precompiled ? made : ""));
    if (const auto found = kept.find()) {
        if (read) *read = found->files;
        return load_entry(found->library);
    }
    Progress progress(fmt::format("compiling {}", file));
    ProcessResult result = run_process(command);
    Progress::clear();
    if (result.status) report(file, function, included, result.output);
    std::vector<std::string> files = files_read(depfile, source, included);
    if (is_precompiled)
        for (const fs::path& header : precompiled_headers(home)) files.push_back(header.string());
    kept.keep(library, files);
    if (read) *read = std::move(files);
    return load_entry(library);
}

}  // namespace fovea::tool
