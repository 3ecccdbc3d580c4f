// Command lines of subcommands: Boost.Program_options with errors that name the nearest option.
#pragma once

#include <boost/program_options.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/settings.h"

namespace fovea::tool {

namespace po = boost::program_options;

/// A call that runs as it stands.
struct Example {
    std::string what;  // it is for; `…; takes minutes` where it goes on for so long
    std::string command;
};

/// How a subcommand is called.
struct Usage {
    std::string command;     // `show`
    std::string brief;       // in the list of all subcommands
    std::string positional;  // `MODEL`; empty: none
    std::string summary;
    std::vector<Example> examples;
    bool many = false;  // several positional arguments may stand
};

/// The least and the largest number that an option takes.
struct Range {
    std::int64_t least, most;
};
inline constexpr Range kThreads{1, 1024};
/// Seeds and steps: any number that is not negative.
inline constexpr Range kCounts{0, std::numeric_limits<std::int64_t>::max()};

/// Sizes of dims, as those of settings.
inline constexpr Range kSizes{1, kMostSize};
/// The size in `text`, one of `option`, which takes `form` (`DIM=N`). UserError for another number.
std::int64_t size_in(std::string_view text, const std::string& option, const std::string& form,
                     const std::string& given);

class Arguments {
  public:
    /// UserError for what does not fit. `--help` prints the usage, and `help()` is then true.
    Arguments(const Usage& usage, const po::options_description& options,
              const std::vector<std::string>& arguments);

    const Usage& usage() const { return usage_; }
    bool help() const { return help_; }
    bool has(const std::string& name) const { return values_.count(name) != 0; }
    const std::string& text(const std::string& name) const;
    std::string text_or(const std::string& name, const std::string& other) const;
    const std::vector<std::string>& all(const std::string& name) const;
    /// The value, one of `choices`; the first when the option was not given.
    std::string choice(const std::string& name, const std::vector<std::string>& choices) const;
    bool on(const std::string& name) const { return choice(name, {"on", "off"}) == "on"; }
    /// A whole number in `range`, or `other` when the option was not given.
    std::int64_t whole(const std::string& name, Range range, std::int64_t other) const;
    /// The parts of a comma-separated list; empty when the option was not given.
    std::vector<std::string> list(const std::string& name) const;

    const std::vector<std::string>& positional() const { return all("positional"); }
    /// The one positional argument; UserError when it is missing.
    const std::string& model() const;
    /// `--set NAME=VALUE`.
    SettingValues settings() const;
    /// The `DIM=N` of all `--size`.
    std::vector<std::string> sizes() const;
    /// UserError where a file that one of these options names could not be written.
    void verify_writable(std::initializer_list<const char*> names) const;

  private:
    Usage usage_;
    po::variables_map values_;
    bool help_ = false;
};

/// `options` and `--help`, as all subcommands take it.
po::options_description with_help(const po::options_description& options);

/// What `--help` prints.
std::string help_text(const Usage& usage, const po::options_description& options);

/// The option of settings.
inline constexpr const char* kSetOption = "set";
/// That of a folder which has settings and weights.
inline constexpr const char* kCheckpointOption = "checkpoint";
/// `positional` where it is a subcommand.
inline constexpr const char* kCommandArgument = "[SUBCOMMAND]";

/// Adds `--set` and `--checkpoint`.
void add_settings_option(po::options_description& options);
/// Adds `--size`, which is repeatable and takes lists, with what it is for.
void add_size_option(po::options_description& options, const std::string& what_for);

/// `names` as a sentence has them: `a, b, c`.
std::string comma_list(const std::vector<std::string>& names);

/// `: did you mean 'hidden'?`, or nothing.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);

}  // namespace fovea::tool
