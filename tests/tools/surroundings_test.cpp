// What surrounds the command: the user's language, temporary folders, signals, names of files.
#include <doctest/doctest.h>

#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

constexpr const char* kWideModel = R"(#include "fovea.h"
#include "width.h"
using namespace fovea;
constexpr void twice(Scope s) { s.output("y", 2 * s.input("x", {"rows", kWidth})); }
constexpr void wrong(Scope s) {
    s.output("y", s.input("x", {"rows", kWidth}) + s.input("z", {"rows", 3}));
}
)";

/// Writes the model and the file that it includes.
void write_model(const fs::path& file, const std::string& more = "") {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << kWideModel << more;
    std::ofstream(file.parent_path() / "width.h") << "constexpr int kWidth = 12;\n";
}

std::string script(const fs::path& file, const std::string& lines) {
    std::ofstream(file) << "#!/bin/sh\n" << lines;
    fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
    return file.string();
}

/// Runs $0 to show a model in the background, sends it a signal once its compiler has started, and
/// says how it ended and whether the compiler's child is still there.
constexpr const char* kStopsWhenStarted =
    R"(TMPDIR="$1" CXX="$2" env --default-signal=INT,HUP "$0" show "$3" &
while [ ! -e "$4" ]; do sleep 0.02; done
ls "$1"
kill -s "$5" $!
wait $!
echo status $?
kill -0 $(cat "$4") 2>/dev/null && echo still there)";

}  // namespace

TEST_CASE("the compiler's reason is found whatever the user's language is") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "my.cpp";
    write_model(file, "int broken = missing;\n");
    // As a compiler does that knows French.
    const std::string compiler =
        script(folder.path() / "french",
               "if [ \"$LC_ALL\" != C ] || [ -n \"$LANGUAGE\" ]; then\n"
               "    echo \"Dans le fichier inclus depuis $1\" >&2; exit 1\nfi\nexec g++ \"$@\"\n");
    const std::vector<std::string> french = {"CXX=" + compiler, "LANGUAGE=fr",
                                             "LC_ALL=fr_FR.UTF-8"};
    ProcessResult result = run_fovea({"show", file.string() + ":twice"}, french);
    CHECK(result.status == 2);
    CHECK(result.output.find("does not compile: " + file.string() +
                             ":8:14: error: 'missing' was") != std::string::npos);
    write_model(file);
    result = run_fovea({"show", file.string() + ":wrong"}, french);
    CHECK(result.output == "fovea: my.cpp:6: cannot add [rows, 12] and [rows, 3]: 12 is not 3\n");
    CHECK(run_fovea({"show", file.string() + ":nope"}, french).output ==
          "fovea: '" + file.string() + "' has no function 'nope'; models: twice, wrong\n");
}

TEST_CASE("temporary folders that cannot be used are named") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "my.cpp";
    write_model(file);
    const std::string model = file.string() + ":twice";
    ProcessResult result = run_fovea({"show", model}, {"TMPDIR=/no/such/folder"});
    CHECK(result.status == 2);
    CHECK(result.output ==
          "fovea: no folder for temporary files: TMPDIR is '/no/such/folder', "
          "which is no folder\n");
    result = run_fovea({"show", model}, {"TMPDIR=/proc"});
    CHECK(result.status == 2);
    CHECK(result.output ==
          "fovea: cannot make a temporary folder in '/proc': No such file or "
          "directory; TMPDIR names another place for it\n");
    // A limit on the size of files fails like a full disk.
    for (const char* blocks : {"0", "16"}) {
        CAPTURE(blocks);
        result = run_process({"sh", "-c", "ulimit -f $1; TMPDIR=\"$2\" exec \"$0\" show \"$3\"",
                              (FOVEA_BINARY_DIR "/fovea"), blocks, folder.path().string(), model});
        CAPTURE(result.output);
        CHECK(result.status == 2);
        const bool is_said = result.output.find("File too large") != std::string::npos ||
                             result.output.find("File size limit exceeded") != std::string::npos;
        CHECK(is_said);  // by g++, by clang
        CHECK(result.output.find(folder.path().string()) != std::string::npos);
        CHECK(result.output.find("TMPDIR") != std::string::npos);
    }
}

TEST_CASE("a signal ends the compiler and removes the temporary folders") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "my.cpp", started = folder.path() / "started",
                   temporary = folder.path() / "temporary";
    write_model(file);
    const std::string compiler = script(
        folder.path() / "slow", "sleep 100 &\necho $! > " + started.string() + ".part\nmv " +
                                    started.string() + ".part " + started.string() + "\nwait\n");
    for (const auto& [name, number] : {std::pair{"INT", 2}, {"TERM", 15}, {"HUP", 1}}) {
        CAPTURE(name);
        fs::remove(started);
        fs::create_directories(temporary);
        const ProcessResult result = run_process(
            {"sh", "-c", kStopsWhenStarted, (FOVEA_BINARY_DIR "/fovea"), temporary.string(),
             compiler, file.string() + ":twice", started.string(), name});
        CHECK(result.output.starts_with("fovea_"));
        CHECK(result.output.ends_with("\nstatus " + std::to_string(128 + number) + "\n"));
        CHECK(fs::is_empty(temporary));
    }
}

