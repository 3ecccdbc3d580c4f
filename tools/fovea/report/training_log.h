// What a training wrote with --log, for the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fovea::tool {

/// What an epoch measured. Numbers that are not finite, as those of a training that diverged, are
/// missing.
struct LoggedEpoch {
    double epoch = 0;
    std::optional<double> loss, validation_loss, grad_norm, learning_rate, tokens_per_second;
};

struct LoggedTraining {
    std::string name;  // of the file, without its folders
    std::vector<LoggedEpoch> epochs;
};

/// Reads JSON lines, one an epoch, as built programs write them: `epoch` and `loss`, and what else
/// is there. UserError with the line that is none; a last line that was not written to its end, as
/// of a training that runs, is left out.
LoggedTraining read_training_log(const std::string& path);

/// The losses over the epochs, held-out ones broken; below, the norm of the gradient and the rate
/// of learning, where a log has them. An SVG picture.
std::string training_chart(const std::vector<LoggedTraining>& trainings);

}  // namespace fovea::tool
