// The examples of --help.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace fovea::test {

struct ShownExample {
    std::string what, command;

    bool takes_long() const { return what.find("; takes ") != what.npos; }
};

/// Those of a command's help, in their order.
inline std::vector<ShownExample> examples_in(const std::string& help) {
    std::vector<ShownExample> examples;
    std::istringstream lines(help);
    std::string line, what;
    while (std::getline(lines, line) && line != "Examples:") {
    }
    while (std::getline(lines, line)) {
        const std::size_t first = line.find_first_not_of(' ');
        if (first == 2) what = line.substr(first);
        if (first == 6) examples.push_back({what, line.substr(first)});
    }
    return examples;
}

}  // namespace fovea::test
