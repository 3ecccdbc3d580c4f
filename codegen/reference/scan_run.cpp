#include "codegen/reference/scan_run.h"

#include <algorithm>

#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

/// Element `index` of the first axis, and an array with one written there.
Array at(const Array& all, std::int64_t index) {
    Array one{{all.shape.begin() + 1, all.shape.end()}, {}};
    const auto first = all.values.begin() + std::ptrdiff_t(index * one.size());
    one.values.assign(first, first + std::ptrdiff_t(one.size()));
    return one;
}
void put(Array& all, std::int64_t index, const Array& one) {
    std::copy(one.values.begin(), one.values.end(),
              all.values.begin() + std::ptrdiff_t(index * one.size()));
}

}  // namespace

ScanRun::ScanRun(const Interpreter& outside, int id)
    : function_(*scan_of(outside.graph(), id).function),
      steps_(value_of(outside.sizes(), scan_of(outside.graph(), id).steps)),
      step_(function_.step, outside.options()) {
    step_.take_sizes(outside.sizes());
}

std::int64_t ScanRun::place(std::int64_t n) const { return function_.reverse ? steps_ - 1 - n : n; }

void ScanRun::start(const InputOf& input) {
    const ScanFunction& f = function_;
    results_.clear();
    for (int i = 0; i < f.states + f.results; ++i) {
        const int output = find_output(f.step, port_of_result(f, i));
        Array all{{steps_ + (i < f.states)}, {}};
        for (const Dim& dim : f.step[output].shape)
            all.shape.push_back(value_of(step_.sizes(), dim));
        all.values.assign(std::size_t(all.size()), 0);
        if (i < f.states) put(all, f.reverse ? steps_ : 0, input(f.sequences + i));
        results_.push_back(std::move(all));
    }
}

void ScanRun::give(std::int64_t n, const InputOf& input,
                   const std::function<void(const std::string&, Array)>& set) const {
    const ScanFunction& f = function_;
    const std::int64_t t = place(n);
    for (int i = 0; i < f.sequences; ++i)
        set(std::string(name_of(Port{Role::value, i})), at(input(i), t));
    for (int i = 0; i < f.states; ++i)
        set(std::string(name_of(Port{Role::state, i})),
            at(results_[std::size_t(i)], t + f.reverse));
    if (n == 0)
        for (int i = 0; i < f.captures; ++i)
            set(std::string(name_of(Port{Role::capture, i})), input(f.sequences + f.states + i));
}

void ScanRun::take(std::int64_t n, const std::function<Array(std::string_view)>& output) {
    const ScanFunction& f = function_;
    const std::int64_t t = place(n);
    for (int i = 0; i < f.states; ++i)
        put(results_[std::size_t(i)], t + !f.reverse, output(name_of(Port{Role::next, i})));
    for (int i = 0; i < f.results; ++i)
        put(results_[std::size_t(f.states + i)], t, output(name_of(Port{Role::result, i})));
}

void ScanRun::run(const InputOf& input, const std::function<void(std::int64_t)>& then) {
    for (std::int64_t n = 0; n < steps_; ++n) {
        give(n, input,
             [&](const std::string& name, Array array) { step_.set(name, std::move(array)); });
        take(n, [&](std::string_view name) { return step_.output(name); });
        if (then) then(n);
    }
}

}  // namespace fovea
