// Numbers below 2^-126 in size, which processors of x86 compute with a hundred times slower than
// with others: softmax makes such, and so do moments of an optimizer that nothing is added to.
#pragma once

#include "registers.h"

namespace fovea::cpu::inline FOVEA_ISA {

#if defined(__SSE2__) && !defined(FOVEA_PORTABLE_BITS)

/// While it lives, this thread takes such numbers for zeros, those it computes and those it
/// computes with; or it does not. What it only moves keeps its bits.
class Subnormals {
  public:
    static constexpr unsigned kAsZeros = 0x8040, kAsTheyAre = 0;

    explicit Subnormals(unsigned how) : before_(__builtin_ia32_stmxcsr()) {
        __builtin_ia32_ldmxcsr((before_ & ~kAsZeros) | how);
    }
    ~Subnormals() { __builtin_ia32_ldmxcsr(before_); }
    Subnormals(const Subnormals&) = delete;
    Subnormals& operator=(const Subnormals&) = delete;

  private:
    const unsigned before_;
};

#else

/// Elsewhere they are numbers like others: processors of aarch64 are as fast with them, and with
/// portable bits all machines are to round them alike.
struct Subnormals {
    static constexpr unsigned kAsZeros = 0, kAsTheyAre = 0;
    explicit Subnormals(unsigned) {}
};

#endif

}  // namespace fovea::cpu::inline FOVEA_ISA
