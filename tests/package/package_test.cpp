// fovea as others have it: installed, in a Debian package, as a folder of another project. What is
// installed is moved, so that nothing can lean on where it was built or installed.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit/compiler_flags.h"
#include "runtime/safetensors.h"
#include "tests/package/installed.h"
#include "tools/fovea/isa_option.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;
using fovea::tool::isa_of_this_machine;
using fovea::tool::ProcessResult;
namespace runtime = fovea::runtime;

struct Change {
    std::string file, from, to;
};

void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A copy of the project, with `changes` made to its files.
fs::path project(const std::string& name, const std::vector<Change>& changes = {}) {
    installed();  // clears the folder of all
    const fs::path folder = kFolder / name;
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(kCases / "project")) {
        std::string text = read_file(entry.path());
        for (const Change& change : changes) {
            if (entry.path().filename() != change.file) continue;
            REQUIRE(text.find(change.from) != text.npos);
            text.replace(text.find(change.from), change.from.size(), change.to);
        }
        // A file that stays as it was is not compiled again.
        const fs::path copy = folder / entry.path().filename();
        if (!fs::exists(copy) || read_file(copy) != text) write(copy, text);
    }
    return folder;
}

std::string configure(const fs::path& folder, const fs::path& prefix) {
    return "cd '" + folder.string() +
           "' && cmake -G Ninja -S . -B build -DCMAKE_CXX_COMPILER='" FOVEA_CXX
           "' -DCMAKE_PREFIX_PATH='" +
           prefix.string() + "'";
}

/// Of all generated code, and of that for `isa`.
std::vector<std::string> flags_for(const std::string& isa) {
    std::vector<std::string> flags = fovea::emit::machine_flags(isa);
    for (const fovea::emit::CompilerFlag& flag : fovea::emit::compiler_flags())
        if (flag.what != fovea::emit::CompilerFlag::For::gnu) flags.emplace_back(flag.text);
    return flags;
}

/// The numbers that the project's program prints, and whether they fall.
struct Losses {
    float first = 0, last = 0;
    bool fall = true;
};

Losses losses_in(const std::string& output) {
    std::istringstream stream(output);
    std::vector<float> values;
    for (std::string word, number; stream >> word >> number;)
        values.push_back(std::strtof(number.c_str(), nullptr));
    REQUIRE(values.size() == 20);
    return {values.front(), values.back(),
            std::is_sorted(values.begin(), values.end(), std::greater<float>())};
}

/// What the program computes by itself, from the command.
float loss_of_run(const fs::path& prefix, const fs::path& folder) {
    std::vector<std::int32_t> ids(6);
    for (int i = 0; i < 6; ++i) ids[std::size_t(i)] = i % 5;
    const auto bytes = std::as_bytes(std::span(ids));
    const std::string inputs = (folder / "inputs").string();
    runtime::write_safetensors(inputs,
                               {{"words", "I32", {2, 3}, bytes}, {"tags", "I32", {2, 3}, bytes}});
    succeeds("cd '" + folder.string() + "' && '" + (prefix / "bin/fovea").string() +
             "' run my_model.cpp:my_model --set hidden=24 --inputs inputs --outputs outputs "
             "--weights build/weights.safetensors");
    const auto outputs = runtime::read_safetensors((folder / "outputs").string());
    const runtime::TensorView* loss = outputs.find("loss");
    REQUIRE(loss);
    float value = 0;
    REQUIRE(loss->bytes.size() == sizeof value);
    std::memcpy(&value, loss->bytes.data(), sizeof value);
    return value;
}

}  // namespace

