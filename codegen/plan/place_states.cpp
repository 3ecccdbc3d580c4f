#include "codegen/plan/place_states.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "codegen/base/error.h"
#include "codegen/kernel/analysis/in_place.h"
#include "codegen/kernel/builder.h"

namespace fovea::plan {

namespace {

bool has_tensor(const Step& step, int tensor) {
    return std::find(step.arguments.begin(), step.arguments.end(), tensor) != step.arguments.end();
}

/// `y = x`, element by element.
kernel::Kernel copy_of(const Tensor& tensor) {
    kernel::Builder b("keep_state", "y = x");
    std::vector<kernel::AxisId> axes;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        axes.push_back(b.axis("i" + std::to_string(i), tensor.shape[i]));
    const int x = b.input("x", tensor.shape, tensor.dtype);
    const int y = b.output("y", tensor.shape, tensor.dtype);
    std::vector<kernel::AxisId> rows = axes;
    if (!rows.empty()) rows.pop_back();
    b.each(rows, [&] { b.store(b.at(y, axes), b.load(b.at(x, axes))); });
    return b.finish();
}

class Placement {
  public:
    Placement(Program& program, KernelPool& kernels) : program_(program), kernels_(kernels) {}

    void run() {
        const int count = int(program_.tensors.size());
        bool any = false;
        for (int tensor = 0; tensor < count; ++tensor)
            any = any || is_new(program_.tensors[std::size_t(tensor)]);
        if (!any) return;
        add_dependences();
        for (int tensor = 0; tensor < count; ++tensor)
            if (is_new(program_.tensors[std::size_t(tensor)])) place(tensor);
        order();
    }

  private:
    static bool is_new(const Tensor& tensor) { return tensor.state && tensor.role == Role::output; }
    const kernel::Kernel& kernel_of(const Step& step) const {
        return kernels_.kernels()[std::size_t(step.kernel)];
    }
    bool touches(const Step& step, int tensor, bool writes) const {
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (step.arguments[i] == tensor && kernel_of(step).buffers[i].written == writes)
                return true;
        return false;
    }
    std::vector<int> steps_with(int tensor, bool writes) const {
        std::vector<int> found;
        for (int i = 0; i < int(program_.steps.size()); ++i)
            if (touches(program_.steps[std::size_t(i)], tensor, writes)) found.push_back(i);
        return found;
    }
    int old_of(const Tensor& state) const {
        for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
            const Tensor& other = program_.tensors[i];
            const bool is_old = other.role == Role::parameter || other.role == Role::input;
            if (is_old && other.name == state.name) return int(i);
        }
        throw InternalError("plan: no state is named " + state.name);
    }

    /// Steps that touch a tensor that one of them writes stay in their order.
    void add_dependences() {
        next_.resize(program_.steps.size());
        for (int tensor = 0; tensor < int(program_.tensors.size()); ++tensor) {
            int written = -1;
            std::vector<int> read;  // since then
            for (int i = 0; i < int(program_.steps.size()); ++i) {
                const Step& step = program_.steps[std::size_t(i)];
                if (!has_tensor(step, tensor)) continue;
                if (written >= 0) add(written, i);
                if (!touches(step, tensor, true)) {
                    read.push_back(i);
                    continue;
                }
                for (int reader : read) add(reader, i);
                read.clear();
                written = i;
            }
        }
    }
    void add(int before, int after) { next_[std::size_t(before)].push_back(after); }
    bool reaches(int from, int to) const {
        std::vector<bool> seen(next_.size(), false);
        std::vector<int> waiting{from};
        while (!waiting.empty()) {
            const int at = waiting.back();
            waiting.pop_back();
            if (at == to) return true;
            if (seen[std::size_t(at)]) continue;
            seen[std::size_t(at)] = true;
            for (int after : next_[std::size_t(at)]) waiting.push_back(after);
        }
        return false;
    }

    void place(int state) {
        const int old = old_of(program_.tensors[std::size_t(state)]);
        if (!can_lie_over(state, old)) copy_at_the_end(state);
        program_.tensors[std::size_t(state)].over = old;
        const std::vector<int> writers = steps_with(state, true);
        for (int reader : steps_with(old, false))
            for (int writer : writers)
                if (reader != writer) add(reader, writer);
    }
    bool can_lie_over(int state, int old) const {
        const std::vector<int> writers = steps_with(state, true);
        for (int reader : steps_with(old, false))
            for (int writer : writers) {
                if (reader == writer && !(writers.size() == 1 && is_in_place(writer, old, state)))
                    return false;
                if (reader != writer && reaches(writer, reader)) return false;
            }
        return true;
    }
    bool is_in_place(int number, int old, int state) const {
        const Step& step = program_.steps[std::size_t(number)];
        const auto at = [&](int tensor) {
            return int(std::find(step.arguments.begin(), step.arguments.end(), tensor) -
                       step.arguments.begin());
        };
        return kernel_of(step).form == kernel::Form::rows &&
               kernel::may_lie_over(kernel_of(step), at(state), at(old));
    }
    void copy_at_the_end(int state) {
        const int buffer = int(program_.tensors.size());
        Tensor tensor = program_.tensors[std::size_t(state)];
        tensor.role = Role::buffer;
        tensor.state = false;
        tensor.name += "_next";
        const int copy = int(program_.steps.size());
        next_.emplace_back();
        for (int i = 0; i < copy; ++i) {
            std::vector<int>& arguments = program_.steps[std::size_t(i)].arguments;
            if (has_tensor(program_.steps[std::size_t(i)], state)) add(i, copy);
            std::replace(arguments.begin(), arguments.end(), state, buffer);
        }
        Step step;
        step.kernel = kernels_.number_of(copy_of(tensor));
        step.name = "keep_" + program_.tensors[std::size_t(state)].name;
        step.arguments = {buffer, state};
        program_.tensors.push_back(std::move(tensor));
        program_.steps.push_back(std::move(step));
    }

    /// Steps as they were, but behind those that they wait for.
    void order() {
        std::vector<int> waits(next_.size(), 0);
        for (const std::vector<int>& after : next_)
            for (int step : after) ++waits[std::size_t(step)];
        std::priority_queue<int, std::vector<int>, std::greater<>> ready;
        for (int i = 0; i < int(waits.size()); ++i)
            if (!waits[std::size_t(i)]) ready.push(i);
        std::vector<Step> ordered;
        while (!ready.empty()) {
            const int i = ready.top();
            ready.pop();
            ordered.push_back(std::move(program_.steps[std::size_t(i)]));
            for (int after : next_[std::size_t(i)])
                if (!--waits[std::size_t(after)]) ready.push(after);
        }
        if (ordered.size() != next_.size())
            throw InternalError("plan: steps that keep states wait for each other");
        program_.steps = std::move(ordered);
    }

    Program& program_;
    KernelPool& kernels_;
    std::vector<std::vector<int>> next_;  // for each step, those that wait for it
};

}  // namespace

void place_states(Program& program, KernelPool& kernels) { Placement(program, kernels).run(); }

}  // namespace fovea::plan
