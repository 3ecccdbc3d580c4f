// What the pages name exists: files and folders, subcommands and options, functions of the
// language.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/main.h"
#include "runtime/runner/runner_main.h"
#include "tests/readme/pages.h"
#include "tests/runtime/translator/run_translator.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;

const fs::path kSources = FOVEA_SOURCE_DIR;

/// With a slash, and no path of the sources.
const std::set<std::string> kNoPaths = {"q·k / √width"};

/// Whether a text looks like a path from the root or from its page: no blanks, no capitals that
/// stand for a name of the user's, nothing that a build or a run makes.
bool is_path(const std::string& text) {
    if (text.find('/') == text.npos || kNoPaths.count(text)) return false;
    static const std::regex path("[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)*/?");
    static const std::regex placeholder("(^|.*/)[A-Z]{2,}([./].*|$)");
    if (!std::regex_match(text, path)) return false;
    return !text.starts_with("./") && !text.starts_with("build/") &&
           (text.find("README") != text.npos || !std::regex_match(text, placeholder));
}

bool is_there(const fs::path& path) {
    if (path.filename().string().find('*') == std::string::npos) return fs::exists(path);
    const std::string extension = path.extension().string();  // models/*.cpp
    if (!fs::is_directory(path.parent_path())) return false;
    const auto files = fs::directory_iterator(path.parent_path());
    return std::any_of(begin(files), end(files),
                       [&](const auto& file) { return file.path().extension() == extension; });
}

void check_path(const Span& span, const std::string& path) {
    const fs::path folder = (kSources / span.page).parent_path();
    const bool found = is_there(kSources / path) || is_there(folder / path);
    CHECK_MESSAGE(found, span.place() << ": there is no " << path);
}

using Main = int (*)(int, char**, const fovea::runtime::Model&);

/// What a built program's main function prints for `--help` of a subcommand (empty: of its own).
std::string help_of(Main main, const std::string& subcommand) {
    const fake::CurrentFolder folder;
    std::vector<std::string> words = {"program"};
    if (!subcommand.empty()) words.push_back(subcommand);
    words.push_back("--help");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const fovea::runtime::Model model{"model", {}, {}, {}, {}};
    std::fflush(stdout);
    {
        const fake::Redirection out(1, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
        main(int(words.size()), argv.data(), model);
        std::fflush(stdout);
    }
    return fake::read_text("stdout");
}

/// As the main function of a language model's program, one built with --lora.
int language_main(int argc, char** argv, const fovea::runtime::Model&) {
    return fovea::runtime::language_program(argc, argv, "llm", []() -> const auto& {
        static const fovea::runtime::Model model = [] {
            fovea::runtime::TensorSpec pair;
            pair.name = "layer.lora_A.weight";
            return fovea::runtime::Model{"model", {}, {}, {pair}, {}};
        }();
        return model;
    });
}

/// As the main function of the program of a model with a source.
int source_main(int argc, char** argv, const fovea::runtime::Model&) {
    return fovea::runtime::language_program(argc, argv, "t5", []() -> const auto& {
        static const fovea::runtime::Model model = [] {
            fovea::runtime::TensorSpec source;
            source.name = "src";
            fovea::runtime::Program prefill;
            prefill.name = "prefill";
            prefill.inputs = {source};
            return fovea::runtime::Model{"model", {}, {}, {}, {prefill}};
        }();
        return model;
    });
}

/// As the main function of an encoder's program.
int encoder_main(int argc, char** argv, const fovea::runtime::Model&) {
    return fovea::runtime::encoder_program(argc, argv, "encoder", []() -> const auto& {
        static const fovea::runtime::Model model{"model", {}, {}, {}, {}};
        return model;
    });
}

/// As the main function of a program that classifies images.
int classifier_main(int argc, char** argv, const fovea::runtime::Model&) {
    return fovea::runtime::classifier_program(argc, argv, "vit", []() -> const auto& {
        static const fovea::runtime::Model model{"model", {}, {}, {}, {}};
        return model;
    });
}

std::string help_of_fovea(const std::string& subcommand) {
    std::vector<std::string> command = {FOVEA_BINARY_DIR "/fovea"};
    if (!subcommand.empty()) command.push_back(subcommand);
    command.push_back("--help");
    return fovea::tool::run_process(command).output;
}

/// The help of `program subcommand`; empty where there is no such program.
std::string help_of(const std::string& program, const std::string& subcommand) {
    static std::map<std::string, std::string> known;
    const std::string name = fs::path(program).filename().string();
    auto [found, is_new] = known.try_emplace(name + " " + subcommand);
    if (!is_new) return found->second;
    if (name == "fovea") found->second = help_of_fovea(subcommand);
    if (name == "translator" || name == "seq")
        found->second = help_of(fovea::runtime::translator_main, subcommand);
    if (name == "llm") found->second = help_of(language_main, subcommand);
    if (name == "t5") found->second = help_of(source_main, subcommand);
    if (name == "encoder") found->second = help_of(encoder_main, subcommand);
    if (name == "vit") found->second = help_of(classifier_main, subcommand);
    if (name == "block") found->second = help_of(fovea::runtime::runner_main, subcommand);
    return found->second;
}

/// `--size` in `--size batch=4`; whether `help` has it.
bool has_option(const std::string& help, const std::string& option) {
    return std::regex_search(help, std::regex(option + "($|[^a-z0-9-])"));
}

bool is_name(const std::string& word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c); });
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// Checks the subcommand and the options of a call such as `build/fovea verify --all`.
void check_call(const std::string& place, const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    std::size_t at = 0;
    while (at < words.size() && help_of(words[at], "").empty()) ++at;
    if (at + 1 >= words.size()) return;
    const std::string &program = words[at], &subcommand = words[at + 1];
    if (!is_name(subcommand)) return;
    const bool known =
        std::regex_search(help_of(program, ""), std::regex("\n  " + subcommand + "  "));
    CHECK_MESSAGE(known, place << ": " << program << " has no subcommand " << subcommand);
    for (std::size_t i = at + 2; i < words.size() && known; ++i) {
        const std::string option = words[i].substr(0, words[i].find('='));
        if (!option.starts_with("--")) continue;
        CHECK_MESSAGE(has_option(help_of(program, subcommand), option),
                      place << ": " << program << " " << subcommand << " has no " << option);
    }
}