TEST_CASE("a mistake that fovea's templates find has the user's line") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "my.cpp";
    write_model(file,
                "constexpr void branching(fovea::Scope s) {\n"
                "    fovea::Tensor x = s.input(\"x\", {2});\n"
                "    s.output(\"y\", x > 0.0 ? x * 2.0 : x);\n"
                "}\n");
    const std::string said = "does not compile: " + file.string() + ":10:";
    for (const std::string compiler : {"g++", "clang++-19"}) {
        if (fovea::tool::find_program(compiler).empty()) continue;
        const ProcessResult result =
            run_fovea({"show", file.string() + ":branching"}, {"CXX=" + compiler});
        CHECK(result.status == 2);
        CHECK_MESSAGE(result.output.find(said) != std::string::npos, result.output);
        CHECK(result.output.find("a tensor is no condition of C++") != std::string::npos);
    }
}

TEST_CASE("names of files and folders may hold anything") {
    if (!fovea::test::has_turn(1, 4)) return;
    TemporaryFolder folder;
    const fs::path plain = folder.path() / "models", quoted = folder.path() / "a \"b\\c\\";
    const std::vector<fs::path> files = {plain / "50% é {0}.cpp", quoted / "my.cpp",
                                         plain / "my \"model\\\n.cpp",
                                         quoted / "new\nline \"quote\".cpp"};
    for (const fs::path& file : fovea::test::turns_of(files, 2)) {
        CAPTURE(file);
        write_model(file, "int broken = missing;\n");
        ProcessResult result = run_fovea({"show", file.string() + ":twice"});
        CHECK(result.output.find("does not compile: " + file.string() + ":8:14: error:") !=
              std::string::npos);
        write_model(file);
        result = run_fovea({"show", file.string() + ":wrong"});
        CHECK(result.output == "fovea: " + file.filename().string() +
                                   ":6: cannot add [rows, 12] and [rows, 3]: 12 is not 3\n");
        const fs::path generated = folder.path() / "generated";
        REQUIRE(run_fovea({"generate", file.string() + ":twice", "--isa", "baseline", "-o",
                           generated.string()})
                    .status == 0);
        result = run_process({"g++", "-std=c++20", "-fsyntax-only", "-fopenmp", "-Wall", "-Werror",
                              "-I", generated.string(), (generated / "twice.cpp").string()});
        CAPTURE(result.output);
        CHECK(result.status == 0);
    }
}

TEST_CASE("a path that is too long is the user's mistake") {
    TemporaryFolder folder;
    const std::string name(5000, 'x');
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"build", "add_norm", "-o", name},
          {"generate", "add_norm", "-o", name},
          {"show", "add_norm", "-o", name},
          {"show", name + ".cpp:f"},
          {"run", "add_norm", "--inputs", name, "--outputs", name}}) {
        CAPTURE(arguments[0]);
        const ProcessResult result = run_fovea(arguments);
        CHECK(result.status == 2);
        CHECK(result.output.find("File name too long") != std::string::npos);
    }
    CHECK(run_fovea({"show", "add_norm"}, {"FOVEA_HOME=" + name}).status == 0);
    CHECK(run_fovea({"models"}, {"TMPDIR=" + name}).status == 0);
}

TEST_CASE("headers that are newer than fovea are the user's to build") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "my.cpp", home = folder.path() / "home";
    write_model(file);
    const fs::path built = home / "build/precompiled/model_entry.h";
    fs::create_directories(built.parent_path());
    for (const char* sources : {"dsl", "codegen"})
        fs::create_directory_symlink(fs::path(FOVEA_SOURCE_DIR) / sources, home / sources);
    const std::string header = (home / "dsl/fovea.h").string();
    std::ofstream(built) << "#include \"dsl/model_entry.h\"\n";
    std::ofstream(built.string() + ".d") << built.string() << ".gch: \\\n " << header << "\n";
    std::ofstream(built.string() + ".gch") << "";
    const auto shown = [&] {
        return run_fovea({"show", file.string() + ":twice"}, {"FOVEA_HOME=" + home.string()});
    };
    CHECK(shown().status == 0);
    fs::last_write_time(built.string() + ".gch",
                        fs::last_write_time(header) - std::chrono::seconds(1));
    CHECK(shown().output ==
          "fovea: '" + header + "' changed after fovea was built: build it again\n");
}
