// The subcommands of a generic built program.
#include "runner_main.h"

#include <csignal>
#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "../checkpoint/distinct_paths.h"
#include "../checkpoint/read_checkpoint.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../files/fit_names.h"
#include "../load_parameters.h"
#include "../options.h"
#include "bench_model.h"
#include "bind_dims.h"
#include "describe.h"
#include "run_model.h"
#include "threads_option.h"

namespace fovea::runtime {
namespace {

using RunnerArguments = std::span<const char* const>;

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (std::size_t comma; (comma = text.find(',', start)) != std::string::npos;) {
        parts.push_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    parts.push_back(text.substr(start));
    return parts;
}

int run_programs(const std::string& program, const Model& model, RunnerArguments arguments) {
    Options options(program + " run", "Runs " + model.name + " on tensors from a file.");
    options
        .add({.name = "inputs",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "safetensors with the inputs, by name",
              .required = true})
        .add({.name = "outputs",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "safetensors to write the outputs to",
              .required = true})
        .add({.name = "weights",
              .kind = OptionKind::text,
              .value_name = "FILE|DIR",
              .help = "safetensors with the parameters, or the folder of a checkpoint"})
        .add({.name = "gradients", .help = "also write <name>.grad of parameters and inputs"})
        .add({.name = "train", .help = "training mode: dropout is on"})
        .add({.name = "seed",
              .kind = OptionKind::whole,
              .value_name = "S",
              .help = "seed of dropout",
              .default_text = "1"})
        .add({.name = "step",
              .kind = OptionKind::whole,
              .value_name = "N",
              .help = "step of dropout",
              .default_text = "0"})
        .add({.name = "only",
              .kind = OptionKind::text,
              .value_name = "NAME,…",
              .help = "write these outputs only",
              .repeated = true})
        .add(device::device_option())
        .add(threads_option())
        .example("the outputs for the inputs of a file",
                 "--inputs inputs.safetensors --outputs outputs.safetensors")
        .example("gradients, too, with weights from PyTorch",
                 "--inputs inputs.safetensors --weights weights.safetensors --gradients --outputs "
                 "outputs.safetensors");
    if (options.parse(arguments)) return print(options.help()), 0;
    use_threads(options);

    RunRequest request;
    request.gradients = options.flag("gradients");
    request.train = options.flag("train");
    request.seed = static_cast<std::uint64_t>(options.integer("seed"));
    request.step = static_cast<std::uint64_t>(options.integer("step"));
    for (const std::string& list : options.all("only")) {
        for (std::string& name : split_at_commas(list)) request.only.push_back(std::move(name));
    }
    if (options.has("weights"))
        verify_distinct({{"--outputs", options.text("outputs")}},
                        {{"--weights", options.text("weights")}});
    const SafetensorsFile inputs = read_safetensors(options.text("inputs"));
    std::optional<SafetensorsFile> weights;
    if (options.has("weights")) weights = read_checkpoint(model, options.text("weights"));
    if (weights) fit_names(*weights, names_of_parameters(model));
    run_model(device::choose_device(model, options.text("device")), request, inputs,
              weights ? &*weights : nullptr, options.text("outputs"));
    return 0;
}

int run_bench(const std::string& program, const Model& model, RunnerArguments arguments) {
    Options options(program + " bench", "Times the programs of " + model.name + ".", "[NAME=N…]");
    options.add({.name = "json", .help = "print JSON"})
        .add({.name = "set-dim",
              .kind = OptionKind::text,
              .value_name = "NAME=N",
              .help = "the size of a dim",
              .repeated = true})
        .add(device::device_option())
        .add(threads_option())
        .example("at sizes that the program chooses", "")
        .example("on one thread, for programs to read", "--threads 1 --json");
    if (options.parse(arguments)) return print(options.help()), 0;
    use_threads(options);

    DimValues dims;
    for (const std::string& text : options.all("set-dim")) set_dim(model, text, dims);
    for (const std::string& text : options.positional()) set_dim(model, text, dims);
    dims = default_dims(model, dims);
    const std::vector<ProgramTime> times =
        bench_model(device::choose_device(model, options.text("device")), dims);
    print(options.flag("json") ? bench_json(model, dims, times).text() + "\n"
                               : bench_text(model, dims, times));
    return 0;
}

int describe_command(const std::string& program, const Model& model, RunnerArguments arguments) {
    Options options(program + " describe",
                    "Shows the parameters, inputs and outputs of " + model.name + ".");
    options.add({.name = "json", .help = "print JSON"})
        .example("names, shapes and settings", "")
        .example("the same for programs", "--json");
    if (options.parse(arguments)) return print(options.help()), 0;
    print(options.flag("json") ? describe_json(model).pretty_text() : describe(model));
    return 0;
}

constexpr RunnerCommand kOwnCommands[] = {
    {"run", "run it on tensors from a file", run_programs},
    {"bench", "time it on random inputs", run_bench},
    {"describe", "show parameters, inputs and outputs", describe_command}};

class Commands {
  public:
    Commands(const Model& model, std::span<const RunnerCommand> more)
        : all_(std::begin(kOwnCommands), std::end(kOwnCommands)) {
        all_.insert(all_.end(), more.begin(), more.end());
        if (model.quantize)
            all_.push_back({"quantize", "make weights of 8 or 4 bits", model.quantize});
    }

