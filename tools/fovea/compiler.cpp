// Finding and calling the compiler, and reading what it says.
#include "tools/fovea/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <thread>

#include "codegen/base/error.h"
#include "codegen/emit/compiler_flags.h"
#include "runtime/isa.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/process.h"
#include "tools/fovea/progress.h"

namespace fovea::tool {

namespace {

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> parts;
    for (std::string word; stream >> word;) parts.push_back(word);
    return parts;
}

/// The characters of the string literals in `text`, put together. Literals are padded with blanks;
/// one that ends in none goes on in the next.
std::string literals(const std::string& text) {
    std::string result;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            inside = !inside;
            bool blank = !result.empty() && result.back() == ' ';
            while (!result.empty() && result.back() == ' ') result.pop_back();
            if (blank) result += ' ';
        } else if (inside) {
            if (text[i] == '\\' && i + 1 < text.size()) ++i;
            result += text[i];
        }
    }
    if (!result.empty() && result.back() == ' ') result.pop_back();
    return result;
}

/// The end of the braces that start at `open`; quotes hide braces.
std::size_t closing_brace(const std::string& text, std::size_t open) {
    int depth = 0;
    bool inside = false;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (inside && text[i] == '\\') ++i;
        else if (text[i] == '"') inside = !inside;
        else if (!inside && text[i] == '{') ++depth;
        else if (!inside && text[i] == '}' && --depth == 0) return i;
    }
    return text.size();
}

/// Whether a compiler knows a flag that is none of the language's.
bool takes_flag(std::vector<std::string> command, const std::string& flag) {
    static std::mutex mutex;
    static std::map<std::vector<std::string>, bool> known;
    command.insert(command.end(), {flag, "-E", "-x", "c++", "-o", "/dev/null", "/dev/null"});
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(command);
    if (is_new) found->second = run_process(command).status == 0;
    return found->second;
}

/// The kind of machine that a compiler says it compiles for; nothing where it does not say.
std::string_view machine_of_compiler(std::vector<std::string> command) {
    static std::mutex mutex;
    static std::map<std::vector<std::string>, std::string_view> known;
    command.emplace_back("-dumpmachine");
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(command);
    if (!is_new) return found->second;
    const ProcessResult said = run_process(command);
    for (std::string_view machine : {"x86_64", "aarch64", "wasm32"})
        if (said.status == 0 && said.output.starts_with(std::string(machine) + "-"))
            found->second = machine;
    return found->second;
}

/// `$CXX`; nothing where it is not set. UserError where there is no such program.
std::vector<std::string> chosen_compiler() {
    const char* chosen = std::getenv("CXX");
    if (!chosen || !*chosen) return {};
    std::vector<std::string> command = words(chosen);
    if (!command.empty() && !find_program(command[0]).empty()) return command;
    throw UserError(fmt::format("no C++ compiler found: CXX is '{}'", chosen));
}

/// The compiler for machines of another kind, as Debian calls it, and its package.
struct CrossCompiler {
    std::string name, package;
};
CrossCompiler cross_compiler_for(std::string_view machine) {
    if (machine == "wasm32") return {"em++", "emscripten"};
    const std::string name = fmt::format("{}-linux-gnu-g++", machine);
    std::string package = fmt::format("g++-{}-linux-gnu", machine);
    std::replace(package.begin(), package.end(), '_', '-');
    return {name, package};
}

/// Whether a compiler makes code for machines of this kind, or does not say for which.
bool compiles_for(const std::vector<std::string>& command, std::string_view machine) {
    const std::string_view said = machine_of_compiler(command);
    return said.empty() || said == machine;
}

}  // namespace

std::string_view compiled_for() {
    const char* chosen = std::getenv("CXX");
    const std::vector<std::string> command = words(chosen ? chosen : "");
    if (command.empty() || find_program(command[0]).empty()) return runtime::this_machine();
    const std::string_view said = machine_of_compiler(command);
    return said.empty() ? runtime::this_machine() : said;
}

std::vector<std::string> find_compiler_for(std::string_view isa) {
    const std::string_view machine = runtime::machine_of(isa);
    if (machine == runtime::this_machine()) return find_compiler();
    std::vector<std::string> command = chosen_compiler();
    if (!command.empty() && machine_of_compiler(command) == machine) return command;
    const auto [name, package] = cross_compiler_for(machine);
    if (!find_program(name).empty()) return {name};
    throw UserError(
        fmt::format("no C++ compiler for {} found, which {} is an instruction set of: install {} "
                    "(apt install {}), or set CXX",
                    machine, isa, name, package));
}

std::vector<std::string> find_compiler() {
    if (std::vector<std::string> chosen = chosen_compiler();
        !chosen.empty() && compiles_for(chosen, runtime::this_machine()))
        return chosen;
    std::vector<std::string> names = {"g++", "clang++-19", "clang++", "c++"};
#if defined(__clang__)
    // The runtime's archive calls the OpenMP library of the compiler that built it.
    names.insert(names.begin(), "clang++-19");
#endif
    for (const std::string& name : names)
        if (!find_program(name).empty()) return {name};
    throw UserError("no C++ compiler found: install g++ (apt install g++), or set CXX");
}

bool is_clang(const std::vector<std::string>& compiler) {
    static std::mutex mutex;
    static std::map<std::vector<std::string>, bool> known;
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(compiler);
    if (is_new) {
        std::vector<std::string> command = compiler;
        command.insert(command.end(), {"-dM", "-E", "-x", "c++", "/dev/null"});
        found->second = run_process(command).output.find("__clang__") != std::string::npos;
    }
    return found->second;
}

