// `fovea report`: a model on one page.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/files/files.h"
#include "runtime/memory/shape.h"
#include "runtime/threads.h"
#include "runtime/trainer/output_paths.h"
#include "tools/fovea/bench/machine.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/fit_dims.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/report/attention_picture.h"
#include "tools/fovea/report/page.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

std::size_t parameter_count(const plan::Model& model, const SampleDims& dims) {
    std::size_t count = 0;
    for (const plan::Tensor& tensor : model.parameters)
        count += bytes_of(tensor, dims) / size_of(tensor.dtype);
    return count;
}

std::vector<LoggedTraining> trainings_of(const Arguments& given) {
    std::vector<LoggedTraining> trainings;
    if (given.has("log"))
        for (const std::string& file : given.all("log"))
            trainings.push_back(read_training_log(file));
    return trainings;
}

std::vector<AttentionPicture> attentions_of(const Arguments& given) {
    std::vector<AttentionPicture> pictures;
    if (given.has("attention"))
        for (const std::string& file : given.all("attention"))
            pictures.push_back(read_attention_picture(file));
    return pictures;
}

int report_model(const Arguments& given) {
    const std::string file = given.text_or("output", "report.html");
    runtime::verify_writable(file);
    std::vector<LoggedTraining> trainings = trainings_of(given);
    std::vector<AttentionPicture> attentions = attentions_of(given);
    runtime::set_threads(given.whole("threads", kThreads, runtime::thread_count()));
    LoadedModel model = load_model(given, given.model());
    model.targets = targets_of(given);
    Progress::show("compiling with fusion off and on");
    const FormComparison forms(model);
    const SampleDims dims = forms.dims(given.sizes());
    const ProgramRequest request =
        runner_program(model, has_gradient(model), depends_on_mode(model.graph), Fusion());
    const CompiledModel compiled = compile(model, {request});
    const runtime::Model& generated =
        load_generated(compiled.plan, isa_of_this_machine(products_of(model)));
    Report report{.model = model.entry.name,
                  .program = request.name,
                  .source = compiled.plan.source,
                  .dims = dims,
                  .parameters = parameter_count(compiled.plan, dims),
                  .machine = {},
                  .compiled = &compiled,
                  .graph = model.graph,
                  .measured = {},
                  .forms = {},
                  .trainings = std::move(trainings),
                  .attentions = std::move(attentions)};
    Progress::show(fmt::format("measuring {} at {}", model.entry.name, text_of(dims)));
    report.forms = forms.measure(dims);
    const MachineProbe probe;
    report.machine = probe.measure();
    for (int i = 0; i < 20; ++i)
        report.gb_s = std::max(report.gb_s, probe.read_gb_s(report.forms.on.peak_bytes));
    report.measured =
        measure_kernels(compiled, generated, dims, {report.machine.peak_gflops, report.gb_s});
    Progress::clear();
    runtime::write_file_atomically(file, report_page(report));
    fmt::print("{}\n", file);
    return 0;
}

}  // namespace

Command report_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("FILE"),
        "the page to write; report.html by default");
    add("log", po::value<std::vector<std::string>>()->value_name("FILE"),
        "losses to show, of a training: what the built program's train wrote with --log; "
        "repeatable");
    add("attention", po::value<std::vector<std::string>>()->value_name("FILE"),
        "attention maps to show: what the built program's translate wrote with --attention, "
        ".safetensors or .svg; repeatable");
    add_size_option(options, "sizes of dims; 64 for batches, 200 for vocabularies, else 10");
    add("threads", po::value<std::string>()->value_name("N"), "one per core by default");
    add_schedule_option(options);
    add_settings_option(options);
    return {{"report",
             "a page about a model: graph, kernels, memory",
             "MODEL",
             "Writes one HTML page that needs no network: the graph, what is fused and why\n"
             "the rest is not, each kernel with its code, time, bytes and share of what the\n"
             "machine can do, memory over time, and fusion off beside on. Times are of the\n"
             "program that gives gradients, where the model has them. Losses of trainings and\n"
             "attention maps are on it where files with them are given.",
             {{"a model at sizes of yours",
               "fovea report add_norm --size batch=8 --size len=32 -o add_norm.html"},
              {"on one thread, of a function of yours",
               "fovea report my_model.cpp:my_model --threads 1 -o my_model.html"},
              {"after a training, with where it looks; takes what the program wrote",
               "fovea report transformer --log log.jsonl --attention maps.safetensors"}}},
            options,
            report_model};
}

}  // namespace fovea::tool
