// Compiling the runtime for machines of another kind, all files of a folder at once.
#include "tools/fovea/files/runtime_archive.h"

#include <fmt/format.h>

#include <map>
#include <regex>
#include <utility>

#include "codegen/emit/emitter.h"
#include "runtime/isa.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/files/cache.h"
#include "tools/fovea/files/copy_runtime.h"
#include "tools/fovea/files/hash.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> runtime_flags(const std::string& isa) {
    std::vector<std::string> flags = generated_code_flags(isa, Optimized::little);
    flags.insert(flags.end(),
                 {"-ffp-contract=off", "-fPIC", "-ffunction-sections", "-fdata-sections", "-w"});
    return flags;
}

/// Loops over numbers are optimized for speed, all else for size.
const char* optimization_of(const fs::path& file) {
    static const std::regex fast{std::string(emit::kFastRuntimeFiles)};
    return std::regex_match(file.stem().string(), fast) ? "-O3" : "-Os";
}

/// The archiver that a compiler has beside it.
std::string archiver_of(std::vector<std::string> compiler, std::string_view isa) {
    if (runtime::machine_of(isa) == "wasm32")
        return fs::path(compiler[0]).replace_filename("emar").string();
    compiler.emplace_back("-print-prog-name=ar");
    const std::string said = run_process(compiler).output;
    return said.substr(0, said.find('\n'));
}

/// A source that includes those of one folder of the runtime that are optimized alike.
struct RuntimePart {
    fs::path source;
    std::string optimization;
};
std::vector<RuntimePart> write_parts(const std::string& isa, const fs::path& runtime,
                                     const fs::path& folder) {
    // What reads tokenizers and texts by them takes more of the C++ library than em++ has.
    const bool takes_all = runtime::machine_of(isa) != "wasm32";
    std::map<std::pair<fs::path, std::string>, std::string> texts;
    for (const fs::path& file : runtime_files(runtime))
        if (file.extension() == ".cpp" &&
            (takes_all || goes_with_models(fs::relative(file, runtime))))
            texts[{file.parent_path(), optimization_of(file)}] +=
                fmt::format("#include \"{}\"\n", file.string());
    std::vector<RuntimePart> parts;
    for (const auto& [alike, text] : texts) {
        const fs::path source = folder / fmt::format("runtime_{}.cpp", parts.size());
        write_temporary(source, text);
        parts.push_back({source, alike.second});
    }
    return parts;
}

fs::path compiled_archive(const std::string& isa, const fs::path& runtime, const fs::path& folder) {
    const fs::path archive = folder / "libruntime.a";
    std::vector<std::vector<std::string>> commands;
    std::vector<std::string> gather = {archiver_of(find_compiler_for(isa), isa), "rcs",
                                       archive.string()};
    for (const RuntimePart& part : write_parts(isa, runtime, folder)) {
        std::vector<std::string> command = find_compiler_for(isa);
        for (std::string& flag : runtime_flags(isa)) command.push_back(std::move(flag));
        gather.push_back(part.source.string() + ".o");
        command.insert(command.end(),
                       {part.optimization, "-c", "-o", gather.back(), part.source.string()});
        commands.push_back(std::move(command));
    }
    compile_generated(commands);
    compile_generated(gather);
    return archive;
}

}  // namespace

fs::path runtime_archive_for(const std::string& wanted, const fs::path& folder) {
    const Home home = find_home();
    const std::string_view machine = runtime::machine_of(wanted);
    if (machine == runtime::this_machine()) return home.runtime_archive;
    const std::string isa(runtime::isas_of(machine).back());  // that all of these machines have
    const fs::path runtime = fs::canonical(home.sources / "runtime"), cache = cache_folder();
    if (cache.empty()) return compiled_archive(isa, runtime, folder);
    Hash hash;
    for (const std::string& part : find_compiler_for(isa)) hash.add(part);
    hash.add_file(find_program(find_compiler_for(isa)[0]));
    for (const std::string& flag : runtime_flags(isa)) hash.add(flag);
    for (const fs::path& file : runtime_files(runtime)) hash.add_file(file);
    const fs::path kept = cache / (hash.text() + ".a");
    if (!fs::exists(kept)) keep_in_cache(compiled_archive(isa, runtime, folder), kept);
    return fs::exists(kept) ? kept : compiled_archive(isa, runtime, folder);
}

}  // namespace fovea::tool