/// The options that a Python script may have: what it spells out, and those that it makes of names
/// (f"--{name}").
std::string options_of(const std::string& script) {
    if (script.find("f\"--{") == script.npos) return script;
    static const std::regex name("[\"( ]([a-z_]+)(\"[:,]|=)");
    std::string text = script;
    for (std::sregex_iterator at(script.begin(), script.end(), name), end; at != end; ++at)
        text += " --" + (*at)[1].str();
    return text;
}

/// All options that any program here has: what a page may name by itself.
std::string all_help() {
    std::string text = "--update ";  // of test programs
    for (const char* program : {"fovea", "translator", "llm", "t5", "encoder", "vit", "block"}) {
        const std::string own = help_of(program, "");
        text += own;
        static const std::regex subcommand("\n  ([a-z]+)  ");
        for (std::sregex_iterator at(own.begin(), own.end(), subcommand), end; at != end; ++at)
            text += help_of(program, (*at)[1]);
    }
    for (const auto& file : fs::recursive_directory_iterator(kSources / "tools")) {
        const std::string extension = file.path().extension().string();
        if (extension == ".sh") text += read_file(file.path());
        if (extension == ".py") text += options_of(read_file(file.path()));
    }
    return text;
}

/// Names of functions that a header offers to models: those outside of `detail`.
std::set<std::string> functions_of(const std::string& header) {
    static const std::regex function("(?:inline )?constexpr [A-Za-z<>, :]+ ([a-z_]+)\\(.*");
    std::set<std::string> names;
    bool inside = false;
    for (const std::string& line : lines_of(read_file(kSources / header))) {
        if (line == "namespace detail {") inside = true;
        if (line == "}  // namespace detail") inside = false;
        std::smatch match;
        if (!inside && std::regex_match(line, match, function)) names.insert(match[1]);
    }
    return names;
}

/// What rules and passes call, and models by another name.
const std::set<std::string> kInternal = {"unary",      "binary",         "reduce",
                                         "place_axes", "linear_product", "random"};

}  // namespace

TEST_CASE("files and folders that the pages name exist") {
    for (const Page& page : pages()) {
        for (const Span& span : page.spans)
            for (const std::string& word : words_of(span.text))
                if (is_path(word.substr(0, word.find(':'))))
                    check_path(span, word.substr(0, word.find(':')));
        for (const Span& link : page.links) {
            const std::string path = link.text.substr(0, link.text.find('#'));
            if (!path.empty() && !path.starts_with("http")) check_path(link, path);
        }
    }
}

TEST_CASE("subcommands and options that the pages name exist") {
    const std::string every = all_help();
    for (const Page& page : pages()) {
        for (const CodeBlock& block : page.blocks)
            if (block.language == "sh" || block.language == "console")
                for (const std::string& line : lines_of(block.text))
                    check_call(block.place(), line);
        for (const Span& span : page.spans) {
            check_call(span.place(), span.text);
            const std::string option = span.text.substr(0, span.text.find_first_of(" =|"));
            if (option.starts_with("--"))
                CHECK_MESSAGE(has_option(every, option), span.place()
                                                             << ": nothing has " << option);
        }
    }
}

TEST_CASE("the page of the language has every function of it") {
    const std::string page = read_file(kSources / "dsl/README.md");
    int found = 0;
    for (const std::string& line : lines_of(read_file(kSources / "dsl/fovea.h"))) {
        if (!line.starts_with("#include \"")) continue;
        for (const std::string& name : functions_of(line.substr(10, line.size() - 11))) {
            if (kInternal.count(name) || name.starts_with("operator")) continue;
            ++found;
            CHECK_MESSAGE(std::regex_search(page, std::regex("`[^`]*\\b" + name + "\\b[^`]*`")),
                          "dsl/README.md does not have " << name << " of " << line);
        }
    }
    CHECK(found >= 60);
}
