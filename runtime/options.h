// Command-line options of built programs: declared once, parsed strictly, printed by --help.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::runtime {

/// The name that is fewest edits (insert, delete, replace, swap of neighbours) away from `name`,
/// the first such, a name that starts with it counting as one edit; empty when none is within a
/// third of its length (at least 2).
std::string nearest_name(std::string_view name, std::span<const std::string> names);

/// ` ; did you mean '…'?` without the blank, or nothing.
std::string suggestion(std::string_view name, std::span<const std::string> names);

/// The whole of `text` as a number; nullopt when it is none.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// What an option takes.
enum class OptionKind {
    flag,              // nothing
    text,              // not empty
    whole,             // a whole number from 0
    positive_whole,    // a whole number from 1
    number,            // any number that a float can hold
    number_from_zero,  // the same, from 0
    positive_number,   // the same, above 0 as a float too
    probability,       // from 0, below 1
};

inline constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();

/// One option. `--name VALUE` and `--name=VALUE`; `-x VALUE` when it has a short name. Texts are
/// those of the program, or outlive the options.
struct OptionSpec {
    const char* name = "";   // without the dashes
    OptionKind kind = OptionKind::flag;
    const char* value_name = "";  // for --help: FILE, N
    const char* help = "";
    const char* default_text = nullptr;  // checked like a given one; nullptr: none
    bool required = false, repeated = false;
    char short_name = 0;
    std::int64_t most = kMostWhole;  // of whole numbers
};

/// The options of one (sub)command. Declare, parse, then ask.
class Options {
  public:
    /// `command` as the user types it ("translator train"), `positional` as --help shows what else
    /// may stand there ("[SENTENCE…]"; empty: nothing may).
    Options(std::string command, std::string summary, std::string positional = {});

    Options& add(const OptionSpec& spec);
    /// A call for --help: what it is for, and what follows the command's name.
    Options& example(const char* what, const char* arguments);
    /// Parses what follows the command. `--` ends the options. UserError for an unknown option
    /// (with the nearest name), a missing or unfit value, one given twice, a required one that is
    /// absent, or a positional argument where none may stand. True when --help or -h was given:
    /// nothing else was then checked, and the caller prints `help()`.
    [[nodiscard]] bool parse(std::span<const char* const> arguments);
    std::string help() const;

    /// Whether it was given on the command line.
    bool given(const std::string& name) const;
    bool flag(const std::string& name) const { return given(name); }
    /// The value given or the default; InternalError when there is neither, or for a name that was
    /// not declared. `has` tells whether there is one.
    bool has(const std::string& name) const;
    std::string text(const std::string& name) const;
    std::int64_t integer(const std::string& name) const;
    double number(const std::string& name) const;
    /// All values of a repeated option, in order.
    std::vector<std::string> all(const std::string& name) const;
    const std::vector<std::string>& positional() const { return positional_; }

  private:
    const OptionSpec& spec_of(const std::string& name) const;
    const OptionSpec* find(std::string_view name) const;
    const OptionSpec& match(const std::string& argument, const std::string& name) const;
    void take(const OptionSpec& spec, std::string value);
    void verify_required() const;

    std::string command_, summary_, positional_help_;
    std::vector<OptionSpec> specs_;
    std::vector<std::pair<const char*, const char*>> examples_;
    std::map<std::string, std::vector<std::string>> values_;
    std::vector<std::string> positional_;
};

}  // namespace fovea::runtime
