// Rows of caches that go on from each other, as the hypotheses of a beam search do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../instance.h"

namespace fovea::runtime {

/// The states of a step that reads a token of each row, and what each row of them has in common
/// with the others. A row that goes on from another one takes the positions behind the last that
/// both have; those before lie in it already.
class CachedRows {
  public:
    struct State {
        std::string name;
        bool has_rows = true;     // along its first dim
        bool is_shared = false;   // it has none: it is the same for all
        bool is_changed = false;  // by steps
        int room = -1;            // the dim of positions; -1: it is no list of them
        // Where it lies, row after row: [rows, blocks, positions, position_bytes], or
        // [rows, row_bytes].
        std::byte* address = nullptr;
        std::size_t bytes = 0, row_bytes = 0;
        std::size_t blocks = 1, positions = 0, position_bytes = 0;
    };

    /// The states of `step`, whose rows are dim `batch`; an empty name: it has none.
    CachedRows(const Model& model, const Program& step, const std::string& batch);

    /// Why rows cannot go on from each other: the name of a state that does not allow it; empty
    /// where they can.
    std::string why_not_follow() const;

    /// Finds the states of the step, which is bound to `rows`; no row has read anything.
    void start(Instance& step, std::size_t rows);
    std::span<const State> states() const { return states_; }

    /// The row's states have been written: it has read `positions`, in common with no other row.
    void wrote(std::size_t row, std::size_t positions);
    /// Each row that has read something has read one position more.
    void stepped();
    /// What the row has read is of no use.
    void end(std::size_t row) { read_[row].clear(); }
    /// Row i goes on from where row parents[i] is; -1: from nowhere, it has ended.
    void follow(std::span<const std::int32_t> parents);

  private:
    /// Bytes of a row of a state.
    struct Piece {
        std::size_t offset = 0, bytes = 0;
    };
    std::size_t in_common(std::size_t row, std::size_t other) const;
    std::vector<Piece> pieces_from(const State& state, std::size_t common, std::size_t end) const;
    void copy(std::span<const std::int32_t> parents);

    std::vector<State> states_;
    std::vector<std::vector<std::uint64_t>> read_;  // of rows: a number for each position
    std::uint64_t last_ = 0;  // number
    std::vector<std::byte> kept_;  // of rows that others go on from
};

}  // namespace fovea::runtime
