// One LLVM module for all kernels of a model.
#include "codegen/emit/nvptx/emit_ptx.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/form.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/nvptx/contraction.h"
#include "codegen/emit/nvptx/module.h"
#include "codegen/emit/nvptx/skeletons.h"
#include "codegen/emit/nvptx/tile_kernel.h"

namespace fovea::emit {

using kernel::Kernel;

namespace {

/// Whether all that kernel `number` of a scan is given starts at multiples of 16 bytes: of 8
/// elements, which are the smallest of 2 bytes.
bool is_given_aligned(const kernel::Steps& steps, std::size_t number) {
    const Dim eight(8);
    for (const kernel::StepCall& call : steps.calls) {
        if (std::size_t(call.kernel) != number) continue;
        for (const kernel::StepArgument& argument : call.arguments)
            if (!argument.offset.divisible_by(eight) || !argument.step.divisible_by(eight) ||
                !argument.row.divisible_by(eight))
                return false;
    }
    return true;
}

/// PTX is ASCII: what formulas hold beyond is spelled out, the rest of it '?'.
std::string ascii(const std::string& text) {
    static const std::pair<std::string, std::string> spellings[] = {{"Σ", "sum"}, {"·", "*"}};
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto found = std::find_if(
            std::begin(spellings), std::end(spellings),
            [&](const auto& one) { return text.compare(at, one.first.size(), one.first) == 0; });
        if (found != std::end(spellings)) {
            result += found->second;
            at += found->first.size();
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[at++]);
        if (byte < 0x80) result += char(byte);
        else if (byte >= 0xc0) result += '?';  // the first byte of a character
    }
    return result;
}

class Emission {
  public:
    explicit Emission(const std::string& architecture)
        : builder_("kernels", nvptx::Target{architecture}) {}

    /// `aligned`: its buffers start at multiples of 16 bytes.
    PtxKernel add(Kernel kernel, bool aligned = true) {
        kernel.name = entry_of(kernel.name);
        PtxKernel result;
        if (kernel.steps) {
            result.name = kernel.name;
            for (std::size_t i = 0; i < kernel.steps->kernels.size(); ++i) {
                Kernel step = kernel.steps->kernels[i];
                step.name = kernel.name + "_" + step.name;
                const bool is_aligned = aligned && is_given_aligned(*kernel.steps, i);
                result.steps.push_back(add(std::move(step), is_aligned));
            }
            return result;
        }
        if (auto reason = why_not_ptx(kernel))
            throw UserError("kernel " + kernel.name + " has no form in PTX: " + *reason);
        result = write(kernel, aligned);
        for (const PtxLaunch& launch : result.launches) {
            entries_[launch.entry] = {launch.entry, comment(kernel), parameters(kernel, launch)};
            if (!aligned) forget_alignment(*builder_.module().getFunction(launch.entry));
        }
        return result;
    }

    /// The text, with a comment above each entry, what it computes and the user's lines, and with
    /// its parameters called after what they are.
    std::string finish() {
        const std::string text = builder_.finish(), entry = ".visible .entry ";
        std::size_t at = text.find(entry);
        std::string result = text.substr(0, at);
        while (at != text.npos) {
            const std::size_t name = at + entry.size(), next = text.find(entry, name);
            const Entry& own = entries_.at(text.substr(name, text.find('(', name) - name));
            result += own.comment + name_parameters(text.substr(at, next - at), own);
            at = next;
        }
        return result;
    }

  private:
    struct Entry {
        std::string name, comment;
        std::vector<std::string> parameters;
    };

    /// A buffer, a size and `draw` may be called alike.
    static std::vector<std::string> parameters(const Kernel& kernel, const PtxLaunch& launch) {
        std::vector<std::string> result;
        std::set<std::string> taken;
        const auto add = [&](const std::string& name) {
            std::string unused = name;
            for (int i = 2; !taken.insert(unused).second; ++i)
                unused = name + "_" + std::to_string(i);
            result.push_back(unused);
        };
        for (const kernel::Buffer& buffer : kernel.buffers) add(identifier(buffer.name));
        for (const std::string& symbol : symbols_of(kernel)) add(symbol);
        if (draws(kernel)) add("draw");
        for (const TensorMap& map : launch.maps)
            add("map_" + identifier(kernel.buffers[std::size_t(map.buffer)].name));
        return result;
    }

