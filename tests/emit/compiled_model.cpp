#include "tests/emit/compiled_model.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "codegen/emit/compiler_flags.h"
#include "codegen/emit/emitter.h"
#include "codegen/kernel/parameters.h"
#include "codegen/kernel/print.h"
#include "runtime/isa.h"

namespace fovea::test {

using kernel::Kernel;

plan::Model model_of_kernels(const std::string& name, const std::vector<Kernel>& kernels) {
    plan::Model model;
    model.name = name;
    std::set<std::string> dims;
    for (const Kernel& kernel : kernels)
        for (const std::string& symbol : kernel::symbols_of(kernel)) dims.insert(symbol);
    model.dims.assign(dims.begin(), dims.end());
    model.kernels = kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        plan::Program program;
        program.name = kernels[i].name;
        plan::Step step;
        step.kernel = int(i);
        step.name = kernels[i].name;
        step.sites = kernel::sites_of(kernels[i]);
        for (const kernel::Buffer& buffer : kernels[i].buffers) {
            plan::Tensor tensor;
            tensor.name = buffer.name;
            tensor.role = buffer.written ? plan::Role::output : plan::Role::input;
            tensor.dtype = buffer.dtype;
            tensor.shape = buffer.shape;
            step.arguments.push_back(int(program.tensors.size()));
            program.tensors.push_back(tensor);
        }
        program.steps = {step};
        model.programs.push_back(program);
    }
    return model;
}

std::string optimization_for(const std::string& isa) {
    for (std::string_view name : runtime::isa_names()) {
        if (!runtime::machine_has(name)) continue;
        if (name == isa) return "-O2";
        if (!name.ends_with("_bf16")) break;
    }
    return "-O0";
}

const runtime::Model& compile_and_load(const plan::Model& model, const std::string& isa,
                                       const std::string& optimization) {
    namespace fs = std::filesystem;
    static int number = 0;  // dlopen gives a library of a path that it has loaded before
    const std::string unique = std::to_string(getpid()) + "_" + std::to_string(++number);
    const fs::path folder = fs::temp_directory_path() / ("fovea_emit_test_" + unique);
    fs::create_directories(folder);
    fs::create_symlink(fs::path(FOVEA_SOURCE_DIR) / "runtime", folder / "fovea");
    for (const emit::File& file : emit::make_cpp_emitter({isa})->emit_model(model))
        std::ofstream(folder / file.name) << file.text;
    const char* compiler = std::getenv("CXX");
    std::string machine;
    for (const std::string& flag : emit::machine_flags(isa)) machine += " " + flag;
    const std::string object = (folder / "model.so").string();
    const std::string log = (folder / "log").string();
    const std::string command = std::string(compiler ? compiler : "c++") + " -std=c++20 " +
                                optimization + " -ffp-contract=fast -fno-math-errno" + machine +
                                " -fopenmp -fPIC -shared"
                                " -Wall -Wextra -Wshadow -Werror -Wno-psabi -I" +
                                folder.string() + " " + (folder / (model.name + ".cpp")).string() +
                                " " FOVEA_BINARY_DIR "/libfovea_runtime.a -o " + object + " > " +
                                log + " 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream printed(log);
    const std::string text{std::istreambuf_iterator<char>(printed), {}};
    REQUIRE_MESSAGE(status == 0, command, "\n", text.substr(0, 4000));
    setenv("FOVEA_ISA", isa.c_str(), 1);
    void* library = dlopen(object.c_str(), RTLD_NOW);
    REQUIRE_MESSAGE(library != nullptr, dlerror());
    if (!std::getenv("FOVEA_KEEP_EMITTED")) fs::remove_all(folder);
    // The mangled name of `const fovea::runtime::Model& <model>_model()`.
    const std::string function = model.name + "_model";
    void* symbol =
        dlsym(library, ("_Z" + std::to_string(function.size()) + function + "v").c_str());
    REQUIRE(symbol != nullptr);
    const auto& loaded = reinterpret_cast<const runtime::Model& (*)()>(symbol)();
    unsetenv("FOVEA_ISA");
    return loaded;
}

void run_program(const runtime::Model& model, int number, const kernel::DimValues& dims,
                 Arrays& arrays, int threads) {
    std::vector<std::int64_t> values;
    for (const std::string& dim : model.dims) values.push_back(dims.at(dim));
    runtime::Call call;
    call.dims = values.data();
    call.tensors = arrays.addresses.data();
    call.seed = 5, call.step = 3;
    omp_set_num_threads(threads);
    model.programs[std::size_t(number)].run(call);
}

}  // namespace fovea::test
