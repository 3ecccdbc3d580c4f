#include "tools/fovea/report/training_log.h"

#include <fmt/format.h>

#include <filesystem>

#include "codegen/base/error.h"
#include "runtime/error.h"
#include "runtime/files/files.h"
#include "runtime/files/json.h"

namespace fovea::tool {

namespace {

using runtime::Json;

/// A number of a line; nothing where it is null or absent.
std::optional<double> logged_number(const Json& line, const char* key) {
    const Json* value = line.find(key);
    if (!value || value->is_null()) return std::nullopt;
    return value->number();
}

LoggedEpoch logged_epoch(std::string_view text) {
    const Json line = runtime::parse_json(text);
    if (!line.is_object() || !line.find("epoch") || !line.find("loss"))
        throw UserError(R"(expected {"epoch": …, "loss": …}, as `train --log` writes it)");
    return {.epoch = line.find("epoch")->number(),
            .loss = logged_number(line, "loss"),
            .validation_loss = logged_number(line, "validation_loss"),
            .grad_norm = logged_number(line, "grad_norm"),
            .learning_rate = logged_number(line, "learning_rate"),
            .tokens_per_second = logged_number(line, "tokens_per_second")};
}

}  // namespace

LoggedTraining read_training_log(const std::string& path) {
    const std::vector<std::byte> bytes = runtime::read_file(path);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    LoggedTraining training{.name = std::filesystem::path(path).filename().string(), .epochs = {}};
    int number = 1;
    for (std::size_t start = 0; start < text.size(); ++number) {
        const std::size_t end = text.find('\n', start);
        const bool is_whole = end != text.npos;
        const std::string_view line = text.substr(start, is_whole ? end - start : end);
        start = is_whole ? end + 1 : text.size();
        if (line.empty()) continue;
        try {
            training.epochs.push_back(logged_epoch(line));
        } catch (const std::runtime_error& error) {
            if (!is_whole && !training.epochs.empty()) break;
            throw UserError(fmt::format("{}:{}: {}", path, number, error.what()));
        }
    }
    if (training.epochs.empty()) throw UserError(fmt::format("'{}' has no epochs", path));
    return training;
}

}  // namespace fovea::tool
