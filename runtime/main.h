// The main functions of built programs, in plain types, for a compiler to read at once.
#pragma once

/// The compiler of the file that includes this, with its version.
#if defined(__clang__)
#define FOVEA_COMPILER_NAME "clang++ " __clang_version__
#else
#define FOVEA_COMPILER_NAME "g++ " __VERSION__
#endif

namespace fovea::runtime {

struct Model;
using ModelFunction = const Model& (*)();

/// What `int main` of a program returns: the work of runner_main (also with the commands of
/// language models, of encoders of texts, or of classifiers of images) or translator_main on the
/// model, whose own mistakes are reported as theirs. `name` is the program's where `argv` has none.
/// The last two are what `--version` says.
int runner_program(int argc, char** argv, const char* name, ModelFunction model,
                   const char* written_by = "fovea", const char* compiled_by = FOVEA_COMPILER_NAME);
int language_program(int argc, char** argv, const char* name, ModelFunction model,
                     const char* written_by = "fovea",
                     const char* compiled_by = FOVEA_COMPILER_NAME);
int encoder_program(int argc, char** argv, const char* name, ModelFunction model,
                    const char* written_by = "fovea",
                    const char* compiled_by = FOVEA_COMPILER_NAME);
int classifier_program(int argc, char** argv, const char* name, ModelFunction model,
                       const char* written_by = "fovea",
                       const char* compiled_by = FOVEA_COMPILER_NAME);
int translator_program(int argc, char** argv, const char* name, ModelFunction model,
                       const char* written_by = "fovea",
                       const char* compiled_by = FOVEA_COMPILER_NAME);

/// `model`, of weights of 8 or 4 bits, whose program makes such of floats: the command `quantize`.
const Model& with_quantize(const Model& model);

/// `model`, which can also run `on_cuda`.
const Model& with_cuda(const Model& model, Model (*on_cuda)(const Model&));

}  // namespace fovea::runtime