    /// `softmax_param_x` for LLVM's `softmax_param_0`.
    static std::string name_parameters(const std::string& text, const Entry& entry) {
        const std::string prefix = entry.name + "_param_";
        std::string result;
        std::size_t done = 0;
        for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, done)) {
            std::size_t end = at + prefix.size(), number = 0;
            result += text.substr(done, end - done);
            for (; std::isdigit(static_cast<unsigned char>(text[end])); ++end)
                number = number * 10 + std::size_t(text[end] - '0');
            result += entry.parameters.at(number);
            done = end;
        }
        return result + text.substr(done);
    }

    PtxKernel write(const Kernel& kernel, bool aligned) {
        if (loops_over_tiles(kernel))
            return nvptx::write_tile_kernel(builder_.module(), kernel, kernel.name);
        switch (find_form(kernel).kind) {
            case FormKind::contraction:
                return nvptx::write_contraction(
                    builder_.module(), kernel, kernel.name,
                    {.aligned = aligned, .wgmma = builder_.target().has_wgmma()});
            case FormKind::scatter: return nvptx::write_scatter(builder_.module(), kernel);
            case FormKind::rows: break;
        }
        if (auto transpose = nvptx::write_transpose(builder_.module(), kernel)) return *transpose;
        return nvptx::write_rows(builder_.module(), kernel, builder_.target());
    }

    /// Neighbouring elements must not be read as one where buffers start anywhere.
    static void forget_alignment(llvm::Function& entry) {
        for (llvm::Argument& argument : entry.args())
            argument.removeAttr(llvm::Attribute::Alignment);
    }

    /// A name that no entry has yet.
    std::string entry_of(const std::string& name) {
        std::string result = identifier(name);
        if (result[0] == '_') result = "kernel" + result;
        const std::string wanted = result;
        for (int i = 2; !names_.insert(result).second; ++i)
            result = wanted + "_" + std::to_string(i);
        return result;
    }

    static std::string comment(const Kernel& kernel) {
        std::string result;
        if (!kernel.formula.empty()) result += "// " + kernel.formula + "\n";
        std::string lines;
        for (const std::string& source : kernel.sources)
            lines += (lines.empty() ? "" : ", ") + source;
        if (!lines.empty()) result += "// " + lines + "\n";
        for (const kernel::Buffer& buffer : kernel.buffers)
            result += "// " + buffer.name + (buffer.written ? ", written: " : ": ") +
                      std::string(name_of(buffer.dtype)) + shape_text(buffer.shape) + "\n";
        return ascii(result);
    }

    nvptx::ModuleBuilder builder_;
    std::set<std::string> names_;
    std::map<std::string, Entry> entries_;
};

}  // namespace

const std::vector<std::string>& ptx_architectures() {
    static const std::vector<std::string> all = {"sm_80", "sm_90", "sm_90a"};
    return all;
}

std::optional<std::string> why_not_ptx() { return std::nullopt; }

std::optional<std::string> why_not_ptx(const Kernel& kernel) {
    if (kernel.steps) {
        for (const Kernel& step : kernel.steps->kernels)
            if (auto reason = why_not_ptx(step)) return step.name + ": " + *reason;
        return std::nullopt;
    }
    if (loops_over_tiles(kernel)) return nvptx::why_not_tile_kernel(kernel);
    const Form form = find_form(kernel);
    if (form.kind == FormKind::contraction) return nvptx::why_not_contraction(kernel);
    if (form.kind == FormKind::scatter) return nvptx::why_not_scatter(kernel);
    return nvptx::why_not_rows(kernel);
}

PtxModule emit_ptx(const std::vector<Kernel>& kernels, const std::string& architecture) {
    const auto& all = ptx_architectures();
    if (std::find(all.begin(), all.end(), architecture) == all.end()) {
        std::string known;
        for (const std::string& one : all) known += (known.empty() ? "" : ", ") + one;
        throw UserError("PTX is not written for " + architecture + "; use one of " + known);
    }
    Emission emission(architecture);
    PtxModule result;
    result.architecture = architecture;
    for (const Kernel& kernel : kernels) result.kernels.push_back(emission.add(kernel));
    result.text = emission.finish();
    return result;
}

}  // namespace fovea::emit
