// What --help says is so: its examples run; pages and completion come from it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>

#include "runtime/safetensors.h"
#include "tests/examples.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using namespace fovea::test;
using fovea::tool::find_program;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The first words of the lines that `fovea --help` lists.
std::vector<std::string> subcommands() {
    std::vector<std::string> names;
    for (const std::string& line : lines_in(run_fovea({"--help"}).output))
        if (line.starts_with("  ")) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
}

/// A shell's command in `folder`, with `programs` before all other folders of programs.
ProcessResult run_shell(const fs::path& folder, const fs::path& programs,
                        const std::string& command) {
    return run_process(
        {"env", "FOVEA_CXXFLAGS=-O0", "bash", "-c",
         "cd '" + folder.string() + "' && PATH='" + programs.string() + "':$PATH && " + command});
}

/// Of my_model.cpp.
void write_weights(const fs::path& file) {
    const std::vector<float> values(40 * 32, 0.5F);
    std::vector<fovea::runtime::TensorView> tensors;
    const auto add = [&](const char* name, const std::vector<std::int64_t>& shape) {
        std::size_t count = 1;
        for (const std::int64_t size : shape) count *= std::size_t(size);
        tensors.push_back(fovea::runtime::f32_tensor(name, shape, std::span(values).first(count)));
    };
    add("embedding.weight", {40, 32});
    add("norm.weight", {32});
    add("norm.bias", {32});
    add("dense.weight", {32, 32});
    add("dense.bias", {32});
    add("out.weight", {5, 32});
    add("out.bias", {5});
    fovea::runtime::write_safetensors(file.string(), tensors);
}

/// The files that the examples read.
void write_inputs(const fs::path& folder) {
    const fs::path source = FOVEA_SOURCE_DIR;
    fs::copy_file(source / "tests/package/project/my_model.cpp", folder / "my_model.cpp");
    fs::copy_file(source / "tests/package/project/tags.h", folder / "tags.h");
    fs::copy_file(source / "tests/parity/masked_softmax-0/inputs.safetensors",
                  folder / "inputs.safetensors");
    fs::copy_file(source / "tests/golden/tokens/gpt2.json", folder / "tokenizer.json");
    write_weights(folder / "weights.safetensors");
}

