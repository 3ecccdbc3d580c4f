// Parsing and help of command-line options.
#include "options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "error.h"
#include "files/number_text.h"

namespace fovea::runtime {
namespace {

bool is_whole(OptionKind kind) {
    return kind == OptionKind::whole || kind == OptionKind::positive_whole;
}

/// What a value should be, in words; empty for those that take any.
std::string expectation(const OptionSpec& spec) {
    switch (spec.kind) {
        case OptionKind::flag:
        case OptionKind::text: return "";
        case OptionKind::whole: return "a whole number from 0 to " + std::to_string(spec.most);
        case OptionKind::positive_whole:
            return "a whole number from 1 to " + std::to_string(spec.most);
        case OptionKind::number: return "a number, at most 3.4e38 in magnitude";
        case OptionKind::number_from_zero: return "a number from 0 to 3.4e38";
        case OptionKind::positive_number: return "a number from 1.2e-38 to 3.4e38";
        case OptionKind::probability: return "a number from 0 and below 1";
    }
    return "";
}

bool is_fit(const OptionSpec& spec, std::string_view text) {
    using Float = std::numeric_limits<float>;
    const auto integer = parse_integer(text);
    const auto number = parse_number(text);
    const bool is_float = number && std::abs(*number) <= double(Float::max());
    switch (spec.kind) {
        case OptionKind::flag: return true;
        case OptionKind::text: return !text.empty();
        case OptionKind::whole: return integer && *integer >= 0 && *integer <= spec.most;
        case OptionKind::positive_whole: return integer && *integer >= 1 && *integer <= spec.most;
        case OptionKind::number: return is_float;
        case OptionKind::number_from_zero: return is_float && *number >= 0;
        case OptionKind::positive_number: return is_float && *number >= double(Float::min());
        case OptionKind::probability: return number && *number >= 0 && *number < 1;
    }
    return false;
}

[[noreturn]] void fail_without_value(const OptionSpec& spec) {
    throw UserError("option '--{}' needs a value, {}", {spec.name, spec.value_name});
}

void verify_value(const OptionSpec& spec, const std::string& text) {
    if (is_fit(spec, text)) return;
    if (spec.kind == OptionKind::text) fail_without_value(spec);
    throw UserError("option '--{}' expects {}, not '{}'", {spec.name, expectation(spec), text});
}

bool is_same_but_for_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 'a' - 'A') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

/// Damerau's distance, restricted to one edit per place (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

std::string left_column(const OptionSpec& spec) {
    std::string text = "  ";
    if (spec.short_name) text.append({'-', spec.short_name, ',', ' '});
    text += "--";
    text += spec.name;
    if (spec.kind != OptionKind::flag) (text += ' ') += spec.value_name;
    return text;
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> names) {
    std::string nearest;
    std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const std::string& candidate : names) {
        if (is_same_but_for_case(name, candidate)) return candidate;
        const bool is_start = name.size() > 1 && candidate.starts_with(name);
        const std::size_t distance = is_start ? 1 : edit_distance(name, candidate);
        if (distance >= least || distance >= candidate.size()) continue;
        least = distance;
        nearest = candidate;
    }
    return nearest;
}

