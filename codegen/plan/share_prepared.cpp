// Two tensors hold the same where one kernel makes them of the same parameter.
#include "codegen/plan/share_prepared.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fovea::plan {

namespace {

using Symbols = std::set<Symbol>;

Symbols symbols_of(const std::vector<Tensor>& parameters) {
    Symbols symbols;
    for (const Tensor& parameter : parameters)
        for (const Dim& dim : parameter.shape)
            dim.each_symbol([&](const Symbol& symbol) { symbols.insert(symbol); });
    return symbols;
}

/// Whether parameters stand between the runs of a program: it gives no gradients.
bool shares(const Program& program) {
    const bool has_output = std::ranges::any_of(
        program.tensors, [](const Tensor& tensor) { return tensor.role == Role::output; });
    return program.shards.count <= 1 && !(has_output && program.needs.empty());
}

/// Whether the kernel of a step writes a tensor.
bool writes(const Model& model, const Step& step, int tensor) {
    const auto& buffers = model.kernels[std::size_t(step.kernel)].buffers;
    for (std::size_t i = 0; i < step.arguments.size(); ++i)
        if (step.arguments[i] == tensor && buffers[i].written) return true;
    return false;
}

class Sharing {
  public:
    explicit Sharing(const Model& model) : model_(model), symbols_(symbols_of(model.parameters)) {}

    void number(Program& program) {
        for (const Step& step : program.prepare)
            if (const int written = only_written(program, step); written >= 0)
                program.tensors[std::size_t(written)].shared = number_of(step);
    }

  private:
    /// What a kernel makes of a parameter.
    using Made = std::pair<int, int>;

    /// The tensor that the step makes of one parameter alone, and no other step; else -1.
    int only_written(const Program& program, const Step& step) const {
        const kernel::Kernel& kernel = model_.kernels[std::size_t(step.kernel)];
        if (!is_fixed(kernel) || step.arguments.size() != 2) return -1;
        const bool writes_first = kernel.buffers[0].written;
        const int written = step.arguments[writes_first ? 0 : 1];
        const int read = step.arguments[writes_first ? 1 : 0];
        if (writes_first == kernel.buffers[1].written || read >= int(model_.parameters.size()))
            return -1;
        if (!is_large(program.tensors[std::size_t(written)])) return -1;
        const auto writers = std::ranges::count_if(
            program.prepare, [&](const Step& other) { return writes(model_, other, written); });
        return writers == 1 ? written : -1;
    }

    bool is_fixed(const kernel::Kernel& kernel) const {
        return std::ranges::all_of(kernel.axes, [&](const kernel::Axis& axis) {
            bool fixed = true;
            axis.extent.each_symbol(
                [&](const Symbol& symbol) { fixed &= symbols_.contains(symbol); });
            return fixed;
        });
    }

    /// Tensors of sizes that only a file of weights has count as large.
    bool is_large(const Tensor& tensor) const {
        std::int64_t bytes = size_of(tensor.dtype);
        for (const Dim& dim : tensor.shape) {
            if (!dim.is_static()) return true;
            bytes *= dim.value();
        }
        return bytes >= model_.target.cpu.sharing.least_bytes;
    }

    int number_of(const Step& step) {
        // Parameters are the first tensors.
        const Made made{step.kernel, std::ranges::min(step.arguments)};
        return numbers_.emplace(made, int(numbers_.size())).first->second;
    }

    const Model& model_;
    Symbols symbols_;
    std::map<Made, int> numbers_;
};

/// The parameters that a program reads by steps that make no shared tensors.
void mark_read(const Model& model, const Program& program, std::vector<bool>& read) {
    const auto makes_shared = [&](const Step& step) {
        return std::ranges::any_of(step.arguments, [&](int argument) {
            return program.tensors[std::size_t(argument)].shared >= 0 &&
                   writes(model, step, argument);
        });
    };
    const auto mark = [&](const Step& step) {
        for (const int argument : step.arguments)
            if (argument < int(read.size())) read[std::size_t(argument)] = true;
    };
    for (const Step& step : program.prepare)
        if (!makes_shared(step)) mark(step);
    for (const Step& step : program.steps) mark(step);
}

}  // namespace

void share_prepared(Model& model) {
    Sharing sharing(model);
    std::vector<bool> read(model.parameters.size(), false);
    for (Program& program : model.programs) {
        if (!shares(program)) continue;
        sharing.number(program);
        mark_read(model, program, read);
    }
    for (std::size_t i = 0; i < read.size(); ++i) model.parameters[i].copied = !read[i];
}

bool has_shared(const Model& model) {
    return std::ranges::any_of(model.programs, [](const Program& program) {
        return std::ranges::any_of(program.tensors,
                                   [](const Tensor& tensor) { return tensor.shared >= 0; });
    });
}

}  // namespace fovea::plan
