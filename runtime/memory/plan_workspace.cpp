// Greedy best-fit placement of buffers with known lifetimes.
#include "plan_workspace.h"

#include <algorithm>
#include <map>
#include <utility>

#include "../error.h"
#include "arena.h"
#include "sort_plain.h"

namespace fovea::runtime {
namespace {

/// A buffer that has its place.
struct Placed {
    const BufferLife* buffer = nullptr;
    std::size_t offset = 0;

    std::size_t end() const { return offset + aligned(buffer->bytes); }
};

bool live_together(const BufferLife& a, const BufferLife& b) {
    return a.first <= b.last && b.first <= a.last;
}

/// The offset of the smallest gap that holds the buffer between those it lives with, which are in
/// the order of their offsets; else the end of the last.
std::size_t best_fit(const std::vector<Placed>& placed, const BufferLife& buffer) {
    const std::size_t bytes = aligned(buffer.bytes);
    std::size_t cursor = 0, best = 0, best_gap = 0;
    bool found = false;
    for (const Placed& other : placed) {
        if (!live_together(buffer, *other.buffer)) continue;
        if (other.offset > cursor) {
            const std::size_t gap = other.offset - cursor;
            if (gap >= bytes && (!found || gap < best_gap)) {
                found = true;
                best = cursor;
                best_gap = gap;
            }
        }
        cursor = std::max(cursor, other.end());
    }
    return found ? best : cursor;
}

/// Puts a buffer among those that have their places, in the order of offsets.
void put_among(const Placed& own, std::vector<Placed>& placed, WorkspacePlan& plan) {
    plan.peak_bytes = std::max(plan.peak_bytes, own.end());
    placed.push_back(own);
    for (std::size_t i = placed.size() - 1; i > 0 && placed[i - 1].offset > own.offset; --i)
        std::swap(placed[i - 1], placed[i]);
}

bool is_larger(const BufferLife* a, const BufferLife* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
}

WorkspacePlan place_in_order(std::span<const BufferLife* const> order,
                             std::span<const BufferLife> buffers,
                             std::span<const FixedBuffer> fixed) {
    WorkspacePlan plan;
    plan.offsets.assign(buffers.size(), 0);
    std::vector<Placed> placed;  // in the order of their offsets
    placed.reserve(buffers.size() + fixed.size());
    for (const FixedBuffer& own : fixed)  // one of no bytes would part a gap in two
        if (own.life.bytes > 0) put_among({&own.life, own.offset}, placed, plan);
    for (const BufferLife* const buffer : order) {
        const Placed own = {buffer, best_fit(placed, *buffer)};
        plan.offsets[static_cast<std::size_t>(buffer - buffers.data())] = own.offset;
        put_among(own, placed, plan);
    }
    return plan;
}

/// The number of the buffer whose place one has.
std::size_t first_under(std::span<const BufferLife> buffers, std::size_t number) {
    while (buffers[number].over >= 0) number = static_cast<std::size_t>(buffers[number].over);
    return number;
}

/// Buffers whose place is that of an earlier one, as one life from the first to the last of them;
/// what lies over others has no bytes.
std::vector<BufferLife> joined_lives(std::span<const BufferLife> buffers) {
    std::vector<BufferLife> lives(buffers.begin(), buffers.end());
    for (std::size_t i = 0; i < lives.size(); ++i) {
        BufferLife& own = lives[i];
        if (own.last < own.first) {
            throw InternalError("a buffer lives from step {} to step {}", {own.first, own.last});
        }
        if (own.over < 0) continue;
        BufferLife& under = lives[first_under(buffers, i)];
        if (own.bytes != under.bytes || own.first != under.last)
            throw InternalError("a buffer lies over one that does not end where it begins");
        under.last = own.last;
        own.bytes = 0;
    }
    return lives;
}

}  // namespace

std::size_t largest_live_bytes(std::span<const BufferLife> buffers) {
    // Bytes that start to live at a step, and those whose last step was the one before.
    struct Change {
        std::size_t starts = 0, ends = 0;
    };
    std::map<long long, Change> changes;
    for (const BufferLife& buffer : joined_lives(buffers)) {
        changes[buffer.first].starts += aligned(buffer.bytes);
        changes[buffer.last + 1LL].ends += aligned(buffer.bytes);
    }
    std::size_t live = 0, largest = 0;
    for (const auto& [step, change] : changes) {
        live = live - change.ends + change.starts;
        largest = std::max(largest, live);
    }
    return largest;
}

WorkspacePlan plan_workspace(std::span<const BufferLife> buffers,
                             std::span<const FixedBuffer> fixed) {
    const std::vector<BufferLife> lives = joined_lives(buffers);
    std::vector<const BufferLife*> order;
    order.reserve(lives.size());
    for (const BufferLife& life : lives)
        if (life.bytes > 0) order.push_back(&life);
    sort_plain(order, [](const BufferLife* a, const BufferLife* b) { return is_larger(a, b); });
    WorkspacePlan plan = place_in_order(order, lives, fixed);
    sort_plain(order, [](const BufferLife* a, const BufferLife* b) {
        const int of_a = a->last - a->first, of_b = b->last - b->first;
        return of_a != of_b ? of_a > of_b : is_larger(a, b);
    });
    WorkspacePlan other = place_in_order(order, lives, fixed);
    if (other.peak_bytes < plan.peak_bytes) plan = std::move(other);
    for (std::size_t i = 0; i < buffers.size(); ++i)
        plan.offsets[i] = plan.offsets[first_under(buffers, i)];
    return plan;
}

}  // namespace fovea::runtime
