// Uniform and normal numbers from Philox. Every product stands alone, so that no compiler flag can
// contract it with a sum and change a bit.
#include "random_stream.h"

#include <cmath>

#include "../parallel/lost_team.h"
#include "philox.h"
#include "portable_math.h"

namespace fovea::runtime {
namespace {

using RandomWords = std::array<std::uint32_t, 4>;

RandomWords words_of(std::uint64_t seed, std::uint32_t stream, std::uint64_t block) {
    // Dropout's last counter word is a column / 4, which never has the highest bit.
    constexpr std::uint32_t kStreamTag = 0x80000000U;
    return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                   stream, kStreamTag},
                  philox_key(seed));
}

std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
    return static_cast<std::uint64_t>(high) << 32 | low;
}

struct NormalPair {
    double first = 0, second = 0;
};

NormalPair normal_pair(const RandomWords& words) {
    const double radius_draw =
        static_cast<double>((joined(words[0], words[1]) >> 11) + 1) * 0x1p-53;  // (0, 1]
    const double turn = static_cast<double>(joined(words[2], words[3]) >> 11) * 0x1p-53;
    const double radius = std::sqrt(-2.0 * natural_log(radius_draw));
    const SineCosine direction = sine_cosine_of_turn(turn);
    return {radius * direction.cosine, radius * direction.sine};
}

}  // namespace

float RandomStream::uniform(std::uint64_t index) const {
    return uniform_of(words_of(seed_, stream_, index / 4)[index % 4]);
}

double RandomStream::normal(std::uint64_t index) const {
    const NormalPair pair = normal_pair(words_of(seed_, stream_, index / 2));
    return index % 2 == 0 ? pair.first : pair.second;
}

std::uint64_t RandomStream::below(std::uint64_t index, std::uint64_t limit) const {
    const RandomWords words = words_of(seed_, stream_, index / 2);
    const std::uint64_t draw =
        index % 2 == 0 ? joined(words[0], words[1]) : joined(words[2], words[3]);
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(draw) * limit >> 64);
}

void RandomStream::fill_uniform(std::span<float> values, double bound) const {
    const auto blocks = static_cast<std::int64_t>((values.size() + 3) / 4);
    note_team();
#pragma omp parallel for schedule(static) if (!team_is_lost())
    for (std::int64_t block = 0; block < blocks; ++block) {
        const auto start = static_cast<std::size_t>(block) * 4;
        const RandomWords words = words_of(seed_, stream_, static_cast<std::uint64_t>(block));
        for (std::size_t lane = 0; lane < 4 && start + lane < values.size(); ++lane) {
            const double centred = 2.0 * static_cast<double>(uniform_of(words[lane])) - 1.0;
            values[start + lane] = static_cast<float>(centred * bound);
        }
    }
}

void RandomStream::fill_normal(std::span<float> values) const {
    const auto pairs = static_cast<std::int64_t>((values.size() + 1) / 2);
    note_team();
#pragma omp parallel for schedule(static) if (!team_is_lost())
    for (std::int64_t i = 0; i < pairs; ++i) {
        const auto start = static_cast<std::size_t>(i) * 2;
        const NormalPair pair =
            normal_pair(words_of(seed_, stream_, static_cast<std::uint64_t>(i)));
        values[start] = static_cast<float>(pair.first);
        if (start + 1 < values.size()) values[start + 1] = static_cast<float>(pair.second);
    }
}

}  // namespace fovea::runtime
