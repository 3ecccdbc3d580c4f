// How the elements of a weight lie in memory: as floats, or as whole numbers of a few bits with
// scales, in the order in which a product reads them.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// Whole numbers of `bits` bits, 8 or 4, and a scale for each `group` of neighbours along the last
/// axis; 0 bits: floats.
struct WeightStorage {
    int bits = 0, group = 0;

    explicit constexpr operator bool() const { return bits > 0; }
    constexpr bool operator==(const WeightStorage&) const = default;
};

/// How many neighbours lie together in memory as a group, of rows of `depth` numbers: those that
/// share a scale, or a part of them where pairs of whole groups would end far behind the row. A
/// part is a multiple of 16, and of 32 where the group is one, as tiles multiply.
constexpr std::int64_t group_in_memory(WeightStorage storage, std::int64_t depth) {
    const std::int64_t multiple = storage.group % 32 == 0 ? 32 : 16;
    std::int64_t best = storage.group, least = -1;
    for (std::int64_t parts = 1; parts * multiple <= storage.group; ++parts) {
        const std::int64_t part = storage.group / parts;
        if (part * parts != storage.group || part % multiple != 0) continue;
        const std::int64_t behind = (depth + 2 * part - 1) / (2 * part) * 2 * part - depth;
        if (behind <= depth / 8) return part;
        if (least < 0 || behind < least) best = part, least = behind;
    }
    return best;
}

/// The words of 32 bits that a weight [rows, depth] of such numbers lies in. Sixteen rows are a
/// panel, which a product reads from start to end, two groups of memory at a time:
///
///     16 words: of each row the scales of both groups, bfloat16, the first in the lower half
///     of the first and of the second group in turn, 16 words with some steps:
///         8 bits: of each of 4 steps the bytes of all rows
///         4 bits: of each row a word with 8 steps, the first in its lowest bits, + 8
///
/// Rows and groups behind the last ones have scales of 0.
struct WeightLayout {
    static constexpr std::int64_t kRows = 16;

    WeightStorage storage{};
    std::int64_t rows = 0, depth = 0;
    std::int64_t group = group_in_memory(storage, depth);  // divides that of the scales

    /// Scales of a row.
    constexpr std::int64_t groups() const { return (depth + storage.group - 1) / storage.group; }
    constexpr std::int64_t groups_in_memory() const { return (depth + group - 1) / group; }
    constexpr std::int64_t pairs() const { return (groups_in_memory() + 1) / 2; }
    /// Steps that lie together in 16 words.
    constexpr std::int64_t steps_together() const { return 32 / storage.bits; }
    constexpr std::int64_t words_of_pair() const {
        return kRows + 2 * group / steps_together() * kRows;
    }
    constexpr std::int64_t words_of_panel() const { return pairs() * words_of_pair(); }
    constexpr std::int64_t words() const { return (rows + kRows - 1) / kRows * words_of_panel(); }

    /// The word that holds the scale of a row's group of memory; it is in the upper half of odd
    /// groups.
    constexpr std::int64_t word_of_scale(std::int64_t row, std::int64_t number) const {
        return row / kRows * words_of_panel() + number / 2 * words_of_pair() + row % kRows;
    }
    /// The word that holds an element.
    constexpr std::int64_t word_of(std::int64_t row, std::int64_t step) const {
        const std::int64_t number = step / group, inside = step % group;
        const std::int64_t line = inside / steps_together() * 2 + number % 2;
        const std::int64_t first =
            row / kRows * words_of_panel() + number / 2 * words_of_pair() + kRows + line * kRows;
        if (storage.bits == 8) return first + (inside % 4 * kRows + row % kRows) / 4;
        return first + row % kRows;
    }
    /// Where in its word it begins.
    constexpr int bit_of(std::int64_t row, std::int64_t step) const {
        return storage.bits == 8 ? int(row % 4 * 8) : int(step % group % 8 * 4);
    }
};

}  // namespace fovea::runtime
