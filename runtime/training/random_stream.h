// Streams of uniform and normal numbers for initial values and shuffles, addressed by index.
#pragma once

#include <cstdint>
#include <span>

namespace fovea::runtime {

/// Stream number `stream` of `seed`. Element i depends on (seed, stream, i) alone and has the same
/// bits on every machine: no function of the C library takes part but sqrt and fma, which are
/// rounded correctly everywhere. Streams share no counters with dropout.
class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::uint32_t stream) : seed_(seed), stream_(stream) {}

    /// Uniform in [0, 1), 24 bits.
    float uniform(std::uint64_t index) const;
    /// N(0, 1) by Box and Muller 1958, in float64, from 53-bit uniforms.
    double normal(std::uint64_t index) const;
    /// A whole number in [0, limit), limit > 0; the bias is below limit / 2^64.
    std::uint64_t below(std::uint64_t index, std::uint64_t limit) const;

    /// values[i] = U(-bound, bound), element i of the stream.
    void fill_uniform(std::span<float> values, double bound) const;
    /// values[i] = N(0, 1), element i of the stream.
    void fill_normal(std::span<float> values) const;

  private:
    std::uint64_t seed_;
    std::uint32_t stream_;
};

}  // namespace fovea::runtime
