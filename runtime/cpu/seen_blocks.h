// Which blocks of a tile of pairs a bound leaves: where a tile [row, lane] of scores lies across
// the edge of a mask, products are taken of the blocks that have a pair inside, and of no others.
//
// A block is 16 rows x 16 lanes. What is left out would add zeros to a sum, so the bits are those
// of the whole tile.
#pragma once

#include "tile.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Some rows of a sum, and the steps that they take.
struct Part {
    i64 row, row_end, step, step_end;
};
template <i64 Most>
struct Parts {
    Part part[Most];
    i64 count = 0;

    /// Rows of the same steps are one part.
    FOVEA_INLINE void add(const Part& next) {
        Part* const last = part + count - 1;
        const bool same = count > 0 && last->row_end == next.row && last->step == next.step &&
                          last->step_end == next.step_end;
        if (same) last->row_end = next.row_end;
        else part[count++] = next;
    }
    const Part* begin() const { return part; }
    const Part* end() const { return part + count; }
};

/// Of bounds that move along the lanes: the smallest and the largest of all, at least 0 and at most
/// the extent, and of each vector of lanes.
template <i64 Lanes>
struct LaneBounds {
    static constexpr i64 kVectors = Lanes / kLanes;
    i64 smallest, largest;
    i64 smallest_of[kVectors], largest_of[kVectors];
};
template <i64 Lanes, class Bound>
FOVEA_INLINE LaneBounds<Lanes> lane_bounds(i64 lanes, i64 extent, const Bound& bound) {
    LaneBounds<Lanes> bounds{extent, 0, {}, {}};
    for (i64 v = 0; v * kLanes < lanes; ++v) {
        const Bounds own =
            bounds_of(minimum(lanes - v * kLanes, kLanes), extent,
                      [&](i64 lane) FOVEA_LAMBDA { return bound(v * kLanes + lane); });
        bounds.smallest_of[v] = own.smallest;
        bounds.largest_of[v] = own.largest;
        bounds.smallest = minimum(bounds.smallest, own.smallest);
        bounds.largest = maximum(bounds.largest, own.largest);
    }
    return bounds;
}

/// Where rows have no bound that moves along the lanes.
struct Unbounded {};
inline constexpr Unbounded unbounded{};

template <i64 Rows, i64 Lanes>
struct SeenBlocks {
    static constexpr i64 kRowBlocks = Rows / kLanes, kVectors = Lanes / kLanes;
    i64 rows, lanes;  // of the tile
    i64 first[kVectors], end[kVectors];  // the rows that a vector of lanes sees, whole blocks
    i64 whole_first[kVectors], whole_end[kVectors];  // those that all of its lanes see
    bool all = true;  // every block is seen

    /// The rows that a vector of lanes sees.
    FOVEA_INLINE StepRange rows_of(i64 lane) const {
        return {first[lane / kLanes], end[lane / kLanes]};
    }
    /// Those of them that not all of its lanes see are before and behind these.
    FOVEA_INLINE StepRange whole_rows_of(i64 lane) const {
        const i64 v = lane / kLanes;
        const i64 from = minimum(maximum(whole_first[v], first[v]), end[v]);
        return {from, minimum(maximum(whole_end[v], from), end[v])};
    }
    /// Sums of the lanes over the rows.
    FOVEA_INLINE Parts<kVectors> by_lanes() const {
        Parts<kVectors> parts;
        if (all) {
            parts.add({0, lanes, 0, rows});
            return parts;
        }
        for (i64 v = 0; v * kLanes < lanes; ++v)
            parts.add({v * kLanes, minimum(v * kLanes + kLanes, lanes), first[v], end[v]});
        return parts;
    }
    /// Sums of the rows over the lanes.
    FOVEA_INLINE Parts<kRowBlocks> by_rows() const {
        Parts<kRowBlocks> parts;
        if (all) {
            parts.add({0, rows, 0, lanes});
            return parts;
        }
        for (i64 row = 0; row < rows; row += kLanes) {
            const StepRange own = lanes_of(row);
            parts.add({row, minimum(row + kLanes, rows), own.first, own.last});
        }
        return parts;
    }
    /// The lanes that see a block of rows, and those between them.
    FOVEA_INLINE StepRange lanes_of(i64 row) const {
        i64 from = lanes, to = 0;
        for (i64 v = 0; v * kLanes < lanes; ++v)
            if (first[v] < row + kLanes && row < end[v]) {
                from = minimum(from, v * kLanes);
                to = minimum(v * kLanes + kLanes, lanes);
            }
        return {minimum(from, to), to};
    }
    /// Lanes between those that see a block of rows see it, too; whether they did.
    FOVEA_INLINE bool close() {
        bool closed = true;
        for (i64 row = 0; row < rows; row += kLanes)
            for (i64 lane = lanes_of(row).first; lane < lanes_of(row).last; lane += kLanes) {
                const i64 v = lane / kLanes;
                if (first[v] <= row && row < end[v]) continue;
                closed = false;
                const bool none = first[v] >= end[v];
                first[v] = none ? row : minimum(first[v], row);
                end[v] = minimum(none ? row + kLanes : maximum(end[v], row + kLanes), rows);
            }
        return closed;
    }
};