TEST_CASE("what is installed names no folder of the build") {
    const fs::path& prefix = installed();
    for (const char* file :
         {"bin/fovea", "include/fovea/session.h", "share/fovea/dsl/fovea.h",
          "lib/fovea/libfovea_runtime.a", "lib/cmake/fovea/fovea-config.cmake",
          "share/man/man1/fovea.1", "share/man/man1/fovea-build.1",
          "share/bash-completion/completions/fovea", "share/zsh/site-functions/_fovea",
          "share/zsh/vendor-completions/_fovea"})
        CHECK_MESSAGE(fs::exists(prefix / file), file);
    for (const auto& entry : fs::recursive_directory_iterator(prefix)) {
        if (!entry.is_regular_file()) continue;
        const std::string text = read_file(entry.path());
        for (const char* folder :
             {FOVEA_BINARY_DIR "/", FOVEA_SOURCE_DIR "/dsl/", FOVEA_SOURCE_DIR "/codegen/",
              FOVEA_SOURCE_DIR "/runtime/", FOVEA_SOURCE_DIR "/tools/fovea/"})
            CHECK_MESSAGE(text.find(folder) == text.npos, entry.path() << " names " << folder);
    }
}

TEST_CASE("a copy of a built-in model finds what it includes") {
    const fs::path folder = project("copied");
    fs::copy_file(installed() / "share/fovea/models/today/gpt2.h", folder / "my_gpt2.h");
    const std::string command = (installed() / "bin/fovea").string();
    succeeds("cd '" + folder.string() + "' && '" + command +
             "' show my_gpt2.h:fovea::models::gpt2");
}

TEST_CASE("what is installed needs no sources, and the command alone says what it needs") {
    const fs::path folder = project("hidden");
    const std::string show = " show my_model.cpp:my_model";
    std::string hide;
    if (run_shell("unshare -rm true").status == 0)
        hide =
            "for folder in dsl codegen runtime models tools; do "
            "mount -t tmpfs none \"" FOVEA_SOURCE_DIR "/$folder\" || exit 1; done; ";
    else MESSAGE("the sources are not hidden: there are no namespaces for users");
    CHECK(succeeds("cd '" + folder.string() + "' && " + (hide.empty() ? "" : "unshare -rm ") +
                   "sh -c '" + hide + (installed() / "bin/fovea").string() + show + "'")
              .find("embedding") != std::string::npos);

    fs::create_directory(folder / "bin");
    fs::copy_file(installed() / "bin/fovea", folder / "bin/fovea");
    const std::string alone = (folder / "bin/fovea").string();
    CHECK(run_shell("cd '" + folder.string() + "' && bin/fovea" + show).output ==
          "fovea: '" + (folder / "share/fovea").string() + "' has no dsl/fovea.h, which '" + alone +
              "' needs: install fovea again, or set FOVEA_HOME to its sources\n");
}

TEST_CASE("a project finds fovea, generates its model, trains it and calls it") {
    const fs::path& prefix = installed();
    CHECK(std::ranges::count(read_file(kCases / "project/CMakeLists.txt"), '\n') <= 10);
    CHECK(std::ranges::count(read_file(kCases / "project/main.cpp"), '\n') <= 15);
    // All instruction sets take the compiler three times as long.
    const std::string isa = std::getenv("FOVEA_WHOLE") ? "" : isa_of_this_machine();
    const std::vector<Change> changes = {
        {"CMakeLists.txt", "train)", isa.empty() ? "train)" : "train ISA " + isa + ")"}};
    const fs::path folder = project("project", changes);
    succeeds(configure(folder, prefix));
    succeeds("cmake --build '" + (folder / "build").string() + "'");
    const std::string commands =
        succeeds("ninja -C '" + (folder / "build").string() + "' -t commands tagger");
    for (const std::string& flag : flags_for(isa.empty() ? "avx2" : isa))
        CHECK_MESSAGE(commands.find(" " + flag + " ") != commands.npos, flag);

    const std::string program = "cd '" + (folder / "build").string() + "' && ./app";
    const Losses losses = losses_in(succeeds(program));
    CHECK(losses.fall);
    CHECK(losses.last < losses.first / 10);
    CHECK(losses.last == loss_of_run(prefix, folder));
    const std::string weights = (folder / "build/weights.safetensors").string();
    CHECK(runtime::read_safetensors(weights).metadata_at("fovea_format") == "1");

    const std::string dry = "cmake --build '" + (folder / "build").string() + "' -- -n";
    CHECK(succeeds(dry).find("no work to do") != std::string::npos);
    project("project", {changes[0], {"tags.h", "5", "6"}});
    CHECK(succeeds(dry).find("Generating tagger") != std::string::npos);
}

