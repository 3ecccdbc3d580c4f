// `fovea bundle`: a folder that checks and measures fovea where a GPU is, without a compiler.
#include <fmt/format.h>

#include <filesystem>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tools/bundle/runner.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/bundle/bundle_cases.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/device/interpreter_device.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace fs = std::filesystem;

namespace {

/// The sources of the runner, for machines on which the one that is built here does not start.
void copy_sources(const fs::path& sources, const fs::path& to) {
    const auto copy = [&](const fs::path& folder) {
        fs::create_directories(to / folder);
        for (const auto& entry : fs::directory_iterator(sources / folder))
            if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
                fs::copy_file(entry.path(), to / folder / entry.path().filename(),
                              fs::copy_options::overwrite_existing);
    };
    for (const char* folder : {"runtime", "runtime/device", "runtime/files", "runtime/memory",
                               "runtime/parallel", "runtime/training", "tools/bundle"})
        copy(folder);
    fs::create_directories(to / "runtime/runner");
    for (const char* file : {"runtime/runner/bench_model.h", "runtime/runner/bench_model.cpp"})
        fs::copy_file(sources / file, to / file, fs::copy_options::overwrite_existing);
}

/// With the libraries of the compiler in it, so that the C library and the driver are all it needs.
void link_runner(const Home& home, const fs::path& to) {
    std::vector<std::string> command = find_compiler();
    const bool is_gcc = command[0].find("g++") != std::string::npos &&
                        command[0].find("clang") == std::string::npos;
    for (const std::string& word :
         {std::string("-std=c++20"), std::string("-O1"), "-I" + home.sources.string(),
          (home.sources / "tools/bundle/cuda_main.cpp").string(),
          (home.runtime_archive.parent_path() / "libfovea_bundle.a").string(),
          home.runtime_archive.string(), std::string("-o"), to.string(), std::string("-ldl"),
          std::string("-lpthread")})
        command.push_back(word);
    const std::vector<std::string> with_libraries =
        is_gcc ? std::vector<std::string>{"-static-libstdc++", "-static-libgcc", "-l:libgomp.a"}
               : std::vector<std::string>{"-fopenmp"};
    command.insert(command.end(), with_libraries.begin(), with_libraries.end());
    if (is_gcc) command.push_back("-s");
    compile_generated(command);
}

/// `--case`: a case of a bundle on the interpreter, as the runner takes it.
std::optional<int> run_on_interpreter(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments[0] != "--case") return std::nullopt;
    std::vector<std::string> words = {"fovea"};
    words.insert(words.end(), arguments.begin() + 1, arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return bundle::runner_main(int(argv.size()), argv.data(),
                               [] { return std::make_shared<InterpreterDevice>(); });
}

const std::vector<std::string> kBundleSuites = {
    "all", "quick", "layouts", "rows", "contractions", "attention", "models", "training", "bench"};

int write_bundle(const Arguments& given) {
    if (!given.has("output")) throw UserError("bundle needs -o FOLDER, a folder to write");
    if (const auto reason = emit::why_not_ptx()) throw UserError(*reason);
    const std::string suite = given.choice("suite", kBundleSuites);
    const fs::path folder = given.text("output");
    const Home home = find_home();
    BundleWriter writer(folder);
    add_cases(writer, suite);
    const std::size_t count = writer.finish();
    copy_sources(home.sources, folder / "src");
    link_runner(home, folder / "runner");
    fs::copy_file(home.sources / "tools/bundle/check.sh", folder / "check.sh",
                  fs::copy_options::overwrite_existing);
    for (const char* file : {"gpu.py", "gpu_model.py", "ratios.py"}) {
        fs::create_directories(folder / "peers");
        fs::copy_file(home.sources / "tools/peers" / file, folder / "peers" / file,
                      fs::copy_options::overwrite_existing);
    }
    fmt::print("{}: {} cases; where the GPU is: {}/check.sh\n", folder.string(), count,
               folder.string());
    return 0;
}

}  // namespace

Command bundle_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("FOLDER"), "where it goes");
    add("suite",
        po::value<std::string>()->value_name(fmt::format("{}", fmt::join(kBundleSuites, "|"))),
        "all by default");
    return {{"bundle",
             "write a folder of checks for a machine with a GPU",
             "-o FOLDER",
             "Writes a folder of checks and measurements for a machine with a GPU: PTX,\n"
             "launches, inputs and the results of the float64 reference, with a runner that\n"
             "needs neither LLVM nor a compiler. There, FOLDER/check.sh runs them.\n"
             "  fovea bundle --case FOLDER N [--arch A] runs case N on the interpreter.",
             {{"the quick checks; takes a minute", "fovea bundle -o bundle --suite quick"},
              {"all of them; takes an hour", "fovea bundle -o bundle"}}},
            options,
            write_bundle,
            run_on_interpreter};
}

}  // namespace fovea::tool