/// The blocks of the tile that begins at row `at`, between bounds of the rows, one of which may be
/// `unbounded`.
template <i64 Rows, i64 Lanes, class From, class End>
FOVEA_INLINE SeenBlocks<Rows, Lanes> seen_blocks(i64 at, i64 rows, i64 lanes, const From& from,
                                                 const End& end) {
    SeenBlocks<Rows, Lanes> seen{rows, lanes, {}, {}, {}, {}};
    for (i64 v = 0; v * kLanes < lanes; ++v) {
        i64 first = 0, last = rows;
        seen.whole_end[v] = rows;
        if constexpr (!std::is_same_v<From, Unbounded>) {
            first = minimum(maximum(from.smallest_of[v] - at, i64(0)) / kLanes * kLanes, rows);
            seen.whole_first[v] = from.largest_of[v] - at;
        }
        if constexpr (!std::is_same_v<End, Unbounded>) {
            last = minimum((maximum(end.largest_of[v] - at, i64(0)) + kLanes - 1) / kLanes * kLanes,
                           rows);
            seen.whole_end[v] = end.smallest_of[v] - at;
        }
        seen.first[v] = first;
        seen.end[v] = maximum(first, last);
        seen.all = seen.all && first == 0 && last == rows;
    }
    if (!seen.all)
        while (!seen.close()) {
        }
    return seen;
}

/// Calls body(row) for the rows that a vector of lanes sees, and not all of its lanes do.
template <class Seen, class Body>
FOVEA_INLINE void for_edge_rows(const Seen& seen, i64 lane, const Body& body) {
    const StepRange all = seen.rows_of(lane), whole = seen.whole_rows_of(lane);
    for_rows(StepRange{all.first, whole.first}, body);
    for_rows(StepRange{whole.last, all.last}, body);
}

/// What becomes of elements of blocks that are not seen: nothing, or they are their start.
enum class Unseen { left, start };

/// `sum_tile` of a tile of pairs.
template <int Rows, int Vectors, Unseen Rest, class Seen, class Count, class Start, class Term,
          class Finish, class Ahead = Nothing>
FOVEA_INLINE void sum_seen(const Seen& seen, Count steps, const Start& start, const Term& term,
                           const Finish& finish, const Ahead& ahead = {}) {
    using Tiles = RegisterTiles<Rows, Vectors>;
    constexpr int kVectors = Tiles::kVectors;
    // Rows of a block are one register tile where there is room.
    constexpr int kFew = !Tiles::kRoomy ? Tiles::kRows : Rows > 4 ? kLanes : 2 * Rows;
    const i64 vectors = (seen.lanes + kLanes - 1) / kLanes;
    constexpr bool kBlocks = sums_blocks<Term, floats, Count>();
    if constexpr (kBlocks)
        if (seen.all)
            return term.sum_block(TileBlock{0, seen.rows, 0, seen.lanes}, StepRange{0, i64(steps)},
                                  start, finish, ahead);
    i64 vector = 0;
    if constexpr (kVectors > 1)
        if (seen.all)
            for (; vector + kVectors <= vectors; vector += kVectors)
                sum_rows_of_blocks<Rows, kVectors, floats>(0, seen.rows, vector * kLanes, steps,
                                                           start, term, finish, ahead);
    for (; vector < vectors; ++vector) {
        const i64 lane = vector * kLanes, first = seen.first[vector], end = seen.end[vector];
        const Part parts[] = {
            {first, end, 0, i64(steps)}, {0, first, 0, 0}, {end, seen.rows, 0, 0}};
        if constexpr (kBlocks)
            term.sum_block(TileBlock{first, end, lane, lane + kLanes}, StepRange{0, i64(steps)},
                           start, finish, ahead);
        for (int i = kBlocks; i < (Rest == Unseen::left ? 1 : 3); ++i)
            sum_rows_of_blocks<kFew, 1, floats>(parts[i].row, parts[i].row_end, lane,
                                                StepRange{parts[i].step, parts[i].step_end}, start,
                                                term, finish, ahead);
    }
}

/// `sum_tile` with the steps that each part of the rows takes.
template <int Rows, int Vectors, class V = floats, i64 Most, class Width, class Start, class Term,
          class Finish, class Ahead = Nothing>
FOVEA_INLINE void sum_parts(const Parts<Most>& parts, Width lanes, const Start& start,
                            const Term& term, const Finish& finish, const Ahead& ahead = {}) {
    if constexpr (sums_blocks<Term, V, i64>()) {
        for (const Part& part : parts)
            term.sum_block(TileBlock{part.row, part.row_end, 0, lanes},
                           StepRange{part.step, part.step_end}, start, finish, ahead);
        return;
    }
    for_tile_lanes<Rows, Vectors, V>(lanes, [&](auto size, i64 lane) FOVEA_LAMBDA {
        using Size = decltype(size);
        for (const Part& part : parts)
            sum_rows_of_blocks<Size::kRows, Size::kVectors, V>(part.row, part.row_end, lane,
                                                               StepRange{part.step, part.step_end},
                                                               start, term, finish, ahead);
    });
}

}  // namespace fovea::cpu::inline FOVEA_ISA
