// Two tensors hold the same where one kernel makes them of the same parameter.
#include "codegen/plan/share_prepared.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/plan/look_up_rows.h"

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

/// Those of sizes that only a file of weights has count as the largest.
std::int64_t bytes_of(const Tensor& tensor) {
    std::int64_t bytes = size_of(tensor.dtype);
    for (const Dim& dim : tensor.shape) {
        if (!dim.is_static()) return INT64_MAX;
        bytes *= dim.value();
    }
    return bytes;
}

bool is_large(const Model& model, const Tensor& tensor) {
    return bytes_of(tensor) >= model.target.cpu.sharing.least_bytes;
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
        if (!is_large(model_, program.tensors[std::size_t(written)])) return -1;
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

    int number_of(const Step& step) {
        // Parameters are the first tensors.
        const Made made{step.kernel, std::ranges::min(step.arguments)};
        return numbers_.emplace(made, int(numbers_.size())).first->second;
    }

    const Model& model_;
    Symbols symbols_;
    std::map<Made, int> numbers_;
};

/// Whether a step makes a shared tensor of a parameter.
bool makes_shared(const Model& model, const Program& program, const Step& step) {
    return std::ranges::any_of(step.arguments, [&](int argument) {
        return program.tensors[std::size_t(argument)].shared >= 0 && writes(model, step, argument);
    });
}

/// Has the largest shared tensor made first: the floats that it is made of, which may be there
/// meanwhile alone, then are gone before the others come.
void make_largest_first(const Model& model, Program& program) {
    const auto bytes = [&](const Step& step) {
        std::int64_t most = -1;
        if (makes_shared(model, program, step))
            for (const int argument : step.arguments)
                most = std::max(most, bytes_of(program.tensors[std::size_t(argument)]));
        return most;
    };
    auto& steps = program.prepare;
    const auto is_later = [&](const Step& step) { return step.phase != steps[0].phase; };
    const auto end = std::ranges::find_if(steps, is_later);
    const auto largest = std::ranges::max_element(steps.begin(), end, {}, bytes);
    if (largest != end) std::rotate(steps.begin(), largest, largest + 1);
}

/// How programs read parameters.
class Reading {
  public:
    explicit Reading(const Model& model) : model_(model), readers_(model.parameters.size()) {}

    void add(int number) {
        const Program& program = model_.programs[std::size_t(number)];
        for (const Step& step : program.prepare)
            add(number, step, makes_shared(model_, program, step));
        for (const Step& step : program.steps) add(number, step, false);
    }

    void mark(Model& model) const {
        for (std::size_t i = 0; i < readers_.size(); ++i) mark(model, i);
    }

  private:
    struct Reader {
        int program = 0;
        std::size_t kernel = 0, buffer = 0;
        bool makes_shared = false;
    };

    void add(int program, const Step& step, bool makes_shared) {
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (const auto tensor = std::size_t(step.arguments[i]); tensor < readers_.size())
                readers_[tensor].push_back({program, std::size_t(step.kernel), i, makes_shared});
    }

    void mark(Model& model, std::size_t number) const {
        Tensor& parameter = model.parameters[number];
        const auto looks_up = [&](const Reader& reader) {
            return !reader.makes_shared && is_large(model, parameter) &&
                   can_look_up(model.kernels[reader.kernel], reader.buffer);
        };
        std::set<int> whole;  // programs that read all of it
        for (const Reader& reader : readers_[number])
            if (!reader.makes_shared && !looks_up(reader)) whole.insert(reader.program);
        parameter.copied =
            whole.empty() || std::ranges::any_of(readers_[number], [&](const Reader& reader) {
                return !whole.contains(reader.program);
            });
        if (!parameter.copied) return;
        for (const int program : whole)
            model.programs[std::size_t(program)].whole.push_back(int(number));
        for (const Reader& reader : readers_[number]) {
            if (!looks_up(reader)) continue;
            parameter.looked_up = true;
            model.kernels[reader.kernel].buffers[reader.buffer].looked_up = true;
        }
    }

    const Model& model_;
    std::vector<std::vector<Reader>> readers_;  // of each parameter
};

}  // namespace

void share_prepared(Model& model) {
    Sharing sharing(model);
    Reading reading(model);
    for (std::size_t i = 0; i < model.programs.size(); ++i) {
        Program& program = model.programs[i];
        if (!shares(program)) continue;
        sharing.number(program);
        make_largest_first(model, program);
        reading.add(int(i));
    }
    reading.mark(model);
}

bool has_shared(const Model& model) {
    return std::ranges::any_of(model.programs, [](const Program& program) {
        return std::ranges::any_of(program.tensors,
                                   [](const Tensor& tensor) { return tensor.shared >= 0; });
    });
}

bool leaves_in_file(const Model& model) { return has_shared(model) || looks_up_rows(model); }

}  // namespace fovea::plan
