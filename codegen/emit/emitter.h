// The interface that targets share: a planned model in, files out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/plan/plan.h"

namespace fovea::emit {

struct File {
    std::string name;  // relative to the output folder
    std::string text;
};

/// One target. Emitters hold no state: the same model gives the same files.
class Emitter {
  public:
    virtual ~Emitter() = default;
    /// `cpp`, `nvptx`.
    virtual std::string target() const = 0;
    /// All files of a model, `CMakeLists.txt` among them where the target has one.
    virtual std::vector<File> emit_model(const plan::Model& model) const = 0;
};

/// The kernels and programs of `<model>.cpp` in at most `count` sources, `<model>_part1.cpp` and so
/// on, to be compiled as that file is with FOVEA_KERNELS. They take a compiler about as long.
std::vector<File> cpp_source_parts(const plan::Model& model, std::size_t count);

/// How a kernel is written for a CPU, in words: `product, rows i, lanes j, tile 8 x 2 vectors`; of
/// a scan with a line for each kernel of its steps.
std::string cpp_choice(const kernel::Kernel& kernel, const target::Target& target);

/// Models run with the first of `isas` that the machine has: `amx_bf16`, `avx512_bf16`, `avx512`,
/// `avx2` and `baseline` of x86-64, `neon_bf16` and `neon` of aarch64, or `wasm`.
std::unique_ptr<Emitter> make_cpp_emitter(std::vector<std::string> isas = {"avx512", "avx2",
                                                                           "baseline"});

/// The sources of the runtime that loop over numbers or letters, as a regular expression: they are
/// optimized for speed, all others for size. runtime/CMakeLists.txt has the same.
inline constexpr std::string_view kFastRuntimeFiles =
    "added_tokens|byte_letters|byte_pairs_model|exponentials|gradients|likeliest_continuations|"
    "match_pattern|"
    "merge_pairs|optimizer|quantized_weight|random_stream|shards|split|stored_weights|team|"
    "token_weights|training_step|unigram|word_cache";

/// `fovea/runtime.cmake` beside a model of this target, which its CMakeLists.txt includes.
std::string runtime_cmake_text();

}  // namespace fovea::emit