TEST_CASE("the page on installing shows this project") {
    const std::string page = read_file(fs::path(FOVEA_SOURCE_DIR) / "tools/README.md");
    for (const auto& entry : fs::directory_iterator(kCases / "project"))
        CHECK_MESSAGE(page.find("\n" + read_file(entry.path()) + "```\n") != page.npos,
                      entry.path());
}

TEST_CASE("generated headers carry calls of C++ and C") {
    installed();  // clears the folder of all
    const fs::path folder = kFolder / "interface";
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(kCases / "interface"))
        fs::copy_file(entry.path(), folder / entry.path().filename());
    succeeds(configure(folder, installed()) + " -DPYTHON=ON -DISA=" + isa_of_this_machine());
    succeeds("cmake --build '" + (folder / "build").string() + "'");
    for (const char* program : {"app", "app_in_c"})
        CHECK(succeeds("cd '" + (folder / "build").string() + "' && ./" + program).empty());
    for (const char* file : {"pyproject.toml", "counter/__init__.py", "counter/libcounter.so"})
        CHECK_MESSAGE(fs::exists(folder / "build/fovea/counter_python" / file), file);
}

TEST_CASE("two models in a program, of one function and of the built-in ones") {
    const fs::path folder = project(
        "two_models",
        {{"CMakeLists.txt", "forward train", "forward ISA baseline"},
         {"CMakeLists.txt", "add_executable",
          "fovea_add_model(NAME wide SOURCES my_model.cpp MODEL my_model ISA baseline FUSION off\n"
          "    SETTINGS hidden=40 dtype=bf16)\n"
          "fovea_add_model(NAME norm MODEL add_norm SETTINGS hidden=24 ISA baseline SMALL)\n"
          "add_executable"},
         {"CMakeLists.txt", "PRIVATE tagger", "PRIVATE tagger wide norm"}});
    write(folder / "main.cpp", R"(#include <cstdio>
#include "norm.h"
#include "tagger.h"
#include "wide.h"
int main() {
    for (const auto* model : {&tagger_model(), &wide_model(), &norm_model()})
        std::printf("%s %d\n", model->name.c_str(), int(model->parameters.size()));
})");
    succeeds(configure(folder, installed()));
    succeeds("cmake --build '" + (folder / "build").string() + "'");
    const std::string program = "'" + (folder / "build/app").string() + "'";
    CHECK(succeeds(program) == "tagger 7\nwide 7\nnorm 2\n");
    CHECK(succeeds("FOVEA_PROFILE=trace.json " + program + " 2>&1 >/dev/null") ==
          "FOVEA_PROFILE: model 'norm' was built with FOVEA_SMALL, without it\n");
}

