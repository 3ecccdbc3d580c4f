// A scan in float64: its kernels, one step after the other.
#include "codegen/kernel/evaluate.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::kernel {

namespace {

class StepsEvaluator {
  public:
    StepsEvaluator(const Kernel& kernel, const DimValues& dims,
                   std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout,
                   std::int64_t tile)
        : steps_(*kernel.steps), dims_(dims), buffers_(buffers), dropout_(dropout), tile_(tile) {}

    void run() {
        for (const StepStart& start : steps_.starts) copy(start);
        if (steps_.chunk) return run_chunks();
        const std::int64_t count = value_of(steps_.count, dims_);
        for (std::int64_t n = 0; n < count; ++n)
            for (const StepCall& call : steps_.calls)
                run_call(call, steps_.reverse ? count - 1 - n : n);
    }

  private:
    void run_chunks() {
        const std::int64_t count = value_of(steps_.count, dims_);
        Text name;
        name << steps_.positions;
        for (std::int64_t n = 0; n * steps_.chunk < count; ++n) {
            dims_[std::string(name.view())] = std::min(steps_.chunk, count - n * steps_.chunk);
            for (const StepCall& call : steps_.calls) run_call(call, n);
        }
    }
    void copy(const StepStart& start) {
        std::int64_t rows = 1;
        if (steps_.rows) {
            Text name;
            name << steps_.rows;
            rows = dims_.at(std::string(name.view()));
        }
        std::vector<double>& to = buffers_[std::size_t(start.to.buffer)];
        if (start.from.buffer < 0) {
            const auto first = to.begin() + std::ptrdiff_t(value_of(start.to.offset, dims_));
            std::fill(first, first + std::ptrdiff_t(rows * value_of(start.size, dims_)), 0.0);
            return;
        }
        const std::vector<double>& from = buffers_[std::size_t(start.from.buffer)];
        for (std::int64_t i = 0; i < rows * value_of(start.size, dims_); ++i)
            to.at(std::size_t(value_of(start.to.offset, dims_) + i)) =
                from.at(std::size_t(value_of(start.from.offset, dims_) + i));
    }
    void run_call(const StepCall& call, std::int64_t step) {
        const Kernel& called = steps_.kernels[std::size_t(call.kernel)];
        std::vector<std::vector<double>> parts;
        for (std::size_t i = 0; i < call.arguments.size(); ++i)
            parts.push_back(part_of(call.arguments[i], called.buffers[i], step));
        evaluate(called, dims_, parts, dropout_, tile_);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!called.buffers[i].written || parts[i].empty()) continue;
            std::vector<double>& whole = buffers_[std::size_t(call.arguments[i].buffer)];
            std::copy(parts[i].begin(), parts[i].end(),
                      whole.begin() + std::ptrdiff_t(first_of(call.arguments[i], step)));
        }
    }
    std::int64_t first_of(const StepArgument& argument, std::int64_t step) const {
        return value_of(argument.offset, dims_) + step * value_of(argument.step, dims_);
    }
    std::vector<double> part_of(const StepArgument& argument, const Buffer& buffer,
                                std::int64_t step) const {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= value_of(dim, dims_);
        if (size == 0) return {};  // wherever it is
        const std::int64_t first = first_of(argument, step);
        const std::vector<double>& whole = buffers_[std::size_t(argument.buffer)];
        if (first < 0 || first + size > std::int64_t(whole.size()))
            throw InternalError(buffer.name + ": a step reads outside its buffer");
        return {whole.begin() + std::ptrdiff_t(first),
                whole.begin() + std::ptrdiff_t(first + size)};
    }

    const Steps& steps_;
    DimValues dims_;
    std::vector<std::vector<double>>& buffers_;
    const DropoutFactor& dropout_;
    std::int64_t tile_;
};

}  // namespace

void evaluate_steps(const Kernel& kernel, const DimValues& dims,
                    std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout,
                    std::int64_t tile) {
    StepsEvaluator(kernel, dims, buffers, dropout, tile).run();
}

}  // namespace fovea::kernel
