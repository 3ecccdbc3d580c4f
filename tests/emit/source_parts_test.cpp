// Kernels in several sources: each is defined in one, and declared where programs call it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "codegen/emit/cpp/model_text.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/emitter.h"
#include "models/registry.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

namespace {

using namespace fovea;

bool file_has(const emit::File& file, const std::string& text) {
    return file.text.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("each kernel is defined in one source and declared where programs call it") {
    const ModelEntry* entry = models::find_model("seq2seq_attention");  // scans among its kernels
    const tool::LoadedModel loaded = tool::load_model(entry->name, entry->small_settings);
    const CompiledModel compiled = tool::compile(loaded, tool::runner_programs(loaded, {}));
    const plan::Model model = emit::with_distinct_names(compiled.plan);
    for (std::size_t count : {1, 2, 5}) {
        const std::vector<emit::File> parts = emit::cpp_source_parts(compiled.plan, count);
        REQUIRE(parts.size() == count);
        for (const kernel::Kernel& kernel : model.kernels) {
            CAPTURE(kernel.name);
            int defined = 0;
            for (const emit::File& part : parts)
                defined += file_has(part, emit::cpp_kernel(kernel, {}));
            CHECK(defined == 1);
            CHECK(file_has(parts[0], "void " + kernel.name + "("));
        }
    }
}
