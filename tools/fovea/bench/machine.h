// What the machine can do at most, measured: the roof that kernels are compared with.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/memory/arena.h"

namespace fovea::tool {

/// The machine as reports name it. Rates are of all threads together.
struct Machine {
    std::string cpu, isa;
    int threads = 1;
    double peak_gflops = 0;       // float32 multiply-adds, one counting twice
    double bf16_peak_gflops = 0;  // products of bfloat16; 0: no instruction multiplies them
    double read_gb_s = 0;         // from memory, 1e9 bytes a second
    /// Until one thread sees the answer of another: what a barrier takes. 0 with one thread.
    double round_trip_ns = 0;
    /// How much of its peak the machine gave on average: 1 when nobody else uses it.
    double quiet = 1;
    double least_share = 1;  // the same of the row where it gave the least
};

/// Measures this machine with the threads that `runtime::set_threads` chose. The probe is a small
/// library, compiled on the spot for this very machine.
class MachineProbe {
  public:
    /// UserError without a C++ compiler.
    MachineProbe();

    /// GFLOP/s of one burst of 3 ms, in float32.
    double gflops() const;
    /// The same of dot products of bfloat16 pairs; 0 where the machine has none.
    double bf16_gflops() const;
    /// The best of some reads of an array well beyond the last cache.
    double read_gb_s() const;
    /// One read of so many bytes of it, at most of all.
    double read_gb_s(double bytes) const;
    /// The median of some round trips between two threads.
    double round_trip_ns() const;
    /// Everything, the rates being the best of some.
    Machine measure() const;

  private:
    const char* (*isa_)() = nullptr;
    double (*gflops_)(double) = nullptr;
    double (*bf16_gflops_)(double) = nullptr;
    double (*read_gb_s_)(const float*, long) = nullptr;
    double (*round_trip_ns_)(double) = nullptr;
    std::size_t uncached_floats_;
    runtime::Arena uncached_;
};

}  // namespace fovea::tool
