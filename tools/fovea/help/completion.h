// What may follow on a command line that is being typed, and the scripts of shells that ask for it.
#pragma once

#include <string>
#include <vector>

namespace fovea::tool {

struct Candidate {
    std::string word;
    std::string what;  // it is, in a few words; empty where the word says it
};

/// What the last of `words`, those behind `fovea`, may become: subcommands, options, the values of
/// options, models, settings of the model on the line. Empty where a file may stand, or nothing.
std::vector<Candidate> completions(const std::vector<std::string>& words);

/// Completion for `shell`, one of `completed_shells`.
std::string completion_script(const std::string& shell);
std::vector<std::string> completed_shells();

}  // namespace fovea::tool
