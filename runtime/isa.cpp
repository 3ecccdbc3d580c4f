// The choice of an instruction set when a program starts.
#include "isa.h"

#include <algorithm>
#include <cstdlib>

#include "cpu_features.h"
#include "error.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace fovea::runtime {

namespace {

constexpr std::string_view kNames[] = {"amx_bf16", "avx512_bf16", "avx512_vnni", "avx512", "avx2",
                                       "baseline", "neon_bf16",   "neon",        "wasm"};
constexpr std::size_t kOfX86 = 6, kOfArm = 2;  // then that of wasm32
constexpr std::string_view kMachines[] = {"x86_64", "aarch64", "wasm32"};
constexpr std::string_view kPortable[] = {"avx512_portable", "avx2_portable", "neon_portable"};
constexpr std::string_view kSuffix = "_portable";

/// The instruction set itself: `avx2` of `avx2_portable`.
std::string_view without_suffix(std::string_view isa) {
    return isa.ends_with(kSuffix) ? isa.substr(0, isa.size() - kSuffix.size()) : isa;
}

/// Those of `parts` that this machine has (or all): `avx2, baseline`.
std::string list_of(std::span<const std::string_view> parts, bool all) {
    std::string text;
    for (std::string_view name : parts)
        if (all || machine_has(name)) text += (text.empty() ? "" : ", ") + std::string(name);
    return text.empty() ? "none" : text;
}

}  // namespace

std::span<const std::string_view> isa_names() { return kNames; }
std::span<const std::string_view> portable_isa_names() { return kPortable; }

std::string_view portable_of(std::string_view isa) {
    for (std::string_view name : kPortable)
        if (without_suffix(name) == isa) return name;
    return {};
}

std::span<const std::string_view> isas_of(std::string_view machine) {
    const std::span<const std::string_view> all = kNames;
    if (machine == "x86_64") return all.first(kOfX86);
    if (machine == "aarch64") return all.subspan(kOfX86, kOfArm);
    if (machine == "wasm32") return all.subspan(kOfX86 + kOfArm);
    return {};
}

std::string_view machine_of(std::string_view isa) {
    const auto end = std::end(kPortable);
    if (isa.ends_with(kSuffix) && std::find(std::begin(kPortable), end, isa) == end) return {};
    for (std::string_view machine : kMachines)
        for (std::string_view name : isas_of(machine))
            if (name == without_suffix(isa)) return machine;
    return {};
}

std::string_view this_machine() {
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__wasm32__)
    return "wasm32";
#else
    return {};
#endif
}

bool multiplies_pairs(std::string_view isa) { return isa.ends_with("_bf16"); }
bool multiplies_bytes(std::string_view isa) { return isa.ends_with("_vnni"); }

bool machine_has(std::string_view isa) {
    if (machine_of(isa) != this_machine()) return false;
#if defined(__aarch64__) && defined(__linux__)
    constexpr unsigned long kBfloat16 = 1UL << 14;  // HWCAP2_BF16
    if (multiplies_pairs(isa)) return (getauxval(AT_HWCAP2) & kBfloat16) != 0;
#elif defined(__aarch64__)
    if (multiplies_pairs(isa)) return false;
#endif
    if (this_machine() != "x86_64") return true;
    return processor_has(this_processor(), without_suffix(isa)) &&
           (isa != "amx_bf16" || may_use_tiles());
}

std::size_t choose_isa(std::span<const std::string_view> parts) {
    const auto at = [&](std::string_view name) {
        return static_cast<std::size_t>(std::find(parts.begin(), parts.end(), name) -
                                        parts.begin());
    };
    if (const char* wanted = std::getenv("FOVEA_ISA"); wanted && *wanted) {
        if (at(wanted) == parts.size())
            throw UserError(
                "FOVEA_ISA is '{}', which this program does not have; on this machine it runs {}",
                {wanted, list_of(parts, false)});
        if (!machine_has(wanted))
            throw UserError(
                "FOVEA_ISA is '{}', which this machine does not have; on it this program runs {}",
                {wanted, list_of(parts, false)});
        return at(wanted);
    }
    for (const std::span<const std::string_view> names : {isa_names(), portable_isa_names()})
        for (std::string_view name : names)
            if (at(name) < parts.size() && machine_has(name)) return at(name);
    throw UserError(
        "this program is for the instruction sets {}, and this machine has none of them",
        {list_of(parts, true)});
}

const IsaPart& choose_isa(std::span<const IsaPart> parts) {
    std::vector<std::string_view> names;
    for (const IsaPart& part : parts) names.push_back(part.isa);
    return parts[choose_isa(names)];
}

}  // namespace fovea::runtime
