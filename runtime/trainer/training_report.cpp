// Lines and bars of a training.
#include "training_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "../error.h"
#include "../files/files.h"
#include "../files/json.h"

namespace fovea::runtime {

namespace {

std::string with_numbers(const char* pattern, double a, double b = 0) {
    char text[96];
    std::snprintf(text, sizeof text, pattern, a, b);
    return text;
}

std::string held_out_text(const Measured& held_out) {
    if (held_out.accuracy)
        return with_numbers("; held out: loss %.4f, %.1f %% right", held_out.loss,
                            100 * *held_out.accuracy);
    return with_numbers("; held out: loss %.4f, perplexity %.4g", held_out.loss,
                        std::exp(held_out.loss));
}

[[noreturn]] void refuse_log(const std::string& path, int error) {
    throw UserError("cannot write '" + path + "': " + std::strerror(error));
}

/// The epoch that a line of a log is of, where it is one.
std::optional<std::int64_t> epoch_of(std::string_view line) {
    try {
        const Json json = parse_json(line);
        const Json* epoch = json.is_object() ? json.find("epoch") : nullptr;
        if (epoch && epoch->is_integer()) return epoch->integer();
        return std::nullopt;
    } catch (const UserError&) {  // a line of something else
        return std::nullopt;
    }
}

}  // namespace

std::size_t kept_length(std::string_view log, std::uint64_t epochs) {
    std::size_t start = 0;
    while (start < log.size()) {
        const std::size_t end = log.find('\n', start);
        const std::string_view line = log.substr(start, end - start);
        if (end == std::string_view::npos) return line.starts_with('{') ? start : log.size();
        const std::optional<std::int64_t> epoch = epoch_of(line);
        if (epoch && *epoch > static_cast<std::int64_t>(epochs)) return start;
        start = end + 1;
    }
    return log.size();
}

TrainingLog::TrainingLog(const std::string& path, std::uint64_t epochs)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    struct stat status{};
    if (!file_.is_open() || ::fstat(file_.number(), &status) != 0) refuse_log(path, errno);
    is_regular_ = S_ISREG(status.st_mode);
    if (!is_regular_) return;
    if (!lock_file(file_.number(), false))
        throw UserError("another training writes the log '" + path +
                        "'; wait until it has ended, or choose another --log");
    keep_epochs(epochs);
}

void TrainingLog::keep_epochs(std::uint64_t epochs) {
    std::size_t kept = 0;
    if (epochs > 0) {
        const std::vector<std::byte> bytes = read_file(path_);
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        kept = kept_length(text, epochs);
        if (kept > 0 && text[kept - 1] != '\n') unwritten_ = "\n";
    }
    if (::ftruncate(file_.number(), static_cast<off_t>(kept)) != 0) refuse_log(path_, errno);
}

int TrainingLog::write() {
    const off_t before = is_regular_ ? ::lseek(file_.number(), 0, SEEK_END) : 0;
    std::string_view rest = unwritten_;
    while (!rest.empty()) {
        const ssize_t written = ::write(file_.number(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int error = errno;
            // What was written of a line is taken back, so that it can be written whole.
            if (!is_regular_) unwritten_ = rest;
            else if (::ftruncate(file_.number(), before) != 0) return errno;
            return error;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    unwritten_.clear();
    return 0;
}

void TrainingLog::add(const EpochResult& epoch) {
    if (!file_.is_open()) return;
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
        if (epoch.validation->accuracy)
            line.set("validation_accuracy", *epoch.validation->accuracy);
    }
    unwritten_ += line.text() + "\n";
    if (const int error = write())
        std::fprintf(stderr,
                     "warning: cannot write '%s': %s; the training goes on, and tries again after "
                     "an epoch\n",
                     path_.c_str(), std::strerror(error));
}

void TrainingLog::finish() {
    if (unwritten_.empty()) return;
    if (const int error = write()) refuse_log(path_, error);
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
    progress_.update(static_cast<std::int64_t>(batches_done), with_numbers("loss %.4f", loss));
}

void EpochProgress::finish(const EpochResult& result) {
    std::string text =
        with_numbers("loss %.4f per token, %.0f tokens/s", result.loss, result.tokens_per_second);
    if (result.validation) text += held_out_text(*result.validation);
    progress_.finish(text);
}

}  // namespace fovea::runtime
