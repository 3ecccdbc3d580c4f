// The features of x86-64 processors that each instruction set of the kernels takes for granted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace fovea::runtime {

/// What a processor says of itself.
struct Processor {
    /// The registers eax, ebx, ecx and edx for a leaf and subleaf; zeros where there is none.
    std::function<std::array<std::uint32_t, 4>(std::uint32_t leaf, std::uint32_t subleaf)> cpuid;
    /// XCR0: which registers the system saves. Read only where OSXSAVE is set.
    std::function<std::uint64_t()> saved_state;
};

/// The instruction sets of x86-64 from the least on: each has all features of those before it.
std::span<const std::string_view> x86_isas();

/// A bit of cpuid: register 0 is eax, 3 is edx.
struct CpuFeature {
    int isa;  // the least one that needs it, of x86_isas()
    std::string_view name;
    std::uint32_t leaf, subleaf;
    int register_number, bit;
};

/// All of x86-64-v2 and v3 for `avx2`, of v4 for `avx512`, AVX512_VNNI, AVX512_BF16 and AMX_BF16.
std::span<const CpuFeature> cpu_features();

/// Whether `processor`, an x86-64, and its system have every feature that kernels for `isa` may
/// use; false where `isa` is none of x86-64.
bool processor_has(const Processor& processor, std::string_view isa);

/// Whether the system lets this process use tiles (AMX), which it must be asked for.
bool may_use_tiles();

/// The one that this runs on; without features where it is no x86-64.
const Processor& this_processor();

}  // namespace fovea::runtime
