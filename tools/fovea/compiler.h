// The C++ compiler that compiles users' model files and generated programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tool {

/// The one for this machine, whose code is loaded here: `$CXX`, unless it compiles for another,
/// else the first of g++, clang++-19, clang++, c++ that PATH has. UserError when there is none.
std::vector<std::string> find_compiler();

/// The one for machines that have `isa`: for those of another kind `$CXX`, where it compiles for
/// them, else such as aarch64-linux-gnu-g++ or em++. UserError when there is none.
std::vector<std::string> find_compiler_for(std::string_view isa);

/// The kind of machine that `$CXX` compiles for, as in runtime/isa.h; this one where it is not
/// set or does not say.
std::string_view compiled_for();

/// How far the compiler optimizes: as in programs that are shipped; or in a third of the time,
/// where values are compared and speed does not matter.
enum class Optimized { as_shipped, little };

/// Whether a command is clang's; it is run once.
bool is_clang(const std::vector<std::string>& compiler);

/// UserError where the compiler is clang and this command was built by another, or the reverse:
/// code that is loaded into the command must call the same OpenMP library, or threads count wrong.
void check_kind_of_compiler();

/// Whether programs for `isa` have OpenMP's threads; those of WebAssembly have one thread.
bool has_openmp(std::string_view isa);

/// Flags for generated code; `isa` is one of `isa_names`. Those of $FOVEA_CXXFLAGS come last.
std::vector<std::string> generated_code_flags(const std::string& isa,
                                              Optimized optimized = Optimized::as_shipped);

/// The messages in a compiler's output that say why a model is ill-formed; empty when the output is
/// about something else.
std::vector<std::string> because_messages(const std::string& compiler_output);

/// What is wrong with patterns of einsum and rearrange, each with its line in the model; empty when
/// the output is about something else. g++ calls it a function that is not constexpr, whose name
/// says it.
std::vector<std::string> pattern_messages(const std::string& compiler_output);

/// The first line of a compiler's output that is an error. One in a template of fovea's has the
/// place in `file` that asks for the template, where there is one.
std::string first_error(const std::string& compiler_output, const std::string& file = "");

/// How many compilers run at once.
std::size_t processors();

/// UserError when a compiler's output says that it had no room for its files, or no memory.
void check_room(const std::string& compiler_output);

/// Runs `command`; InternalError with its first error when it fails: generated code compiles.
/// UserError when there was no room for the compiler's files.
void compile_generated(const std::vector<std::string>& command);
/// The same for several, as many at once as there are processors.
void compile_generated(const std::vector<std::vector<std::string>>& commands);

}  // namespace fovea::tool
