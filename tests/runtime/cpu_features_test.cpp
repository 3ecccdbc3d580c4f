// Instruction sets by what a processor says of itself: one missing feature is enough for a no.
#include "runtime/cpu_features.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "runtime/isa.h"

using namespace fovea::runtime;

namespace {

/// A processor with all features but one.
Processor without(std::string_view name, std::uint64_t saved = 0x600e7) {
    const auto cpuid = [name](std::uint32_t leaf, std::uint32_t subleaf) {
        std::array<std::uint32_t, 4> registers = {};
        for (const CpuFeature& feature : cpu_features()) {
            if (feature.leaf != leaf || feature.subleaf != subleaf || feature.name == name)
                continue;
            registers[std::size_t(feature.register_number)] |= 1U << feature.bit;
        }
        return registers;
    };
    return {cpuid, [saved] { return saved; }};
}

}  // namespace

TEST_CASE("cpu features: each one that is missing rules out its instruction set and all above") {
    for (std::string_view isa : isas_of("x86_64")) CHECK(processor_has(without("none"), isa));
    for (const CpuFeature& feature : cpu_features()) {
        bool may = true;
        for (std::string_view isa : x86_isas()) {
            may = may && isa != x86_isas()[std::size_t(feature.isa)];
            INFO(std::string(feature.name), " of ", std::string(isa));
            CHECK(processor_has(without(feature.name), isa) == may);
        }
    }
}

TEST_CASE("cpu features: the table names those of x86-64-v3 and v4") {
    std::set<std::string_view> names;
    for (const CpuFeature& feature : cpu_features()) names.insert(feature.name);
    CHECK(names.size() == cpu_features().size());
    for (const char* name : {"AVX", "AVX2", "BMI1", "BMI2", "F16C", "FMA", "LZCNT", "MOVBE",
                             "OSXSAVE", "AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL",
                             "AVX512_VNNI", "AVX512_BF16", "AMX_TILE", "AMX_BF16"})
        CHECK_MESSAGE(names.count(name) == 1, name);
}

TEST_CASE("cpu features: registers that the system does not save are not used") {
    CHECK(!processor_has(without("none", 0x3), "avx2"));
    CHECK(processor_has(without("none", 0x7), "avx2"));
    CHECK(!processor_has(without("none", 0x7), "avx512"));
    CHECK(!processor_has(without("none", 0xe7), "amx_bf16"));
    CHECK(processor_has(without("none", 0xe7), "avx512_bf16"));
    CHECK(processor_has(without("none", 0xe7), "avx512_vnni"));
    CHECK(processor_has(without("none", 0x3), "baseline"));
    CHECK(!processor_has(without("none"), "neon"));
}

#if defined(__x86_64__)
TEST_CASE("cpu features: the bits are those that the compiler's own check reads") {
    const auto has = [](std::string_view isa) { return processor_has(this_processor(), isa); };
    if (has("avx2")) CHECK(__builtin_cpu_supports("avx2"));
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        CHECK(has("avx512"));
    if (has("avx512_vnni")) CHECK(__builtin_cpu_supports("avx512vnni"));
    if (has("avx512_bf16")) CHECK(__builtin_cpu_supports("avx512bf16"));
}
#endif
