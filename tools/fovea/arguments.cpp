// Parsing with Boost.Program_options, and its errors as sentences.
#include "tools/fovea/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "codegen/base/error.h"
#include "runtime/options.h"
#include "runtime/trainer/output_paths.h"

namespace fovea::tool {

namespace {

std::vector<std::string> option_names(const po::options_description& options) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    return names;
}

std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= list.size();) {
        std::size_t end = std::min(list.find(',', start), list.size());
        parts.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

}  // namespace

po::options_description with_help(const po::options_description& options) {
    po::options_description all = options;
    all.add_options()("help,h", "print this");
    return all;
}

std::string help_text(const Usage& usage, const po::options_description& options) {
    std::ostringstream text;
    text << "usage: fovea " << usage.command << (usage.positional.empty() ? "" : " ")
         << usage.positional << " [OPTIONS]\n"
         << usage.summary << "\n\n"
         << with_help(options) << "\nExamples:\n";
    for (const Example& example : usage.examples)
        text << "  " << example.what << "\n      " << example.command << "\n";
    return text.str();
}

std::string comma_list(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
    std::string nearest = runtime::nearest_name(name, names);
    return nearest.empty() ? "" : ": did you mean '" + nearest + "'?";
}

Arguments::Arguments(const Usage& usage, const po::options_description& options,
                     const std::vector<std::string>& arguments)
    : usage_(usage) {
    const po::options_description shown = with_help(options);
    po::options_description all;
    all.add(shown).add_options()("positional",
                                 po::value<std::vector<std::string>>()->default_value({}, ""));
    po::positional_options_description positional;
    positional.add("positional", usage.positional.empty() ? 0 : usage.many ? -1 : 1);
    auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    try {
        po::store(po::command_line_parser(arguments)
                      .options(all)
                      .positional(positional)
                      .style(style)
                      .run(),
                  values_);
        po::notify(values_);
    } catch (const po::unknown_option& error) {
        const std::string& name = error.get_option_name();
        throw UserError(fmt::format("unknown option '{}' of fovea {}{}", name, usage.command,
                                    did_you_mean(name, option_names(shown))));
    } catch (const po::too_many_positional_options_error&) {
        throw UserError(
            usage.positional.empty()
                ? fmt::format("fovea {} takes options only", usage.command)
                : fmt::format("fovea {} takes one {}", usage.command, usage.positional));
    } catch (const po::error& error) {
        throw UserError(fmt::format("fovea {}: {}", usage.command, error.what()));
    }
    help_ = has("help");
    if (help_) fmt::print("{}", help_text(usage, options));
}

const std::string& Arguments::text(const std::string& name) const {
    if (!has(name)) throw UserError(fmt::format("fovea {} needs --{}", usage_.command, name));
    return values_[name].as<std::string>();
}

std::string Arguments::text_or(const std::string& name, const std::string& other) const {
    return has(name) ? values_[name].as<std::string>() : other;
}

const std::vector<std::string>& Arguments::all(const std::string& name) const {
    static const std::vector<std::string> none;
    return has(name) ? values_[name].as<std::vector<std::string>>() : none;
}

std::string Arguments::choice(const std::string& name,
                              const std::vector<std::string>& choices) const {
    std::string value = text_or(name, choices.front());
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
    throw UserError(fmt::format("--{} takes {}, not '{}'", name, fmt::join(choices, "|"), value));
}

std::int64_t size_in(std::string_view text, const std::string& option, const std::string& form,
                     const std::string& given) {
    const auto size = runtime::parse_integer(text);
    if (size && *size >= kSizes.least && *size <= kSizes.most) return *size;
    throw UserError(fmt::format("--{} takes {} with sizes from {} to {}, not '{}'", option, form,
                                kSizes.least, kSizes.most, given));
}

std::int64_t Arguments::whole(const std::string& name, Range range, std::int64_t other) const {
    if (!has(name)) return other;
    const auto value = runtime::parse_integer(text(name));
    if (value && *value >= range.least && *value <= range.most) return *value;
    throw UserError(fmt::format("--{} takes a whole number from {} to {}, not '{}'", name,
                                range.least, range.most, text(name)));
}

std::vector<std::string> Arguments::list(const std::string& name) const {
    return has(name) ? parts_of(text(name)) : std::vector<std::string>{};
}

void Arguments::verify_writable(std::initializer_list<const char*> names) const {
    for (const char* name : names)
        if (has(name)) runtime::verify_writable(text(name));
}

std::vector<std::string> Arguments::sizes() const {
    std::vector<std::string> sizes;
    for (const std::string& value : all("size"))
        for (std::string& size : parts_of(value)) sizes.push_back(std::move(size));
    return sizes;
}

const std::string& Arguments::model() const {
    if (positional().empty())
        throw UserError(
            fmt::format("fovea {} needs a model: a name that `fovea models` lists, or "
                        "FILE.cpp:FUNCTION",
                        usage_.command));
    return positional().front();
}

SettingValues Arguments::settings() const {
    SettingValues settings;
    for (const std::string& text : all(kSetOption)) {
        std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw UserError(fmt::format("--set takes NAME=VALUE, not '{}'", text));
        std::string name = text.substr(0, equals);
        for (const auto& [known, value] : settings)
            if (known == name) throw UserError(fmt::format("setting '{}' is given twice", name));
        settings.emplace_back(name, text.substr(equals + 1));
    }
    return settings;
}

void add_settings_option(po::options_description& options) {
    options.add_options()(kSetOption,
                          po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
                          "a setting of the model; repeatable");
    options.add_options()(
        kCheckpointOption, po::value<std::string>()->value_name("DIR"),
        "folder of a checkpoint (save_pretrained of transformers): other settings "
        "are those of its config.json");
}

void add_size_option(po::options_description& options, const std::string& what_for) {
    options.add_options()("size", po::value<std::vector<std::string>>()->value_name("DIM=N,…"),
                          (what_for + "; repeatable").c_str());
}

}  // namespace fovea::tool
