// `fovea bench`: kernels and models against what the machine can do.
#include <fmt/format.h>

#include <cstdio>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "runtime/threads.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/bench/report.h"
#include "tools/fovea/bench/suites.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/device/bench_gpu.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

po::options_description bench_options() {
    po::options_description options("Options");
    auto add = options.add_options();
    auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    add("suite", text("contraction|attention|rowwise|models"), "this suite only");
    add("threads", text("N"), "one per core by default");
    add("target", text("cpu|cuda"),
        "cpu by default; cuda: kernels in bfloat16 (products in tf32, too), by the GPU's clock");
    add("quick",
        "tiny sizes, three runs of each, hardly optimized: shows that all works, measures "
        "nothing");
    add("turns",
        "with --target cuda: a line of JSON says what is next, and a line of standard input "
        "how many runs to answer with a list of milliseconds; a blank one goes on to the next");
    add_schedule_option(options);
    add("json", text("F"), "write the measurements as JSON");
    add("svg", text("F"), "draw them below the machine's roofline");
    return options;
}

std::vector<Suite> chosen_suites(const Arguments& given) {
    std::vector<std::string> names;
    for (const Suite& suite : kSuites) names.push_back(suite.name);
    std::vector<Suite> suites(std::begin(kSuites), std::end(kSuites));
    if (!given.has("suite")) return suites;
    const std::string chosen = given.choice("suite", names);
    std::erase_if(suites, [&](const Suite& suite) { return suite.name != chosen; });
    return suites;
}

int bench_on_gpu(const Arguments& given) {
    std::string suite;
    if (given.has("suite")) suite = given.choice("suite", {"contraction", "attention", "models"});
    if (given.has("svg")) throw UserError("--svg draws the roofline of --target cpu alone");
    const bool in_turns = given.has("turns");
    const GpuBench bench =
        bench_gpu(cuda_target(), suite, {given.has("quick"), in_turns, targets_of(given).gpu});
    if (in_turns) return 0;
    fmt::print("{}", bench.table());
    if (given.has("json")) runtime::write_file_atomically(given.text("json"), bench.json());
    return 0;
}

int bench_suites(const Arguments& given) {
    given.verify_writable({"json", "svg"});
    if (given.choice("target", {"cpu", "cuda"}) == "cuda") return bench_on_gpu(given);
    if (given.has("turns")) throw UserError("--turns is for --target cuda");
    const std::vector<Suite> suites = chosen_suites(given);
    runtime::set_threads(given.whole("threads", kThreads, runtime::thread_count()));
    BenchTable table;
    const auto print_row = [&](const BenchRow& row) {
        fmt::print("{}", table.lines_of(row));
        std::fflush(stdout);
    };
    Progress::show("measuring what this machine can do");
    Bench bench(given.has("quick"), targets_of(given).cpu, print_row);
    Progress::clear();
    fmt::print("{}", machine_line(bench.machine()));
    std::fflush(stdout);
    std::vector<BenchRow> rows;
    for (const Suite& suite : suites)
        for (BenchRow& row : suite.run(bench)) rows.push_back(std::move(row));
    fmt::print("{}", steadiness_line(bench.machine(), rows));
    if (given.has("json"))
        runtime::write_file_atomically(given.text("json"),
                                       bench_json(bench.machine(), rows).dump(1) + "\n");
    if (given.has("svg"))
        runtime::write_file_atomically(given.text("svg"), roofline(bench.machine(), rows));
    return 0;
}

}  // namespace

Command bench_command() {
    return {{"bench",
             "measure kernels and models against the machine",
             "",
             "Measures the machine, then kernels and models as `build` ships them, on\n"
             "random inputs. `of peak` is the median over the runs against the median of the\n"
             "peak, measured before each run. A floor is FLOPs over that peak, or bytes over the\n"
             "bandwidth. `best` is the fastest run against the best peak: on a shared machine the\n"
             "least disturbed. A run shorter than 10 ms is repeated for that long, and the mean\n"
             "counts.",
             {{"whether all of it works", "fovea bench --quick --suite contraction"},
              {"below the machine's roofline; takes minutes", "fovea bench --svg roofline.svg"}}},
            bench_options(),
            bench_suites};
}

}  // namespace fovea::tool
