// Lines and bars of a training.
#include "training_report.h"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "../error.h"
#include "../json.h"

namespace fovea::runtime {

namespace {

std::string format(const char* pattern, double a, double b = 0) {
    char text[96];
    std::snprintf(text, sizeof text, pattern, a, b);
    return text;
}

}  // namespace

TrainingLog::TrainingLog(const std::string& path, bool appends) : path_(path) {
    file_.reset(std::fopen(path.c_str(), appends ? "ab" : "wb"));
    if (!file_) throw UserError("cannot write '" + path + "': " + std::strerror(errno));
}

void TrainingLog::add(const EpochResult& epoch) {
    if (!file_) return;
    Json line = Json::Object{{"epoch", static_cast<std::int64_t>(epoch.epoch)},
                             {"step", static_cast<std::int64_t>(epoch.step)},
                             {"loss", epoch.loss},
                             {"tokens_per_second", epoch.tokens_per_second},
                             {"learning_rate", epoch.learning_rate},
                             {"grad_norm", epoch.grad_norm},
                             {"perplexity", std::exp(epoch.loss)}};
    if (epoch.validation) {
        line.set("validation_loss", epoch.validation->loss);
        line.set("validation_perplexity", std::exp(epoch.validation->loss));
        line.set("validation_accuracy", epoch.validation->accuracy);
    }
    const std::string text = line.text() + "\n";
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!is_written || std::fflush(file_.get()) != 0) {
        throw UserError("cannot write '" + path_ + "': " + std::strerror(errno));
    }
}

EpochProgress::EpochProgress(std::uint64_t epoch, std::int64_t epochs, std::size_t batches)
    : progress_("epoch " + std::to_string(epoch) + "/" + std::to_string(epochs),
                static_cast<std::int64_t>(batches)) {}

void EpochProgress::update(std::uint64_t batches_done, double loss) {
    constexpr std::chrono::seconds kBetweenLines(10);
    if (!stderr_is_terminal()) {
        if (Clock::now() - last_line_ < kBetweenLines) return;
        last_line_ = Clock::now();
    }
    progress_.update(static_cast<std::int64_t>(batches_done), format("loss %.4f", loss));
}

void EpochProgress::finish(const EpochResult& result) {
    std::string text =
        format("loss %.4f per token, %.0f tokens/s", result.loss, result.tokens_per_second);
    if (result.validation)
        text += format("; held out: loss %.4f, %.1f %% right", result.validation->loss,
                       100 * result.validation->accuracy);
    progress_.finish(text);
}

}  // namespace fovea::runtime
