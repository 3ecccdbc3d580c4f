// Compiling and loading the probe, and the best of its bursts.
#include "tools/fovea/bench/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "codegen/base/error.h"
#include "runtime/threads.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

constexpr int kBursts = 5;
constexpr double kBurstSeconds = 0.003;

void* compile_probe() {
    const Home home = find_home();
    TemporaryFolder folder;
    const std::string library = folder.path() / "machine_probe.so";
    std::vector<std::string> command = find_compiler();
    for (const std::string& flag : generated_code_flags(isa_of_this_machine()))
        command.push_back(flag);
    // What the machine has beyond the instruction sets of kernels: dot products of bfloat16.
    if (!std::getenv("FOVEA_ISA")) command.push_back("-march=native");
    command.insert(command.end(),
                   {"-fPIC", "-shared", "-I" + home.sources.string(), "-o", library,
                    (home.sources / "tools/fovea/bench/probe/machine_probe.cpp").string()});
    compile_generated(command);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw InternalError(fmt::format("cannot load the probe: {}", dlerror()));
    return handle;
}

template <class Function>
void find(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    if (!function) throw InternalError(fmt::format("the probe has no '{}'", name));
}

/// `AMD EPYC 9654`, as Linux knows it.
std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
    }
    return "unknown";
}

/// Floats that no cache holds: 256 MiB, or four times the last cache.
std::size_t uncached_floats() {
    const long last_cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
    return std::max<std::size_t>(std::size_t{256} << 20, 4 * std::size_t(last_cache)) /
           sizeof(float);
}

}  // namespace

MachineProbe::MachineProbe()
    : uncached_floats_(uncached_floats()), uncached_(uncached_floats_ * sizeof(float)) {
    std::fill_n(uncached_.as<float>(), uncached_floats_, 1.0F);
    void* handle = compile_probe();
    find(handle, "probe_isa", isa_);
    find(handle, "probe_gflops", gflops_);
    find(handle, "probe_bf16_gflops", bf16_gflops_);
    find(handle, "probe_read_gb_s", read_gb_s_);
    find(handle, "probe_round_trip_ns", round_trip_ns_);
}

double MachineProbe::gflops() const { return gflops_(kBurstSeconds); }

double MachineProbe::bf16_gflops() const { return bf16_gflops_(kBurstSeconds); }

double MachineProbe::read_gb_s() const {
    double best = 0;
    for (int i = 0; i < kBursts; ++i)
        best = std::max(best, read_gb_s_(uncached_.as<float>(), long(uncached_floats_)));
    return best;
}

double MachineProbe::read_gb_s(double bytes) const {
    const double floats = std::clamp(bytes / sizeof(float), 1e4, double(uncached_floats_));
    return read_gb_s_(uncached_.as<float>(), long(floats));
}

double MachineProbe::round_trip_ns() const {
    constexpr double kSeconds = 0.001;
    std::array<double, kBursts> times{};
    for (double& time : times) time = round_trip_ns_(kSeconds);
    std::sort(times.begin(), times.end());
    return times[kBursts / 2];
}

Machine MachineProbe::measure() const {
    Machine machine{.cpu = cpu_name(), .isa = isa_(), .threads = runtime::thread_count()};
    for (int i = 0; i < kBursts; ++i) {
        machine.peak_gflops = std::max(machine.peak_gflops, gflops());
        machine.bf16_peak_gflops = std::max(machine.bf16_peak_gflops, bf16_gflops());
    }
    machine.read_gb_s = read_gb_s();
    machine.round_trip_ns = round_trip_ns();
    return machine;
}

}  // namespace fovea::tool