    int run(const std::string& program, const Model& model, RunnerArguments arguments) const {
        if (arguments.empty())
            throw UserError("expected a command: {}; {} --help explains them",
                            {listed(", ", " or "), program});
        const std::string name = arguments[0];
        for (const RunnerCommand& command : all_)
            if (name == command.name) return command.run(program, model, arguments.subspan(1));
        if (name == "--help" || name == "-h" || name == "help")
            return print(usage(program, model)), 0;
        if (name == "quantize" && !model.stored_weights)
            throw UserError(
                "this program of {} takes weights as floats: build one that takes whole numbers, "
                "with `--set weights=int8`",
                {model.name});
        std::vector<std::string> names;
        for (const RunnerCommand& command : all_) names.emplace_back(command.name);
        throw UserError("unknown command '{}'{}", {name, suggestion(name, names)});
    }

  private:
    std::string listed(const std::string& between, const std::string& last) const {
        std::string list = all_.front().name;
        for (std::size_t i = 1; i < all_.size(); ++i)
            list += (i + 1 < all_.size() ? between : last) + all_[i].name;
        return list;
    }
    std::string usage(const std::string& program, const Model& model) const {
        std::string text = "usage: " + program + " " + listed("|", "|") + " [OPTIONS]\n" +
                           model.name + ", built by fovea.\n\n";
        for (const RunnerCommand& command : all_) {
            std::string name = command.name;
            name.resize(10, ' ');
            text += "  " + name + command.summary + "\n";
        }
        return text + "\n" + program +
               " COMMAND --help lists the options of a command, with examples; " + program +
               " --version says what this is.\n";
    }

    std::vector<RunnerCommand> all_;
};

}  // namespace

int runner_main(int argc, char** argv, const Model& model) {
    return runner_main(argc, argv, model, {});
}

int runner_main(int argc, char** argv, const Model& model, std::span<const RunnerCommand> more) {
    // Over a file size limit a write then fails with a reason, and the temporary file is removed.
    std::signal(SIGXFSZ, SIG_IGN);
    const std::string path = argc > 0 ? argv[0] : model.name;
    const std::string program = path.substr(path.rfind('/') + 1);
    return report_errors(program.c_str(), [&] {
        const auto count = static_cast<std::size_t>(argc > 1 ? argc - 1 : 0);
        return Commands(model, more).run(program, model, RunnerArguments(argv + 1, count));
    });
}

}  // namespace fovea::runtime