TEST_CASE("mistakes end the build with a sentence") {
    struct Mistake {
        Change change;
        std::string says;
    };
    const auto in_list = [](const char* from, const char* to, const std::string& says) {
        return Mistake{{"CMakeLists.txt", from, to}, "fovea_add_model: " + says};
    };
    const auto in_build = [](const char* file, const char* from, const char* to,
                             const std::string& says) {
        return Mistake{{file, from, to}, "\nfovea: " + says + "\n"};
    };
    const std::vector<Mistake> mistakes = {
        in_list("MODEL my", "COLOUR red MODEL my", "unknown argument 'COLOUR'"),
        in_list("forward train", "forward training", "PROGRAMS takes forward, train, decode, not"),
        in_list("hidden=24", "hidden", "SETTINGS takes NAME=VALUE, not 'hidden'"),
        in_list("SOURCES my", "SOURCES other", "there is no file 'other_model.cpp'"),
        in_list("add_executable", "fovea_add_model(NAME tagger MODEL add_norm)\nadd_executable",
                "there is a target 'tagger' already"),
        in_list("NAME tagger ", "", "NAME is missing"),
        in_list("train)", "train FUSION maybe)", "FUSION takes on, off, always, not 'maybe'"),
        in_list("train)", "train ISA avx1024)",
                "ISA takes amx_bf16, avx512_bf16, "
                "avx512_vnni, avx512, avx2, baseline"),
        in_list("train)", "train BITS exact)", "BITS takes fastest, portable"),
        in_list("train)", "train BITS portable ISA baseline)",
                "ISA with BITS portable takes avx512, avx2, neon"),
        in_build("CMakeLists.txt", "MODEL my_model", "MODEL my_modl",
                 "'my_model.cpp' has no function 'my_modl': did you mean 'my_model'? models: "
                 "my_model"),
        in_build("CMakeLists.txt", "hidden=24", "hiden=24",
                 "unknown setting 'hiden' of my_model: did you mean 'hidden'? settings: hidden, "
                 "dtype, weights"),
        in_build("my_model.cpp", "\"dense\", x, c.hidden", "\"dense\", x, 7",
                 "my_model.cpp:15: cannot add [batch, len, hidden=32] (from embedding) and [batch, "
                 "len, 7] (from dense): hidden=32 is not 7"),
    };
    for (const Mistake& mistake : mistakes) {
        const fs::path folder = project("mistakes", {mistake.change});
        const ProcessResult result =
            run_shell(configure(folder, installed()) + " && cmake --build build --target tagger");
        CHECK(result.status != 0);
        std::string said = result.output;
        if (mistake.says[0] != '\n') said = in_one_line(said);
        CHECK_MESSAGE(said.find(mistake.says) != said.npos, mistake.says << "\n" << said);
    }
}

TEST_CASE("a generator of the project's models has the command's subcommands") {
    const auto with = [](const std::string& models) {
        return project("generator", {{"CMakeLists.txt", "add_executable",
                                      "fovea_add_generator(NAME my_fovea MODELS " + models +
                                          ")\nadd_executable"}});
    };
    const fs::path folder = with("my_model.cpp:my_model"), build = folder / "build";
    succeeds(configure(folder, installed()) + " && cmake --build build --target my_fovea");
    const auto call = [&](const std::string& arguments) {
        return run_shell("FOVEA_CXXFLAGS=-O0 '" + (build / "my_fovea").string() + "' " + arguments);
    };
    CHECK(in_one_line(call("models").output) == "my_model (my_model.cpp) hidden size 32");
    CHECK(call("show my_modl").output ==
          "fovea: unknown model 'my_modl': did you mean 'my_model'? models: my_model; or "
          "FILE.cpp:FUNCTION\n");
    const ProcessResult verified = call("verify --all --set hidden=8");
    CHECK_MESSAGE(verified.status == 0, verified.output);
    CHECK(verified.output.find("out_weight_gradient") != std::string::npos);

    const fs::path library = build / "fovea/my_fovea/my_fovea_my_model.so";
    fs::last_write_time(library,
                        fs::last_write_time(installed() / "bin/fovea") - std::chrono::seconds(1));
    CHECK(call("models").output ==
          "fovea: '" + library.string() + "' is older than fovea: build it again\n");
    succeeds("cmake --build '" + build.string() + "' --target my_fovea");
    CHECK(call("models").status == 0);

    for (const auto& [models, says] : std::vector<std::pair<std::string, std::string>>{
             {"my_model", "MODELS takes FILE.cpp:FUNCTION, not 'my_model'"},
             {"my.cpp:my_model", "there is no file 'my.cpp'"},
             {"my_model.cpp:f my_model.cpp:f", "two models have the name 'f'"}}) {
        with(models);
        const ProcessResult refused = run_shell(configure(folder, installed()));
        CHECK(refused.status != 0);
        CHECK_MESSAGE(in_one_line(refused.output).find(says) != std::string::npos, refused.output);
    }
}

