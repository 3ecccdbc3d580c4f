// `fovea compare`: a model with fusion off and on.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "runtime/options.h"
#include "runtime/threads.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/compare/compare_report.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

po::options_description compare_options() {
    po::options_description options("Options");
    auto add = options.add_options();
    auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    add_size_option(options, "sizes of dims; 64 for batches, 200 for vocabularies, else 10");
    add("sweep", text("DIM=N,N,…"), "compare at each of these sizes of one dim");
    add("threads", text("N"), "one per core by default");
    add("json", text("F"), "write the rows as JSON");
    add("svg", text("F"), "draw time, peak memory and the bytes that are counted");
    add_schedule_option(options);
    add_settings_option(options);
    return options;
}

/// A dim and the sizes it is to take, ascending.
struct Sweep {
    std::string dim;
    std::vector<std::int64_t> sizes;
};

/// The value of `--sweep`, `DIM=N,N,…`.
Sweep sweep_of(const Arguments& given) {
    Sweep sweep;
    if (!given.has("sweep")) return sweep;
    const std::string& text = given.text("sweep");
    const std::size_t equals = std::min(text.find('='), text.size());
    sweep.dim = text.substr(0, equals);
    for (const std::string& part : given.list("sweep")) {
        const bool first = sweep.sizes.empty();
        const std::string_view digits =
            std::string_view(part).substr(first ? std::min(equals + 1, part.size()) : 0);
        if (sweep.dim.empty())
            throw UserError(fmt::format("--sweep takes DIM=N,N,…, not '{}'", text));
        sweep.sizes.push_back(size_in(digits, "sweep", "DIM=N,N,…", text));
    }
    std::sort(sweep.sizes.begin(), sweep.sizes.end());
    return sweep;
}

/// The dims of each comparison.
std::vector<SampleDims> all_dims(const FormComparison& forms, const std::vector<std::string>& given,
                                 const Sweep& sweep) {
    if (sweep.dim.empty()) return {forms.dims(given)};
    std::vector<SampleDims> list;
    for (std::int64_t size : sweep.sizes) {
        std::vector<std::string> sizes = given;
        sizes.push_back(fmt::format("{}={}", sweep.dim, size));
        list.push_back(forms.dims(sizes));
    }
    return list;
}

/// Whether both forms agree; says where not.
bool agree(const Comparison& comparison) {
    bool agree = true;
    for (const CompareRow& row : comparison.rows) {
        const double error = std::max(row.value_error, row.gradient_error);
        if (error <= row.tolerance) continue;
        agree = false;
        fmt::print(stderr,
                   "fovea: fusion off and on differ by {:.1e} of the largest value{}; {:.1e} is "
                   "allowed\n",
                   error,
                   comparison.swept.empty()
                       ? ""
                       : fmt::format(" at {}={}", comparison.swept, row.dims.at(comparison.swept)),
                   row.tolerance);
    }
    return agree;
}

int compare_fusion(const Arguments& given) {
    const std::string& name = given.model();
    const Sweep sweep = sweep_of(given);
    given.verify_writable({"json", "svg"});
    runtime::set_threads(given.whole("threads", kThreads, runtime::thread_count()));
    LoadedModel model = load_model(given, name);
    model.targets = targets_of(given);
    const FormComparison forms(model);
    Comparison comparison{.model = model.entry.name,
                          .program = forms.program(),
                          .threads = runtime::thread_count(),
                          .swept = sweep.dim,
                          .rows = {},
                          .crossover = {}};
    for (const SampleDims& dims : all_dims(forms, given.sizes(), sweep)) {
        Progress progress(fmt::format("measuring {} at {}", model.entry.name, text_of(dims)));
        comparison.rows.push_back(forms.measure(dims));
    }
    if (!sweep.dim.empty()) comparison.crossover = crossover(comparison.rows, sweep.dim);
    fmt::print("{}", compare_table(comparison));
    if (given.has("json"))
        runtime::write_file_atomically(given.text("json"), compare_json(comparison).dump(1) + "\n");
    if (given.has("svg"))
        runtime::write_file_atomically(given.text("svg"), compare_chart(comparison));
    return agree(comparison) ? 0 : 1;
}

}  // namespace

Command compare_command() {
    return {{"compare",
             "fusion off beside fusion on: values, time, memory",
             "MODEL",
             "Runs a model with fusion off and on: first checks that values and gradients\n"
             "agree, then compares time and peak memory, which are measured, and bytes moved\n"
             "and kernels, which are counted from the plan. Exit status 1 when values differ.",
             {{"at one size", "fovea compare add_norm --size batch=8 --size len=32"},
              {"over lengths, with a picture; takes minutes",
               "fovea compare transformer_encoder --sweep src_len=16,64,256 --svg compare.svg"}}},
            compare_options(),
            compare_fusion};
}

}  // namespace fovea::tool
