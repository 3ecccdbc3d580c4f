#include "tools/fovea/help/environment.h"

namespace fovea::tool {

namespace {

constexpr EnvironmentVariable kVariables[] = {
    {"CXX", "the C++ compiler, with flags if need be; else one is searched for", false},
    {"FOVEA_CHECK_WAITS",
     "seconds: in PTX that is written, a wait for a copy that takes longer is an error of the "
     "kernel, not a hang",
     false},
    {"FOVEA_CXXFLAGS", "more flags for the compiler of generated code", false},
    {"FOVEA_HOME", "the sources that models include, if not those that were built or installed",
     false},
    {"FOVEA_ISA",
     "the instruction set that is taken, one of those that the program has (its describe says "
     "which is taken): amx_bf16, avx512_bf16, avx512_vnni, avx512, avx2, baseline; "
     "neon_bf16, neon; wasm; "
     "behind avx512, avx2 and neon _portable for --bits portable; else the best that the machine "
     "has",
     true},
    {"FOVEA_MODELS",
     "libraries of compiled models, with colons between: their models are known in place of the "
     "built-in ones",
     false},
    {"FOVEA_PROFILE",
     "a file: a span for each call of a kernel is written there, as a Chrome trace, and a table to "
     "standard error at the end",
     true},
    {"GOMP_CPU_AFFINITY", "where it is set, threads stay where OpenMP puts them", true},
    {"HOME", "the cache is below it, in .cache, where XDG_CACHE_HOME is not set", false},
    {"OMP_NUM_THREADS", "how many threads there are, where no option says it", true},
    {"OMP_PROC_BIND", "where it is set, threads stay where OpenMP puts them", true},
    {"PATH", "where the compiler is searched for", false},
    {"TMPDIR", "where temporary files go; /tmp by default", false},
    {"XDG_CACHE_HOME", "the folder of the cache of compiled code", false}};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

}  // namespace fovea::tool
