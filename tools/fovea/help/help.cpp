// `fovea help`: the help of a subcommand, as text, as a manual page, and for shells.
#include <fmt/format.h>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/files/make_folder.h"
#include "tools/fovea/help/completion.h"
#include "tools/fovea/help/man_page.h"

namespace fovea::tool {

namespace {

int print_candidates(const std::vector<std::string>& words) {
    for (const Candidate& candidate : completions(words))
        fmt::print("{}{}{}\n", candidate.word, candidate.what.empty() ? "" : "\t", candidate.what);
    return 0;
}

/// Those of man(1): fovea.1, fovea-show.1 and so on.
void write_pages(const std::string& folder) {
    make_folder(folder);
    runtime::write_file_atomically(folder + "/fovea.1", man_page());
    for (const auto make : commands()) {
        const Command command = make();
        runtime::write_file_atomically(fmt::format("{}/fovea-{}.1", folder, command.usage.command),
                                       man_page(command));
    }
}

int print_help(const Arguments& given) {
    const std::vector<std::string>& words = given.positional();
    if (given.has("complete")) return print_candidates(words);
    if (words.size() > 1)
        throw UserError(fmt::format("fovea help takes one {}", given.usage().positional));
    if (given.has("output")) {
        if (!given.has("man") || !words.empty())
            throw UserError(
                "--output is for the pages of all subcommands: fovea help --man -o DIR");
        write_pages(given.text("output"));
    } else if (given.has("completion")) {
        if (!words.empty())
            throw UserError("--completion is for all subcommands: name none beside it");
        fmt::print("{}", completion_script(given.choice("completion", completed_shells())));
    } else if (given.has("man")) {
        fmt::print("{}", words.empty() ? man_page() : man_page(find_command(words[0])));
    } else if (words.empty()) {
        fmt::print("{}", overview());
    } else {
        const Command command = find_command(words[0]);
        fmt::print("{}", help_text(command.usage, command.options));
    }
    return 0;
}

}  // namespace

Command help_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("man", "print a manual page, as roff");
    add("output,o", po::value<std::string>()->value_name("DIR"),
        "with --man: write the pages of all subcommands there");
    add("completion",
        po::value<std::string>()->value_name(fmt::format("{}", fmt::join(completed_shells(), "|"))),
        "print a script for this shell that completes command lines of fovea");
    add("complete",
        "print what the last of the words after -- may become, a line each, as those scripts ask");
    return {
        {"help",
         "explain a subcommand; manual pages, completion",
         kCommandArgument,
         "Prints what `fovea SUBCOMMAND --help` prints, or the list of all subcommands.\n"
         "What `cmake --install` installs has the manual pages and the completion already.",
         {{"a subcommand", "fovea help show"},
          {"its manual page", "fovea help show --man > fovea-show.1"},
          {"those of all subcommands", "fovea help --man -o man1"},
          {"completion in this shell, which is bash", "source <(fovea help --completion bash)"}},
         true},
        options,
        print_help};
}

}  // namespace fovea::tool
