// A model's kernels in several sources, so that a compiler runs on each core.
#include <algorithm>
#include <numeric>

#include "codegen/emit/cpp/model_text.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/emitter.h"

namespace fovea::emit {

namespace {

/// `void name(…);` of a kernel's text, in which steps of a scan may stand before it.
std::string declaration(const std::string& name, const std::string& text) {
    const std::size_t start = text.rfind("void " + name + "(");
    const std::size_t line = start == 0 ? 0 : text.rfind('\n', start) + 1;
    return text.substr(line, text.find(") {", start) - line) + ");\n";
}

/// What a kernel costs the compiler, in the unit of its text's length, as measured: loops over
/// tiles become several times as many instructions as other text of that length, the more the
/// longer they are, and the call of a contraction all that is behind it.
std::size_t cost(const kernel::Kernel& kernel, const std::string& text,
                 const target::CpuCompilation& target) {
    if (kernel.form == kernel::Form::tiles)
        return text.size() * text.size() / std::size_t(target.tiles);
    return text.size() + (mentions(text, "contract") ? std::size_t(target.contraction) : 0);
}

}  // namespace

std::vector<File> cpp_source_parts(const plan::Model& given, std::size_t count) {
    const plan::Model model = with_distinct_names(given);
    const target::CpuCompilation& compilation = model.target.cpu.compilation;
    std::vector<std::string> texts;
    std::vector<std::size_t> costs;
    for (const kernel::Kernel& kernel : model.kernels) {
        texts.push_back(cpp_kernel(kernel, model.target) + "\n");
        costs.push_back(cost(kernel, texts.back(), compilation));
    }
    const std::string programs = programs_text(model);
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    count = std::clamp<std::size_t>(count, 1, std::max<std::size_t>(1, texts.size()));
    // The longest first, each to the part that has least so far; programs are in the first.
    std::vector<std::size_t> load(count, 0), part(texts.size());
    load[0] = programs.size() / std::size_t(compilation.programs);
    for (std::size_t kernel : order) {
        const auto least = std::min_element(load.begin(), load.end());
        part[kernel] = std::size_t(least - load.begin());
        *least += costs[kernel];
    }
    std::vector<File> files;
    for (std::size_t i = 0; i < count; ++i) {
        std::string kernels, declarations;
        for (std::size_t kernel = 0; kernel < texts.size(); ++kernel)
            if (part[kernel] == i) kernels += texts[kernel];
            else if (i == 0) declarations += declaration(model.kernels[kernel].name, texts[kernel]);
        const std::string name = model_identifier(model);
        files.push_back({name + "_part" + std::to_string(i + 1) + ".cpp",
                         kernel_headers(model, kernels) + open_namespace(model) + declarations +
                             kernels + (i ? close_namespace(model) : programs)});
    }
    return files;
}

}  // namespace fovea::emit
