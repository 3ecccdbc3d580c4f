// The table of features by cpuid, as Intel's and AMD's manuals number them.
#include "cpu_features.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fovea::runtime {
namespace {

constexpr int kEax = 0, kEbx = 1, kEcx = 2, kEdx = 3;
constexpr std::uint32_t kExtended = 0x80000001;

constexpr std::string_view kIsas[] = {"baseline",    "avx2",        "avx512",
                                      "avx512_vnni", "avx512_bf16", "amx_bf16"};
constexpr int kAvx2 = 1, kAvx512 = 2, kAvx512Vnni = 3, kAvx512Bf16 = 4, kAmxBf16 = 5;

constexpr CpuFeature kFeatures[] = {
    {kAvx2, "SSE3", 1, 0, kEcx, 0},
    {kAvx2, "SSSE3", 1, 0, kEcx, 9},
    {kAvx2, "CMPXCHG16B", 1, 0, kEcx, 13},
    {kAvx2, "SSE4.1", 1, 0, kEcx, 19},
    {kAvx2, "SSE4.2", 1, 0, kEcx, 20},
    {kAvx2, "POPCNT", 1, 0, kEcx, 23},
    {kAvx2, "LAHF", kExtended, 0, kEcx, 0},
    {kAvx2, "FMA", 1, 0, kEcx, 12},
    {kAvx2, "MOVBE", 1, 0, kEcx, 22},
    {kAvx2, "OSXSAVE", 1, 0, kEcx, 27},
    {kAvx2, "AVX", 1, 0, kEcx, 28},
    {kAvx2, "F16C", 1, 0, kEcx, 29},
    {kAvx2, "LZCNT", kExtended, 0, kEcx, 5},
    {kAvx2, "BMI1", 7, 0, kEbx, 3},
    {kAvx2, "AVX2", 7, 0, kEbx, 5},
    {kAvx2, "BMI2", 7, 0, kEbx, 8},
    {kAvx512, "AVX512F", 7, 0, kEbx, 16},
    {kAvx512, "AVX512DQ", 7, 0, kEbx, 17},
    {kAvx512, "AVX512CD", 7, 0, kEbx, 28},
    {kAvx512, "AVX512BW", 7, 0, kEbx, 30},
    {kAvx512, "AVX512VL", 7, 0, kEbx, 31},
    {kAvx512Vnni, "AVX512_VNNI", 7, 0, kEcx, 11},
    {kAvx512Bf16, "AVX512_BF16", 7, 1, kEax, 5},
    {kAmxBf16, "AMX_TILE", 7, 0, kEdx, 24},
    {kAmxBf16, "AMX_BF16", 7, 0, kEdx, 22},
};

/// XCR0 of a system that saves the registers of AVX, those of AVX-512, and tiles, for each level.
constexpr std::uint64_t kSavesAvx = 0x6, kSavesAvx512 = 0xe6, kSavesTiles = 0x600e6;
constexpr std::uint64_t kSaved[] = {0,          kSavesAvx, kSavesAvx512, kSavesAvx512, kSavesAvx512,
                                    kSavesTiles};

int level_of(std::string_view isa) {
    return static_cast<int>(std::find(std::begin(kIsas), std::end(kIsas), isa) - std::begin(kIsas));
}

#if defined(__x86_64__)
std::array<std::uint32_t, 4> cpuid_here(std::uint32_t leaf, std::uint32_t subleaf) {
    std::array<std::uint32_t, 4> r = {};
    if (!__get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3])) return {};
    return r;
}

std::uint64_t saved_state_here() {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t(high) << 32 | low;
}
#else
std::array<std::uint32_t, 4> cpuid_here(std::uint32_t, std::uint32_t) { return {}; }
std::uint64_t saved_state_here() { return 0; }
#endif

}  // namespace

std::span<const std::string_view> x86_isas() { return kIsas; }
std::span<const CpuFeature> cpu_features() { return kFeatures; }

bool processor_has(const Processor& processor, std::string_view isa) {
    const int level = level_of(isa);
    if (level == 0) return true;
    if (level == static_cast<int>(std::size(kIsas))) return false;
    for (const CpuFeature& feature : kFeatures) {
        if (feature.isa > level) continue;
        const auto registers = processor.cpuid(feature.leaf, feature.subleaf);
        if (!(registers[std::size_t(feature.register_number)] >> feature.bit & 1)) return false;
    }
    return (processor.saved_state() & kSaved[level]) == kSaved[level];
}

bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr long kAskForState = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h
    return syscall(SYS_arch_prctl, kAskForState, kTiles) == 0;
#else
    return false;
#endif
}

const Processor& this_processor() {
    static const Processor processor{cpuid_here, saved_state_here};
    return processor;
}

}  // namespace fovea::runtime