void check_kind_of_compiler() {
#if defined(__clang__)
    constexpr bool kByClang = true;
#else
    constexpr bool kByClang = false;
#endif
    const std::vector<std::string> compiler = find_compiler();
    const bool is_by_clang = is_clang(compiler);
    if (is_by_clang == kByClang) return;
    throw UserError(fmt::format(
        "'{}' is {}, and {} built this command, into which its code would be loaded: two OpenMP "
        "libraries in one process count threads wrong; unset CXX, or build fovea with {}",
        compiler[0], is_by_clang ? "clang" : "not clang", kByClang ? "clang" : "g++", compiler[0]));
}

bool has_openmp(std::string_view isa) { return runtime::machine_of(isa) != "wasm32"; }

std::vector<std::string> generated_code_flags(const std::string& isa, Optimized optimized) {
    using For = emit::CompilerFlag::For;
    // What is thrown is caught in WebAssembly where all of a program is compiled so.
    std::vector<std::string> flags = {"-std=c++20", has_openmp(isa) ? "-fopenmp" : "-fexceptions"};
    if (optimized == Optimized::little) flags.emplace_back(has_openmp(isa) ? "-Og" : "-O1");
    for (const emit::CompilerFlag& flag : emit::compiler_flags()) {
        const std::string text(flag.text);
        if (flag.what == For::speed && optimized == Optimized::little) continue;
        if (flag.what == For::gnu && !takes_flag(find_compiler_for(isa), text)) continue;
        flags.push_back(text);
    }
    for (const std::string& flag : emit::machine_flags(isa)) flags.push_back(flag);
    if (const char* more = std::getenv("FOVEA_CXXFLAGS"))
        for (const std::string& flag : words(more)) flags.push_back(flag);
    return flags;
}

std::vector<std::string> because_messages(const std::string& output) {
    std::vector<std::string> messages;
    for (std::size_t at = 0; (at = output.find("because", at)) != std::string::npos;) {
        std::size_t open = output.find('{', at);
        at += 7;
        if (open == std::string::npos || output.find('\n', at) < open) continue;
        std::string text = literals(output.substr(open, closing_brace(output, open) - open + 1));
        bool known = text.empty();
        for (const std::string& message : messages) known = known || message == text;
        if (!known) messages.push_back(text);
    }
    return messages;
}

std::vector<std::string> pattern_messages(const std::string& output) {
    static const std::regex expansion(
        R"(([^\n]*):(\d+):\d+:\s+in 'constexpr' expansion of '[^\n]*Pattern\(.*("[^\n]*")\)*')");
    static const std::regex mistake(
        R"(call to non-'constexpr' function '.*fovea::(pattern_\w+)\(\)')");
    std::vector<std::string> messages;
    std::istringstream stream(output);
    std::smatch place, found;
    for (std::string line, last; std::getline(stream, line); last = line) {
        if (!std::regex_search(line, found, mistake) || !std::regex_search(last, place, expansion))
            continue;
        std::string says = found[1];
        std::replace(says.begin(), says.end(), '_', ' ');
        messages.push_back(fmt::format("{}:{}: {}: {}",
                                       std::filesystem::path(place[1].str()).filename().string(),
                                       place[2].str(), says, place[3].str()));
    }
    return messages;
}

std::string first_error(const std::string& output, const std::string& file) {
    // g++ says before an error what asks for the template, clang after it.
    std::string asks, error;
    std::istringstream stream(output);
    for (std::string line; std::getline(stream, line);) {
        const bool is_error = line.find("error:") != std::string::npos;
        if (is_error && !error.empty()) break;
        if (is_error) error = line;
        const std::size_t end =
            std::min(line.find(":   required from"), line.find(": note: in instantiation of"));
        if (asks.empty() && end != std::string::npos && !file.empty() &&
            line.starts_with(file + ":"))
            asks = line.substr(0, end) + ": ";
        if (!error.empty() && (!asks.empty() || error.starts_with(file + ":"))) break;
    }
    if (error.empty()) return output.substr(0, output.find('\n'));
    if (asks.empty() || error.starts_with(file + ":")) return error;
    return asks + error.substr(error.find("error:"));
}

std::size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

void check_room(const std::string& output) {
    std::istringstream stream(output);
    for (std::string line; std::getline(stream, line);) {
        const auto says = [&](const char* text) { return line.find(text) != std::string::npos; };
        if (says("No space left on device") || says("File too large") ||
            says("File size limit exceeded") || says("Disk quota exceeded") ||
            says("Read-only file system"))
            throw UserError(
                fmt::format("the C++ compiler cannot write its files: {}; TMPDIR is "
                            "the folder for temporary ones, now '{}'",
                            line, temporary_base().string()));
        if (says("Cannot allocate memory") || says("out of memory") || says("Killed"))
            throw UserError(fmt::format("the C++ compiler has too little memory: {}", line));
    }
}

void compile_generated(const std::vector<std::string>& command) {
    ProcessResult result = run_process(command);
    if (result.status == 0) return;
    check_room(result.output);
    throw InternalError(fmt::format("{} could not compile generated code: {}", command[0],
                                    first_error(result.output)));
}

void compile_generated(const std::vector<std::vector<std::string>>& commands) {
    std::atomic<std::size_t> next = 0, done = 0;
    const auto show = [&] {
        Progress::show(fmt::format("compiling generated code: {} of {} files are done", done.load(),
                                   commands.size()));
    };
    const auto work = [&] {
        for (std::size_t i; (i = next++) < commands.size(); ++done) {
            show();
            compile_generated(commands[i]);
        }
    };
    std::vector<std::future<void>> workers;
    while (workers.size() < std::min(processors(), commands.size()))
        workers.push_back(std::async(std::launch::async, work));
    for (std::future<void>& worker : workers) worker.wait();
    Progress::clear();
    for (std::future<void>& worker : workers) worker.get();
}

}  // namespace fovea::tool
