// Sources and compiler, tried out.
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "codegen/base/error.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/doctor/findings.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

using State = Finding::State;

constexpr const char* kProgram = R"(#include <omp.h>
#include <concepts>
#include <span>
template <std::integral T> constexpr T twice(T value) { return 2 * value; }
static_assert(twice(4) == 8);
int main() {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += omp_get_num_threads() > 0;
    return threads > 0 && std::span(&threads, 1).size() == 1 ? 0 : 1;
}
)";

constexpr const char* kModel = R"(#include <fovea.h>
using namespace fovea;
constexpr void tried(Scope s) { s.output("y", relu(s.input("x", {"rows", 8}))); }
)";

/// What `look` finds of something that is needed; of a user's mistake, what is wrong.
Finding needed(const std::string& what, const std::string& advice,
               const std::function<std::string()>& look) {
    try {
        return {what, State::ok, look(), {}};
    } catch (const std::exception& error) {
        return {what, State::missing, error.what(), advice};
    }
}

std::string sources_found() {
    const Home home = find_home();
    if (!std::filesystem::exists(home.runtime_archive))
        throw UserError(fmt::format("{}, but there is no '{}', which programs link",
                                    home.sources.string(), home.runtime_archive.string()));
    return home.sources.string();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The compiler, once it has compiled and linked a program with C++20 and OpenMP, which ran.
std::string compiler_found() {
    const std::vector<std::string> compiler = find_compiler();
    std::vector<std::string> command = compiler;
    command.emplace_back("--version");
    const std::string version = first_line(run_process(command).output);
    const TemporaryFolder folder;
    const std::string source = folder.path() / "tried.cpp", program = folder.path() / "tried";
    write_temporary(source, kProgram);
    command.back() = "-std=c++20";
    command.insert(command.end(), {"-fopenmp", "-o", program, source});
    const ProcessResult compiled = run_process(command);
    const std::string named =
        fmt::format("{} ({})", find_program(compiler[0]), version.empty() ? "no version" : version);
    if (compiled.status != 0)
        throw UserError(fmt::format("{} cannot compile C++20 with OpenMP: {}", named,
                                    compiled.output.empty()
                                        ? fmt::format("exit status {}", compiled.status)
                                        : first_error(compiled.output)));
    if (const ProcessResult ran = run_process({program}); ran.status != 0)
        throw UserError(fmt::format("a program of {} does not run: exit status {} {}", named,
                                    ran.status, first_line(ran.output)));
    return named + " compiles C++20 with OpenMP";
}

std::string compiler_advice() {
    const char* gnu = "install g++ 12 or newer (apt install g++), and unset CXX";
    try {
        if (is_clang(find_compiler()))
            return "install OpenMP for clang (apt install clang-19 libomp-19-dev), or g++ (apt "
                   "install g++)";
    } catch (const UserError&) {
        return gnu;
    }
    return gnu;
}

std::string model_found() {
    const TemporaryFolder folder;
    const std::string file = folder.path() / "tried.cpp";
    write_temporary(file, kModel);
    const auto start = std::chrono::steady_clock::now();
    compile_entry(file, "tried");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return fmt::format("a model file compiles, in {:.1f} s", took.count());
}

/// Whether `verify` and the like may load what the compiler makes.
Finding loading() {
    const char* what = "loaded code";
    try {
        check_kind_of_compiler();
        return {what, State::ok, "verify, run, compare and bench take this compiler's code", {}};
    } catch (const UserError& error) {
        return {what, State::absent, error.what(), "unset CXX for verify, run, compare and bench"};
    }
}

}  // namespace

void find_main_tools(std::vector<Finding>& findings) {
    findings.push_back(needed("sources",
                              "unset FOVEA_HOME, or set it to the sources of fovea; else build or "
                              "install fovea again",
                              sources_found));
    const bool has_sources = findings.back().state == State::ok;
    findings.push_back(needed("compiler", compiler_advice(), compiler_found));
    if (findings.back().state != State::ok) return;
    findings.push_back(loading());
    if (has_sources)
        findings.push_back(
            needed("models", "build fovea again, by a compiler that is still here", model_found));
}

}  // namespace fovea::tool