/// What bash or zsh would offer behind `line`.
std::vector<std::string> completed(const std::string& line) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "script") << R"(
source <(fovea help --completion bash)
compopt() { echo "compopt $*"; }
COMP_LINE=$1 COMP_POINT=${#1}
_fovea fovea
[[ ${#COMPREPLY[@]} == 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
)";
    return lines_in(
        run_shell(folder.path(), FOVEA_BINARY_DIR, "bash script '" + line + "'").output);
}

using Words = std::vector<std::string>;

bool is_installed(const std::string& name) {
    if (!find_program(name).empty()) return true;
    MESSAGE("skipped: ", name, " is not installed");
    return false;
}

bool has_word(const Words& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

TEST_CASE("every subcommand has examples, and they run") {
    const TemporaryFolder folder;
    write_inputs(folder.path());
    unsigned turn = fovea::test::random_seed();
    for (const std::string& name : subcommands()) {
        const std::vector<ShownExample> examples = examples_in(run_fovea({name, "--help"}).output);
        CHECK_MESSAGE(examples.size() >= 2, name);
        for (const ShownExample& example : examples) {
            CAPTURE(example.command);
            CHECK(example.command.find("fovea " + name) != std::string::npos);
            // What takes long is parsed, and not done; so is every other one, unless FOVEA_WHOLE
            // is set.
            const bool runs = std::getenv("FOVEA_WHOLE") || turn++ % 2;
            const std::string more = example.takes_long() || !runs ? " --help" : "";
            const ProcessResult result =
                run_shell(folder.path(), FOVEA_BINARY_DIR, example.command + more);
            CHECK_MESSAGE(result.status == 0, result.output);
        }
    }
}

TEST_CASE("help of a subcommand is what it prints by itself, and pages are roff without a fault") {
    const TemporaryFolder folder;
    const bool has_groff = is_installed("groff");
    const fs::path pages = folder.path() / "man1";
    REQUIRE(run_fovea({"help", "--man", "-o", pages.string()}).status == 0);
    Words names = subcommands();
    CHECK(std::ranges::distance(fs::directory_iterator(pages), fs::directory_iterator{}) ==
          std::ptrdiff_t(names.size() + 1));
    names.insert(names.begin(), "");
    for (const std::string& name : names) {
        CAPTURE(name);
        const Words words = name.empty() ? Words{"help"} : Words{"help", name};
        const std::string help = run_fovea(words).output;
        if (!name.empty()) CHECK(help == run_fovea({name, "--help"}).output);
        Words man = words;
        man.emplace_back("--man");
        const std::string page = run_fovea(man).output;
        const fs::path file = pages / (name.empty() ? "fovea.1" : "fovea-" + name + ".1");
        CHECK(page == read_text(file));
        if (!has_groff) continue;
        const ProcessResult set =
            run_process({"groff", "-ww", "-man", "-Tascii", "-z", file.string()});
        CHECK(set.status == 0);
        CHECK(set.output == "");
        // Each option of the help is an item of the page.
        const std::string text =
            run_process({"groff", "-man", "-Tascii", "-P-cbou", "-rLL=300n", file.string()}).output;
        std::istringstream stream(help.substr(0, help.find("\nExamples:\n")));
        for (std::string word; stream >> word;)
            if (word.starts_with("--") && word.size() > 2 && std::isalpha(word[2]))
                CHECK_MESSAGE(text.find(word.substr(0, word.find_first_of(";,."))) != text.npos,
                              word);
        for (const ShownExample& example : examples_in(help))
            CHECK_MESSAGE(text.find(example.command) != text.npos, example.command);
    }
}

TEST_CASE("the manual page has every environment variable that is read, and no other") {
    const fs::path sources = FOVEA_SOURCE_DIR;
    std::set<std::string> read, of_programs;
    for (const char* folder : {"codegen", "runtime", "tools/fovea"})
        for (const fs::directory_entry& file : fs::recursive_directory_iterator(sources / folder)) {
            if (file.path().extension() != ".cpp" && file.path().extension() != ".h") continue;
            const std::string text = read_text(file.path());
            const std::string call = "getenv(\"";
            for (std::size_t at = text.find(call); at != text.npos; at = text.find(call, at + 1)) {
                const std::size_t start = at + call.size();
                const std::string name = text.substr(start, text.find('"', start) - start);
                read.insert(name);
                if (folder == std::string("runtime")) of_programs.insert(name);
            }
        }
    CHECK(read.size() > 8);
    const std::string page = run_fovea({"help", "--man"}).output;
    const std::size_t start = page.find(".SH ENVIRONMENT\n"), end = page.find(".SH EXIT STATUS\n");
    REQUIRE(start < end);
    const std::size_t programs = page.find("Built programs read these too:\n", start);
    std::set<std::string> listed, listed_of_programs;
    for (std::size_t at = page.find("\n.B ", start); at < end; at = page.find("\n.B ", at + 1)) {
        const std::string name = page.substr(at + 4, page.find('\n', at + 4) - at - 4);
        listed.insert(name);
        if (at > programs) listed_of_programs.insert(name);
    }
    CHECK(listed == read);
    CHECK(listed_of_programs == of_programs);
}

TEST_CASE("completion in bash: subcommands, options, their values, models, settings") {
    if (!is_installed("bash")) return;
    Words all = subcommands();
    all.insert(all.end(), {"--help", "--version"});
    CHECK(completed("fovea ") == all);
    CHECK(completed("fovea sh") == Words{"show"});
    CHECK(has_word(completed("fovea show "), "add_norm"));
    CHECK(completed("fovea show add_") == Words{"add_norm"});
    CHECK(completed("fovea help do") == Words{"doctor"});
    for (const std::string& name : subcommands()) {
        const Words options = completed("fovea " + name + " --");
        CHECK(has_word(options, "--help"));
        const std::string help = run_fovea({name, "--help"}).output;
        for (const std::string& option : options)
            CHECK_MESSAGE(help.find(option) != help.npos, name << " " << option);
    }
    CHECK(has_word(completed("fovea show add_norm --stage "), "fused"));
    CHECK(completed("fovea show add_norm --stage k") == Words{"kernels"});
    CHECK(completed("fovea show add_norm --stage=k") == Words{"kernels"});  // behind the =
    CHECK(completed("fovea build add_norm --isa n") == Words{"neon", "native"});
    CHECK(completed("fovea show transformer --set dr") == Words{"compopt -o nospace", "dropout="});
    CHECK(completed("fovea show transformer --set dtype=b") == Words{"bf16"});
    CHECK(completed("fovea show transformer --set bias=") == Words{"true", "false"});
    CHECK(completed("fovea show --set layers=1 transformer --set he") ==
          Words{"compopt -o nospace", "heads="});
    CHECK(completed("fovea show add_norm --stage plan --size ba") ==
          Words{"compopt -o nospace", "batch="});
    CHECK(completed("fovea compare masked_softmax --sweep q") ==
          Words{"compopt -o nospace", "queries="});
    // What is set has no name of its own any more.
    CHECK(has_word(completed("fovea report transformer --size "), "src_vocab="));
    CHECK(
        !has_word(completed("fovea report transformer --set src_vocab=40 --size "), "src_vocab="));
    CHECK(completed("fovea show transformer --program ev") == Words{"evaluate"});
    CHECK(has_word(completed("fovea show transformer --program "), "gradient"));
    CHECK(!has_word(completed("fovea show masked_softmax --program "), "evaluate"));
    // Files and what nobody knows are the shell's.
    for (const char* line : {"fovea show my_model.cp", "fovea run --inputs ", "fovea nothing ",
                             "fovea show add_norm --stage nothing", "fovea show my.cpp:f --set ",
                             "fovea show my.cpp:f --size ", "fovea show my.cpp:f --program ",
                             "fovea show add_norm --set hidden=x --size "})
        CHECK(completed(line) == Words{});
}

TEST_CASE("completion in zsh is its own language, and offers the same") {
    if (!is_installed("zsh")) return;
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "script") << R"(
compdef() { }
_files() { echo files; }
_describe() { print -l -- "${(@P)2}"; }
fovea help --completion zsh > _fovea
zsh -n _fovea || exit 1
source ./_fovea
words=("$@") CURRENT=$#
_fovea
)";
    const auto offered = [&](const std::string& words) {
        return lines_in(
            run_shell(folder.path(), FOVEA_BINARY_DIR, "zsh -f script fovea " + words).output);
    };
    CHECK(offered("sh") == Words{"show:print a model at any stage of its way to C++"});
    CHECK(offered("show x --stage k") == Words{"kernels"});
    CHECK(offered("show transformer --set dr") == Words{"dropout=:number"});
    CHECK(offered("show my_mo") == Words{"files"});
}

TEST_CASE("mistakes of help") {
    const auto says = [](const Words& words, const std::string& text) {
        const ProcessResult result = run_fovea(words);
        CHECK(result.status == 2);
        CHECK(result.output == "fovea: " + text + "\n");
    };
    says({"help", "shw"}, "unknown subcommand 'shw': did you mean 'show'? fovea --help lists them");
    says({"help", "show", "run"}, "fovea help takes one [SUBCOMMAND]");
    says({"help", "--completion", "fish"}, "--completion takes bash|zsh, not 'fish'");
    says({"help", "--completion", "zsh", "show"},
         "--completion is for all subcommands: name none beside it");
    says({"help", "--man", "show", "-o", "man1"},
         "--output is for the pages of all subcommands: fovea help --man -o DIR");
}

TEST_CASE("the version is the project's, and a program says whose it is") {
    const std::string lists = read_text(FOVEA_SOURCE_DIR "/CMakeLists.txt");
    const std::size_t at = lists.find("project(fovea VERSION ") + 22;
    const std::string version = "fovea " + lists.substr(at, lists.find(' ', at) - at);
    const std::string said = run_fovea({"--version"}).output;
    CHECK(said.starts_with(version + "\ncompiled by "));
    CHECK(said.find("LLVM") != std::string::npos);

    const TemporaryFolder folder;
    write_inputs(folder.path());
    const std::string program = (folder.path() / "norm").string();
    REQUIRE(run_fovea({"build", "masked_softmax", "--isa", "baseline", "-o", program},
                      {"FOVEA_CXXFLAGS=-O0"})
                .status == 0);
    const ProcessResult own = run_process({program, "--version"});
    CHECK(own.status == 0);
    CHECK(own.output.starts_with("masked_softmax, written by " + version + "\ncompiled by "));
    CHECK(own.output.find("; takes baseline on this machine\nweights of format 1\n") !=
          std::string::npos);

    std::size_t run = 0;
    for (const char* command : {"run", "bench", "describe"})
        for (const ShownExample& example :
             examples_in(run_process({program, command, "--help"}).output)) {
            CAPTURE(example.command);
            // The model has no parameters, so that no weights are there to read.
            if (example.command.find("--weights") != std::string::npos) continue;
            ++run;
            const ProcessResult result = run_shell(folder.path(), folder.path(), example.command);
            CHECK_MESSAGE(result.status == 0, result.output);
        }
    CHECK(run == 5);
}

TEST_CASE("nothing is printed in colours, on a terminal neither") {
    if (!is_installed("script")) return;
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "wrong.cpp")
        << "#include <fovea.h>\nint broken = missing;\nconstexpr void wrong(fovea::Scope) {}\n";
    for (const std::string command :
         {"fovea --help", "fovea nothing", "fovea show wrong.cpp:wrong", "fovea models",
          "fovea verify masked_softmax --target reference", "fovea doctor"}) {
        CAPTURE(command);
        const std::string printed =
            run_shell(folder.path(), FOVEA_BINARY_DIR,
                      "env -u NO_COLOR GCC_COLORS='error=01;31' TERM=xterm-256color script -qec '" +
                          command + "' /dev/null")
                .output;
        CHECK(printed.size() > 20);
        // The line of progress takes itself away by ESC [ K; colours would be ESC [ … m.
        for (std::size_t at = 0; (at = printed.find('\x1b', at)) != printed.npos; ++at)
            CHECK(printed.substr(at, 3) == "\x1b[K");
    }
}
