// Chooses the subcommand, and turns errors into exit statuses.
#include "translator.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../error.h"
#include "../options.h"
#include "commands.h"

namespace fovea::runtime {

namespace {

struct Command {
    const char* name;
    const char* summary;
    int (*run)(const std::string& program, Arguments arguments, const Model& model);
};

constexpr Command kCommands[] = {
    {"train", "train on a file of sentence pairs, and write the weights", train_command},
    {"translate", "translate sentences with trained weights", translate_command},
    {"evaluate", "measure loss, perplexity and BLEU on a file of sentence pairs", evaluate_command},
    {"bench", "time the training step, the forward pass and decoding", bench_command},
};

void print_help(const std::string& program, const Model& model) {
    std::printf("usage: %s SUBCOMMAND [OPTIONS]\na translator (%s)\n\n", program.c_str(),
                model.name.c_str());
    for (const Command& command : kCommands) {
        std::printf("  %-10s %s\n", command.name, command.summary);
    }
    std::printf(
        "\n%s SUBCOMMAND --help lists the options, with examples; %s --version says what this "
        "is.\n",
        program.c_str(), program.c_str());
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

int run_command(const std::string& program, Arguments arguments, const Model& model) {
    const std::string name = arguments.empty() ? "" : arguments[0];
    if (name == "--help" || name == "-h") {
        print_help(program, model);
        return 0;
    }
    std::vector<std::string> names;
    for (const Command& command : kCommands) {
        if (name == command.name) return command.run(program, arguments.subspan(1), model);
        names.push_back(command.name);
    }
    const std::string choice = "the subcommand should be train, translate, evaluate or bench";
    if (name.empty()) throw UserError(choice + "; see " + program + " --help");
    throw UserError(choice + ", not '" + name + "'" + suggestion(name, names));
}

}  // namespace

int translator_main(int argc, char** argv, const Model& model) {
    // Over a file size limit a write then fails with a reason, and the temporary file is removed.
    std::signal(SIGXFSZ, SIG_IGN);
    const std::string program = argc > 0 ? file_name(argv[0]) : "translator";
    return report_errors(program.c_str(), [&] {
        const Arguments arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
        const int status = run_command(program, arguments, model);
        if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
        return status;
    });
}

}  // namespace fovea::runtime