TEST_CASE("a project holds fovea as a folder") {
    for (const char* take : {"add_subdirectory", "FetchContent"}) {
        const std::string build = (kFolder / take).string();
        const std::string cases = kCases.string();
        succeeds("cmake -G Ninja -DCMAKE_CXX_COMPILER='" FOVEA_CXX "' -S '" + cases +
                 "/inside' -B '" + build + "' -DTAKE=" + take +
                 " -DFOVEA='" FOVEA_SOURCE_DIR "' -DMODEL='" + cases + "/project/my_model.cpp' " +
                 "-DMAIN='" + cases + "/project/main.cpp'");
        const std::string plan =
            succeeds("ninja -C '" + build + "' -t commands app described checked my_fovea");
        CHECK(plan.find("--name tagger") != plan.npos);
        CHECK(plan.find("test_") == plan.npos);
        if (!std::getenv("FOVEA_WHOLE") || std::string(take) != "add_subdirectory") continue;
        succeeds("ninja -C '" + build + "' app described checked my_fovea");
        CHECK(losses_in(succeeds("cd '" + build + "' && ./app")).fall);
    }
}

TEST_CASE("pkg-config knows fovea") {
    if (!has("pkg-config")) return;
    const fs::path folder = kFolder / "pkg_config";
    fs::create_directories(folder);
    write(folder / "main.cpp", R"(#include <cstdio>
#include "fovea/session.h"
#include "norm.h"
int main() {
    fovea::runtime::Parameters parameters(norm_model(), {});
    std::printf("%d\n", int(parameters.count()));
})");
    const std::string output =
        succeeds("cd '" + folder.string() + "' && export CXX='" FOVEA_CXX "' PKG_CONFIG_PATH='" +
                 (installed() / "lib/pkgconfig").string() + R"(' && set -e
pkg-config --modversion fovea
fovea=$(pkg-config --variable=command fovea)
$fovea generate add_norm --name norm --sources-only --isa baseline -o .
for part in FOVEA_KERNELS FOVEA_DESCRIPTION; do
    $CXX -std=c++20 -fopenmp -D$part -c norm.cpp -o $part.o $(pkg-config --cflags fovea)
done
$CXX -std=c++20 main.cpp *.o -o main $(pkg-config --cflags --libs fovea)
./main)");
    CHECK(output == "0.1\n2\n");
}

TEST_CASE("a Debian package holds what is installed, and names what it needs") {
    if (!has("cpack") || !has("dpkg-shlibdeps")) return;
    const fs::path folder = kFolder / "package", unpacked = folder / "unpacked";
    succeeds("cd '" FOVEA_BINARY_DIR "' && cpack -B '" + folder.string() + "'");
    const std::string package = succeeds("ls '" + folder.string() + "'/fovea_*.deb");
    const std::string name = package.substr(0, package.find('\n'));
    const std::string needs = succeeds("dpkg-deb -f '" + name + "' Depends");
    for (const char* library : {"libfmt", "libboost-program-options", "libstdc++6"})
        CHECK_MESSAGE(needs.find(library) != needs.npos, needs);
    CHECK((needs.find("g++") != needs.npos || needs.find("clang") != needs.npos));
    succeeds("dpkg -x '" + name + "' '" + unpacked.string() + "'");
    const fs::path project_folder = project("of_package");
    const std::string command = (unpacked / "usr/bin/fovea").string();
    CHECK(succeeds("cd '" + project_folder.string() + "' && '" + command +
                   "' show my_model.cpp:my_model")
              .find("embedding") != std::string::npos);
    succeeds(configure(project_folder, unpacked / "usr"));
}
