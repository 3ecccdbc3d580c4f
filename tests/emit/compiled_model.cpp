#include "tests/emit/compiled_model.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <omp.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/print.h"
#include "runtime/isa.h"
#include "runtime/philox.h"

namespace fovea::test {

using kernel::Kernel;

plan::Model model_of_kernels(const std::string& name, const std::vector<Kernel>& kernels) {
    plan::Model model;
    model.name = name;
    model.dims = {"m", "n", "k", "b"};
    model.kernels = kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        plan::Program program;
        program.name = kernels[i].name;
        plan::Step step;
        step.kernel = int(i);
        step.name = kernels[i].name;
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

std::vector<std::string> isas_here(bool bfloat16) {
    std::vector<std::string> result;
    for (std::string_view isa : runtime::isa_names())
        if (isa == "avx512_bf16" && !bfloat16) continue;
        else if (runtime::machine_has(isa)) result.emplace_back(isa);
        else MESSAGE("not run: this machine has no ", std::string(isa));
    return result;
}

std::string optimization_for(const std::string& isa) {
    for (std::string_view name : runtime::isa_names()) {
        if (!runtime::machine_has(name)) continue;
        if (name == isa) return "-O2";
        if (!name.ends_with("_bf16")) break;
    }
    return "-Og";
}

const runtime::Model& compile_and_load(const plan::Model& model, const std::string& isa,
                                       const std::string& optimization) {
    namespace fs = std::filesystem;
    const std::string unique = std::to_string(getpid()) + model.name + isa;
    const fs::path folder = fs::temp_directory_path() / ("fovea_emit_test_" + unique);
    fs::create_directories(folder);
    fs::create_symlink(fs::path(FOVEA_SOURCE_DIR) / "runtime", folder / "fovea");
    for (const emit::File& file : emit::make_cpp_emitter({isa})->emit_model(model))
        std::ofstream(folder / file.name) << file.text;
    const char* compiler = std::getenv("CXX");
    const std::string machine = isa == "avx512_bf16" ? "-v4 -mavx512bf16"
                                : isa == "avx512"    ? "-v4"
                                : isa == "avx2"      ? "-v3"
                                                     : "";
    const std::string object = (folder / "model.so").string();
    const std::string log = (folder / "log").string();
    const std::string command =
        std::string(compiler ? compiler : "c++") + " -std=c++20 " + optimization +
        " -ffp-contract=fast -fno-math-errno -march=x86-64" + machine +
        " -fopenmp -fPIC -shared"
        " -Wall -Wextra -Wshadow -Werror -Wno-psabi -I" +
        folder.string() + " " + (folder / (model.name + ".cpp")).string() +
        " " FOVEA_BINARY_DIR "/libfovea_runtime.a -o " + object + " > " + log + " 2>&1";
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

namespace {

bool accumulates(const Kernel& kernel, std::size_t buffer) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto store = std::get_if<kernel::Store>(&node.operation))
            if (store->access.buffer == int(buffer) && store->accumulate) return true;
    return false;
}

float from_half(std::uint16_t bits) {
    const std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

constexpr std::size_t kGuard = 16;

}  // namespace

Arrays::Arrays(const Kernel& kernel, const kernel::DimValues& dims, int limit, unsigned seed) {
    std::mt19937 generator(seed);
    const std::size_t count = kernel.buffers.size();
    floats.resize(count), integers.resize(count), booleans.resize(count), halves.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        std::size_t size = 1;
        for (const Dim& dim : buffer.shape) size *= std::size_t(kernel::value_of(dim, dims));
        const bool blank = buffer.written && !accumulates(kernel, i);
        const auto draw = [&] { return float(generator() >> 8) * 0x1p-22F - 2.F; };
        exact.emplace_back(size);
        floats[i].assign(size + kGuard, kUnwritten);
        integers[i].assign(size + kGuard, -77);
        booleans[i].assign(size + kGuard, 77);
        halves[i].assign(size + kGuard, 0xc29a);  // -77
        for (std::size_t at = 0; at < size; ++at) {
            const float value = blank ? kUnwritten : draw();
            floats[i][at] = value;
            integers[i][at] = blank ? -77 : int(generator() % unsigned(limit));
            booleans[i][at] = blank ? 77 : generator() % 2;
            halves[i][at] = blank ? 0xc29a : std::uint16_t(0x3f80 + generator() % 256);
            exact[i][at] = buffer.dtype == DType::f32    ? floats[i][at]
                           : buffer.dtype == DType::i32  ? integers[i][at]
                           : buffer.dtype == DType::bf16 ? from_half(halves[i][at])
                                                         : booleans[i][at];
        }
        addresses.push_back(buffer.dtype == DType::f32    ? static_cast<void*>(floats[i].data())
                            : buffer.dtype == DType::i32  ? static_cast<void*>(integers[i].data())
                            : buffer.dtype == DType::bf16 ? static_cast<void*>(halves[i].data())
                                                          : booleans[i].data());
    }
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

bool same_bits(const Arrays& a, const Arrays& b) {
    for (std::size_t i = 0; i < a.floats.size(); ++i)
        if (std::memcmp(a.floats[i].data(), b.floats[i].data(),
                        a.floats[i].size() * sizeof(float)) != 0)
            return false;
    return a.integers == b.integers && a.booleans == b.booleans && a.halves == b.halves;
}

void check_against_evaluator(const Kernel& kernel, const kernel::DimValues& dims, Arrays& arrays,
                             double tolerance) {
    const auto dropout = [](int site, double p, std::int64_t row, std::int64_t column) {
        const bool kept = runtime::dropout_keep(5, 3, std::uint32_t(site), std::uint32_t(row),
                                                std::uint32_t(column), p);
        return kept ? 1 / (1 - p) : 0.0;
    };
    kernel::evaluate(kernel, dims, arrays.exact, dropout);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        if (!buffer.written) continue;
        const std::size_t size = arrays.exact[i].size();
        double scale = 1, worst = 0;
        std::size_t where = 0;
        for (std::size_t at = 0; at < size; ++at) {
            const double exact = arrays.exact[i][at];
            if (std::isfinite(exact)) scale = std::max(scale, std::fabs(exact));
            const double own = buffer.dtype == DType::f32   ? double(arrays.floats[i][at])
                               : buffer.dtype == DType::i32 ? double(arrays.integers[i][at])
                               : buffer.dtype == DType::bf16
                                   ? double(from_half(arrays.halves[i][at]))
                                   : double(arrays.booleans[i][at]);
            const bool same = own == exact || (std::isnan(own) && std::isnan(exact));
            const double error = same ? 0 : std::fabs(own - exact);
            if (!(error <= worst)) worst = error, where = at;
        }
        const double allowed = tolerance * scale + (buffer.dtype == DType::bf16 ? scale / 256 : 0);
        CHECK_MESSAGE(worst <= allowed, kernel.name, ": ", buffer.name, "[", where, "] is off by ",
                      worst);
        bool intact = true;
        for (std::size_t at = size; at < size + kGuard; ++at)
            intact &= arrays.floats[i][at] == kUnwritten && arrays.integers[i][at] == -77 &&
                      arrays.booleans[i][at] == 77 && arrays.halves[i][at] == 0xc29a;
        CHECK_MESSAGE(intact, kernel.name, ": writes past the end of ", buffer.name);
    }
}

}  // namespace fovea::test
