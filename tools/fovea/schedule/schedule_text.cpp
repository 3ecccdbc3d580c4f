// Choices are those of the emitters.
#include "tools/fovea/schedule/schedule_text.h"

#include <fmt/format.h>

#include "codegen/emit/emitter.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/print.h"
#include "codegen/target/schedule.h"

namespace fovea::tool {

namespace {

std::string commented(const std::string& lines) {
    std::string text = "# ";
    for (char c : lines) text += c == '\n' ? "\n# " : std::string(1, c);
    return text + "\n";
}

/// `grid batch * 8 x ceil(len / 64)`
std::string grid_text(const emit::PtxLaunch& launch) {
    std::string text;
    for (const emit::GridFactor& factor : launch.grid) {
        const std::string extent = kernel::text_of(factor.extent);
        text += text.empty() ? "" : " x ";
        text += factor.tile == 1 ? extent : fmt::format("ceil({} / {})", extent, factor.tile);
    }
    return text.empty() ? "1" : text;
}

std::string launches_text(const emit::PtxKernel& kernel) {
    std::string text;
    for (const emit::PtxLaunch& launch : kernel.launches) {
        text += fmt::format("{}: {} blocks of {} threads", launch.entry, grid_text(launch),
                            launch.threads);
        if (launch.shared_bytes > 0)
            text += fmt::format(", {} bytes of shared memory", launch.shared_bytes);
        if (!launch.form.empty()) text += "; " + launch.form;
        text += "\n";
    }
    for (const emit::PtxKernel& step : kernel.steps) text += launches_text(step);
    return text;
}

}  // namespace

std::string schedule_text(const plan::Model& model, const std::string& architecture) {
    std::string text = target::print(model.target), choices;
    if (model.target.is_gpu()) {
        const target::Gpu gpu = target::gpu_of(model.target, architecture);
        choices = architecture + "\n";
        for (const emit::PtxKernel& kernel : emit::emit_ptx(model.kernels, gpu).kernels)
            choices += launches_text(kernel);
        choices.pop_back();
    } else {
        for (const kernel::Kernel& kernel : model.kernels)
            choices += (choices.empty() ? "" : "\n") + kernel.name + ": " +
                       emit::cpp_choice(kernel, model.target);
    }
    return text + "\n" + commented(choices);
}

}  // namespace fovea::tool
