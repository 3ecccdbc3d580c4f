// `train`: reads pairs, trains, and writes weights, checkpoints and a log.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "../../device/choose_device.h"
#include "../../error.h"
#include "../../runner/threads_option.h"
#include "../commands.h"
#include "../reads_padding.h"
#include "../vocabulary_dims.h"
#include "train_options.h"
#include "training_run.h"

namespace fovea::runtime {

namespace {

/// Whether there is a file to go on from; where there is none, says so.
bool has_checkpoint(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 || errno != ENOENT) return true;
    std::fprintf(stderr,
                 "there is no checkpoint '%s' yet: the training starts from the beginning\n",
                 path.c_str());
    return false;
}

void resume(const TrainPaths& paths, std::int64_t epochs, Training& training) {
    load_checkpoint(paths.checkpoint, training);
    const TrainingPosition& position = training.position;
    const std::uint64_t begun = position.epoch + (position.step_in_epoch > 0 ? 1 : 0);
    if (begun <= static_cast<std::uint64_t>(epochs)) return;
    throw UserError("'" + paths.checkpoint + "' is in epoch " + std::to_string(begun) +
                    ", behind --epochs " + std::to_string(epochs));
}

}  // namespace

int train_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = train_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Model model = device::choose_device(generated, options.text("device"));
    const TrainPaths paths = train_paths(options);
    const TrainingSettings settings = training_settings(options, model);
    TrainingData data = read_training_data(
        paths.data, options.given("pairs") ? static_cast<std::size_t>(options.integer("pairs")) : 0,
        {settings.min_freq, paths.pieces}, static_cast<std::size_t>(settings.steps));
    data.examples.whole_sources = reads_padding(model);
    const std::string& origin = paths.pieces.empty() ? paths.data : paths.pieces;
    Parameters parameters(model, vocabulary_dims(model, data.source, data.target,
                                                 "the vocabulary of '" + origin + "'"));
    Optimizer optimizer(parameters.trained_size(), settings.optimizer);
    Training training{data, settings, parameters, optimizer, {}};
    const TrainingEnd end{options.integer("epochs"),
                          options.given("patience") ? options.integer("patience") : 0};
    if (options.flag("resume") && has_checkpoint(paths.checkpoint)) {
        resume(paths, end.epochs, training);
    } else {
        parameters.initialize(settings.seed);
    }
    TrainingRun run(model, training, paths, end);
    if (const int signal = run.run()) return 128 + signal;
    run.print_summary();
    return 0;
}

}  // namespace fovea::runtime