std::string suggestion(std::string_view name, std::span<const std::string> names) {
    const std::string nearest = nearest_name(name, names);
    return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> parse_number(std::string_view text) {
    std::size_t length = 0;
    const double value = read_number(text, length);
    if (length == 0 || length != text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

Options::Options(std::string command, std::string summary, std::string positional)
    : command_(std::move(command)),
      summary_(std::move(summary)),
      positional_help_(std::move(positional)) {}

Options& Options::add(const OptionSpec& spec) {
    if (find(spec.name)) throw InternalError("option '--{}' is declared twice", {spec.name});
    if (spec.default_text) verify_value(spec, spec.default_text);
    specs_.push_back(spec);
    return *this;
}

Options& Options::example(const char* what, const char* arguments) {
    examples_.emplace_back(what, arguments);
    return *this;
}

const OptionSpec* Options::find(std::string_view name) const {
    for (const OptionSpec& spec : specs_) {
        if (spec.name == name) return &spec;
    }
    return nullptr;
}

const OptionSpec& Options::spec_of(const std::string& name) const {
    if (const OptionSpec* spec = find(name)) return *spec;
    throw InternalError("option '--{}' is not declared", {name});
}

/// The option that `argument` (`--name`, `--name=…` or `-x`) means.
const OptionSpec& Options::match(const std::string& argument, const std::string& name) const {
    if (argument.starts_with("--")) {
        if (const OptionSpec* spec = find(name)) return *spec;
        std::vector<std::string> names = {"help"};
        for (const OptionSpec& spec : specs_) names.emplace_back(spec.name);
        const std::string nearest = nearest_name(name, names);
        throw UserError("unknown option '--{}'{}",
                        {name, nearest.empty() ? "; " + command_ + " --help lists them"
                                               : "; did you mean '--" + nearest + "'?"});
    }
    for (const OptionSpec& spec : specs_) {
        if (argument.size() == 2 && argument[1] == spec.short_name) return spec;
    }
    throw UserError("unknown option '{}'; {} --help lists them", {argument, command_});
}

void Options::take(const OptionSpec& spec, std::string value) {
    verify_value(spec, value);
    std::vector<std::string>& values = values_[spec.name];
    if (!values.empty() && !spec.repeated && spec.kind != OptionKind::flag) {
        throw UserError("option '--{}' is given twice, with '{}' and '{}'",
                        {spec.name, values.front(), value});
    }
    values.push_back(std::move(value));
}

bool Options::parse(std::span<const char* const> arguments) {
    bool only_positional = false;
    std::vector<std::string> texts(arguments.begin(), arguments.end());
    for (const std::string& text : texts) {
        if (text == "--") break;
        if (text == "--help" || text == "-h") return true;
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& argument = texts[i];
        const bool is_number = parse_number(argument).has_value();
        if (!only_positional && argument == "--") {
            only_positional = true;
        } else if (only_positional || argument.size() < 2 || argument[0] != '-' || is_number) {
            if (positional_help_.empty()) {
                throw UserError("unexpected argument '{}'; {} takes options only",
                                {argument, command_});
            }
            positional_.push_back(argument);
        } else {
            const std::size_t equals =
                argument.starts_with("--") ? argument.find('=') : std::string::npos;
            const OptionSpec& spec = match(
                argument, argument.substr(2, equals == std::string::npos ? equals : equals - 2));
            if (spec.kind == OptionKind::flag) {
                if (equals != std::string::npos) {
                    throw UserError("option '--{}' takes no value", {spec.name});
                }
                take(spec, "true");
            } else if (equals != std::string::npos) {
                take(spec, argument.substr(equals + 1));
            } else if (i + 1 < texts.size() && !texts[i + 1].starts_with("--")) {
                take(spec, texts[++i]);
            } else {
                fail_without_value(spec);
            }
        }
    }
    verify_required();
    return false;
}

void Options::verify_required() const {
    for (const OptionSpec& spec : specs_) {
        if (spec.required && !given(spec.name)) {
            throw UserError("{} needs the option '--{} {}'",
                            {command_, spec.name, spec.value_name});
        }
    }
}

bool Options::given(const std::string& name) const { return values_.contains(spec_of(name).name); }

bool Options::has(const std::string& name) const {
    return given(name) || spec_of(name).default_text;
}

std::string Options::text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second.back();
    const OptionSpec& spec = spec_of(name);
    if (!spec.default_text) throw InternalError("option '--{}' has no value", {name});
    return spec.default_text;
}

std::int64_t Options::integer(const std::string& name) const {
    return parse_integer(text(name)).value();
}

double Options::number(const std::string& name) const { return parse_number(text(name)).value(); }

std::vector<std::string> Options::all(const std::string& name) const {
    const auto found = values_.find(spec_of(name).name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::string Options::help() const {
    std::string text = "usage: " + command_;
    for (const OptionSpec& spec : specs_) {
        if (spec.required) text += std::string(" --") + spec.name + " " + spec.value_name;
    }
    text += " [OPTIONS]";
    if (!positional_help_.empty()) text += " " + positional_help_;
    text += "\n" + summary_ + "\n\n";
    std::size_t width = 0;
    for (const OptionSpec& spec : specs_) width = std::max(width, left_column(spec).size());
    for (const OptionSpec& spec : specs_) {
        std::string line = left_column(spec);
        line.append(width - line.size() + 2, ' ');
        line += spec.help;
        if (is_whole(spec.kind) && spec.most != kMostWhole)
            line += ", at most " + std::to_string(spec.most);
        if (spec.required) line += " (required)";
        if (spec.repeated) line += " (may be given several times)";
        if (spec.default_text) line += std::string(" (default ") + spec.default_text + ")";
        text += line + "\n";
    }
    if (!examples_.empty()) text += "\nExamples:\n";
    for (const auto& [what, arguments] : examples_) {
        text += std::string("  ") + what + "\n      " + command_;
        text += (*arguments ? " " : "") + std::string(arguments) + "\n";
    }
    return text;
}

}  // namespace fovea::runtime
