// A walk over a weight of whole numbers in memory: steps of a row that lie together, and scales.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "../memory/weight_storage.h"
#include "../parallel/region.h"

namespace fovea::runtime {

/// Some steps of a row that lie together, as a line of 16 words: the first of these, and which of
/// the 16 rows it is.
struct WeightLine {
    std::int64_t row, step, count;  // fewer steps than a line has where the row ends
    std::int64_t first_word;

    std::int64_t lane() const { return row % WeightLayout::kRows; }
};

/// Rows begin to end - 1, some of a weight's.
struct WeightRows {
    std::int64_t begin, end;
};

/// Calls take(a WeightLine) for all numbers of these rows.
template <class Take>
void for_weight_lines(const WeightLayout& layout, WeightRows rows, Take take) {
    constexpr std::int64_t kRows = WeightLayout::kRows;
    const std::int64_t together = layout.steps_together(), group = layout.group;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t panel = row / kRows * layout.words_of_panel();
        for (std::int64_t first = 0, number = 0; first < layout.depth; first += group, ++number) {
            std::int64_t word =
                panel + number / 2 * layout.words_of_pair() + (1 + number % 2) * kRows;
            const std::int64_t end = std::min(first + group, layout.depth);
            for (std::int64_t step = first; step < end; step += together, word += 2 * kRows)
                take(WeightLine{row, step, std::min(together, end - step), word});
        }
    }
}

/// Calls take(row, the number of its scale, a place of that among halves of words): each place.
template <class Take>
void for_weight_scales(const WeightLayout& layout, WeightRows rows, Take take) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
        for (std::int64_t number = 0; number < layout.groups_in_memory(); ++number)
            take(row, number * layout.group / layout.storage.group,
                 2 * layout.word_of_scale(row, number) + number % 2);
}

/// The numbers of a line, one after the other, the first in the lowest bits: bytes, or 4 bits each
/// in two's complement. Those behind its last one are 0.
inline void store_steps(const WeightLayout& layout, const WeightLine& line, std::uint32_t steps,
                        std::span<std::uint32_t> words) {
    std::uint32_t* const to = &words[static_cast<std::size_t>(line.first_word)];
    if (layout.storage.bits == 4) {
        constexpr std::uint32_t kEights = 0x88888888U;
        to[line.lane()] = (steps ^ kEights) & (0xffffffffU >> 4 * (8 - line.count));
        return;
    }
    auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
    for (std::int64_t i = 0; i < line.count; ++i)
        bytes[i * WeightLayout::kRows + line.lane()] = static_cast<std::uint8_t>(steps >> 8 * i);
}
inline std::uint32_t steps_of(const WeightLayout& layout, const WeightLine& line,
                              std::span<const std::uint32_t> words) {
    const std::uint32_t* const from = &words[static_cast<std::size_t>(line.first_word)];
    if (layout.storage.bits == 4) return from[line.lane()] ^ 0x88888888U;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
    std::uint32_t steps = 0;
    for (std::int64_t i = 0; i < line.count; ++i)
        steps |= std::uint32_t{bytes[i * WeightLayout::kRows + line.lane()]} << 8 * i;
    return steps;
}

/// All threads call work(some rows): whole panels of 16.
template <class Work>
void for_parts_of_rows(const WeightLayout& layout, Work work) {
    const std::int64_t panels = (layout.rows + WeightLayout::kRows - 1) / WeightLayout::kRows;
    const auto row_of = [&](std::int64_t index, std::int64_t count) {
        return std::min(panels * index / count * WeightLayout::kRows, layout.rows);
    };
    Team team;
    run_region(team, [&] {
        const Part part = Team::part();
        work(WeightRows{row_of(part.index, part.count), row_of(part.index + 1, part.count)});
    });
}

/// Numbers with `scales` [rows, groups] to the words of the layout. steps(line) gives those of a
/// line as `store_steps` takes them.
template <class Steps>
void pack_lines(const WeightLayout& layout, std::span<const std::uint16_t> scales,
                std::span<std::uint32_t> words, Steps steps) {
    std::fill(words.begin(), words.end(), 0U);
    for_parts_of_rows(layout, [&](WeightRows rows) {
        for_weight_scales(layout, rows, [&](std::int64_t row, std::int64_t group, std::int64_t at) {
            words[static_cast<std::size_t>(at / 2)] |=
                std::uint32_t{scales[static_cast<std::size_t>(row * layout.groups() + group)]}
                << at % 2 * 16;
        });
        for_weight_lines(layout, rows, [&](const WeightLine& line) {
            store_steps(layout, line, steps(line), words);
        });
    });
}

}  // namespace fovea::runtime
