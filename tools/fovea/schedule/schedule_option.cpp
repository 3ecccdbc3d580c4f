// Schedules are read line by line; a later line counts.
#include "tools/fovea/schedule/schedule_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "codegen/base/error.h"
#include "codegen/target/schedule.h"
#include "runtime/files/files.h"

namespace fovea::tool {

namespace {

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == text.npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(" \t\r") + 1 - first));
}

const target::ScheduleEntry& find_field(const std::string& name, const std::string& place) {
    const auto& entries = target::schedule_entries();
    const auto found = std::ranges::find(entries, name, &target::ScheduleEntry::name);
    if (found != entries.end()) return *found;
    std::vector<std::string> names;
    for (const target::ScheduleEntry& entry : entries) names.push_back(entry.name);
    const std::string nearest = did_you_mean(name, names);
    throw UserError(fmt::format("{}: a schedule has no number '{}'{}", place, name,
                                nearest.empty() ? "; --stage schedule prints all" : nearest));
}

double number_in(const std::string& text, const target::ScheduleEntry& entry,
                 const std::string& place) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !target::takes(entry.limits, value))
        throw UserError(fmt::format("{}: {} is {}, not '{}'", place, entry.name,
                                    target::text_of(entry.limits), text));
    return value;
}

}  // namespace

void add_schedule_option(po::options_description& options) {
    options.add_options()("schedule", po::value<std::string>()->value_name("FILE"),
                          "numbers of the target to change: lines `name = value`, as "
                          "fovea show MODEL --stage schedule prints them");
}

void read_schedule(const std::string& text, const std::string& file, target::Targets& targets) {
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const std::string place = fmt::format("{}:{}", file, number);
        const std::string content = trimmed(line.substr(0, line.find('#')));
        if (content.empty()) continue;
        const std::size_t equals = content.find('=');
        if (equals == content.npos)
            throw UserError(fmt::format("{}: '{}' is no line `name = value`", place, content));
        const target::ScheduleEntry& field = find_field(trimmed(content.substr(0, equals)), place);
        field.set(targets, number_in(trimmed(content.substr(equals + 1)), field, place));
    }
}

target::Targets targets_of(const Arguments& given) {
    target::Targets targets;
    if (!given.has("schedule")) return targets;
    const std::string& file = given.text("schedule");
    const std::vector<std::byte> bytes = runtime::read_file(file);
    read_schedule({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file, targets);
    return targets;
}

}  // namespace fovea::tool
