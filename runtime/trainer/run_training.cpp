// How a training begins and ends.
#include "run_training.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "../error.h"
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

void resume(const TrainPaths& paths, const TrainingEnd& end, Training& training) {
    load_checkpoint(paths.checkpoint, training);
    const TrainingPosition& position = training.position;
    const std::uint64_t begun = position.epoch + (position.step_in_epoch > 0 ? 1 : 0);
    if (begun > static_cast<std::uint64_t>(end.epochs))
        throw UserError("'{}' is in epoch {}, behind --epochs {}",
                        {paths.checkpoint, begun, end.epochs});
    if (end.steps > 0 && position.step > static_cast<std::uint64_t>(end.steps))
        throw UserError("'{}' is of step {}, behind --steps {}",
                        {paths.checkpoint, position.step, end.steps});
}

}  // namespace

int run_training(const TrainingPlan& plan, Parameters& parameters,
                 const std::function<void()>& initialize) {
    Optimizer optimizer(parameters.trained_size(), plan.settings.optimizer);
    Training training{plan.data, plan.settings, parameters, optimizer, plan.saved};
    const bool resumes = plan.resumes && has_checkpoint(plan.paths.checkpoint);
    if (!resumes || plan.saved.only_trained) initialize();
    if (resumes) resume(plan.paths, plan.end, training);
    TrainingRun run(plan.model, training, plan.paths, plan.end);
    if (const int signal = run.run()) return 128 + signal;
    run.print_summary();
    return 0;
}

}  // namespace fovea::runtime
