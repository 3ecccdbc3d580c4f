// A built decoder whose weights are large enough to stand in memory once for prefill and step.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/registry.h"
#include "runtime/memory/halves.h"
#include "runtime/safetensors.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/small_program.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/process.h"

using namespace fovea;

namespace {

/// Rows of 128 numbers: a matrix has 64 KiB and more.
ModelEntry wide_llama() {
    ModelEntry entry = *models::find_model("llama");
    for (auto& [name, value] : entry.small_settings) {
        if (name == "hidden_size") value = "128";
        if (name == "intermediate_size") value = "256";
        if (name == "vocab_size") value = "300";
    }
    return entry;
}

/// Writes the weights of a file again, rounded to bfloat16: as such, or as float32.
void write_rounded(const std::string& from, const std::string& to, bool halves) {
    const runtime::SafetensorsFile file = runtime::read_safetensors(from);
    std::map<std::string, std::vector<std::uint16_t>> bits;
    std::map<std::string, std::vector<float>> floats;
    std::vector<runtime::TensorView> tensors = file.tensors();
    for (runtime::TensorView& tensor : tensors) {
        const auto* const values = reinterpret_cast<const float*>(tensor.bytes.data());
        for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
            const auto half = runtime::half_of_float(runtime::DType::bf16, values[i]);
            bits[tensor.name].push_back(half);
            floats[tensor.name].push_back(runtime::float_of_half(runtime::DType::bf16, half));
        }
        tensor.dtype = halves ? "BF16" : "F32";
        tensor.bytes = halves ? std::as_bytes(std::span(bits[tensor.name]))
                              : std::as_bytes(std::span(floats[tensor.name]));
    }
    runtime::write_safetensors(to, tensors);
}

}  // namespace

TEST_CASE("large weights give the same text from files of float32, of bfloat16 and from a pipe") {
    const ModelEntry entry = wide_llama();
    const tool::TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    test::RandomWeights(entry.build(entry.small_settings)).write(path("weights"));
    write_rounded(path("weights"), path("floats"), false);
    write_rounded(path("weights"), path("halves"), true);
    test::build_small_program(entry, path("program"));
    CHECK(test::read_text(path("program")).find("shared 0 f32") != std::string::npos);
    const auto said = [&](const std::string& command) {
        const tool::ProcessResult result =
            tool::run_process({"sh", "-c", "'" + path("program") + "' " + command});
        REQUIRE_MESSAGE(result.status == 0, result.output);
        return result.output;
    };
    for (const std::string options :
         {"generate --ids 3,17,5 --ids 8 --max-tokens 12", "generate --beams 3 --ids 3,17,5",
          "score --ids 3,17,5,8,9,20"}) {
        CAPTURE(options);
        const std::string text = said(options + " --weights '" + path("floats") + "'");
        CHECK(said(options + " --weights '" + path("halves") + "'") == text);
        CHECK(said(options + " --weights /dev/stdin <'" + path("floats") + "'") == text);
        CHECK(said(options + " --threads 1 --weights '" + path("halves") + "'") == text);
    }
    const std::string alone =
        said("generate --ids 3,17,5 --max-tokens 12 --weights '" + path("floats") + "'") +
        said("generate --ids 8 --max-tokens 12 --weights '" + path("floats") + "'");
    CHECK(said("generate --ids 3,17,5 --ids 8 --max-tokens 12 --weights '" + path("halves") +
               "'") == alone);
}
