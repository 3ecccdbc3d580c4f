// Two rows have a position in common when the same read wrote both: its number is the same.
#include "cached_rows.h"

#include <algorithm>
#include <cstring>

#include "../error.h"
#include "../memory/room.h"
#include "../memory/shape.h"

namespace fovea::runtime {

namespace {

bool is_dim(const Model& model, const Extent& size, const std::string& name) {
    return size.as_dim() >= 0 && model.dims[static_cast<std::size_t>(size.as_dim())] == name;
}

/// The dim that holds positions, or -1.
int room_of(const Model& model, const TensorSpec& state) {
    for (std::size_t i = 1; i < state.shape.size(); ++i) {
        const int dim = state.shape[i].as_dim();
        if (dim >= 0 && is_room(model.dims[static_cast<std::size_t>(dim)]))
            return static_cast<int>(i);
    }
    return -1;
}

bool is_changed_by(const Program& step, const std::string& name) {
    return std::any_of(step.outputs.begin(), step.outputs.end(), [&](const TensorSpec& output) {
        return output.state && output.name == name;
    });
}

const TensorSpec& input_of(const Program& step, const std::string& name) {
    return *std::find_if(step.inputs.begin(), step.inputs.end(),
                         [&](const TensorSpec& input) { return input.name == name; });
}

}  // namespace

CachedRows::CachedRows(const Model& model, const Program& step, const std::string& batch) {
    for (const TensorSpec& input : step.inputs) {
        if (!input.state) continue;
        State state{.name = input.name};
        state.has_rows =
            !batch.empty() && !input.shape.empty() && is_dim(model, input.shape.front(), batch);
        state.is_changed = is_changed_by(step, input.name);
        state.room = room_of(model, input);
        state.is_shared = std::none_of(
            input.shape.begin(), input.shape.end(),
            [&](const Extent& size) { return !batch.empty() && is_dim(model, size, batch); });
        states_.push_back(std::move(state));
    }
}

std::string CachedRows::why_not_follow() const {
    const auto found = std::find_if(states_.begin(), states_.end(), [](const State& state) {
        return !state.has_rows && (state.is_changed || !state.is_shared);
    });
    return found == states_.end() ? "" : found->name;
}

void CachedRows::start(Instance& step, std::size_t rows) {
    read_.assign(rows, {});
    for (State& state : states_) {
        const TensorSpec& spec = input_of(step.program(), state.name);
        const std::vector<std::int64_t> shape = step.shape_of(spec);
        state.address = step.input<std::byte>(state.name);
        state.bytes = static_cast<std::size_t>(element_count(shape)) * size_of(spec.dtype);
        state.row_bytes = state.has_rows ? state.bytes / rows : 0;
        if (!state.has_rows || state.room < 0) continue;
        const auto room = static_cast<std::size_t>(state.room);
        state.positions = static_cast<std::size_t>(shape[room]);
        state.blocks = 1;
        for (std::size_t i = 1; i < room; ++i) state.blocks *= static_cast<std::size_t>(shape[i]);
        const std::size_t positions = state.blocks * state.positions;
        state.position_bytes = positions == 0 ? 0 : state.row_bytes / positions;
    }
}

void CachedRows::wrote(std::size_t row, std::size_t positions) {
    read_[row].resize(positions);
    for (std::uint64_t& number : read_[row]) number = ++last_;
}

void CachedRows::stepped() {
    for (std::vector<std::uint64_t>& numbers : read_)
        if (!numbers.empty()) numbers.push_back(++last_);
}

/// How many positions both have, from the first one on. Rows of different lengths count as having
/// none: of a cache that is written around, the longer one has lost others.
std::size_t CachedRows::in_common(std::size_t row, std::size_t other) const {
    const std::vector<std::uint64_t>&a = read_[row], &b = read_[other];
    if (a.size() != b.size()) return 0;
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

/// Where a row's positions from `common` on lie, of `end` that it has.
std::vector<CachedRows::Piece> CachedRows::pieces_from(const State& state, std::size_t common,
                                                       std::size_t end) const {
    if (!state.has_rows || common == end || (!state.is_changed && common > 0)) return {};
    if (state.room < 0 || !state.is_changed) return {{0, state.row_bytes}};
    if (state.positions == 0) return {};
    const std::size_t count = std::min(end - common, state.positions);
    const std::size_t first = (end - count) % state.positions;
    const std::size_t before_end = std::min(count, state.positions - first);
    std::vector<Piece> pieces;
    for (std::size_t block = 0; block < state.blocks; ++block) {
        const std::size_t start = block * state.positions;
        pieces.push_back(
            {(start + first) * state.position_bytes, before_end * state.position_bytes});
        if (before_end < count)
            pieces.push_back(
                {start * state.position_bytes, (count - before_end) * state.position_bytes});
    }
    return pieces;
}

void CachedRows::copy(std::span<const std::int32_t> parents) {
    const auto parent_of = [&](std::size_t row) {
        return parents[row] < 0 ? row : static_cast<std::size_t>(parents[row]);
    };
    std::vector<bool> is_read(parents.size());
    std::vector<std::size_t> common(parents.size());
    for (std::size_t row = 0; row < parents.size(); ++row) {
        common[row] = in_common(row, parent_of(row));
        if (parent_of(row) != row) is_read[parent_of(row)] = true;
    }
    const auto for_pieces = [&](bool of_read, auto visit) {
        for (const State& state : states_)
            for (std::size_t row = 0; row < parents.size(); ++row) {
                const std::size_t parent = parent_of(row);
                if (parent == row || is_read[row] != of_read) continue;
                std::byte* const to = state.address + row * state.row_bytes;
                const std::byte* const from = state.address + parent * state.row_bytes;
                for (const Piece& piece : pieces_from(state, common[row], read_[parent].size()))
                    visit(to + piece.offset, from + piece.offset, piece.bytes);
            }
    };
    for_pieces(false, [](std::byte* to, const std::byte* from, std::size_t bytes) {
        std::memcpy(to, from, bytes);
    });
    // Rows that are read and written both: all are read before one is written.
    kept_.clear();
    for_pieces(true, [&](std::byte*, const std::byte* from, std::size_t bytes) {
        kept_.insert(kept_.end(), from, from + bytes);
    });
    const std::byte* next = kept_.data();
    for_pieces(true, [&](std::byte* to, const std::byte*, std::size_t bytes) {
        if (bytes > 0) std::memcpy(to, next, bytes);
        next += bytes;
    });
}

void CachedRows::follow(std::span<const std::int32_t> parents) {
    if (parents.size() != read_.size())
        throw InternalError("{} parents of {} rows", {parents.size(), read_.size()});
    copy(parents);
    std::vector<std::vector<std::uint64_t>> read(parents.size());
    for (std::size_t row = 0; row < parents.size(); ++row)
        if (parents[row] >= 0) read[row] = read_[static_cast<std::size_t>(parents[row])];
    read_ = std::move(read);
}

}  // namespace fovea::runtime
