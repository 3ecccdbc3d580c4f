// Greedy best-fit placement of buffers with known lifetimes.
#include "plan_workspace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "../error.h"
#include "arena.h"

namespace fovea::runtime {
namespace {

struct Block {
    std::size_t offset = 0, end = 0;
};

bool live_together(const BufferLife& a, const BufferLife& b) {
    return a.first <= b.last && b.first <= a.last;
}

/// The offset of the smallest gap of at least `bytes` between `taken`, else the end of the last.
std::size_t best_fit(std::vector<Block>& taken, std::size_t bytes) {
    std::sort(taken.begin(), taken.end(),
              [](const Block& a, const Block& b) { return a.offset < b.offset; });
    std::size_t cursor = 0, best = 0, best_gap = 0;
    bool found = false;
    for (const Block& block : taken) {
        if (block.offset > cursor) {
            const std::size_t gap = block.offset - cursor;
            if (gap >= bytes && (!found || gap < best_gap)) {
                found = true;
                best = cursor;
                best_gap = gap;
            }
        }
        cursor = std::max(cursor, block.end);
    }
    return found ? best : cursor;
}

std::size_t largest_live_sum(std::span<const BufferLife> buffers) {
    // Bytes that start to live at a step, and those whose last step was the one before.
    struct Change {
        std::size_t starts = 0, ends = 0;
    };
    std::map<long long, Change> changes;
    for (const BufferLife& buffer : buffers) {
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

}  // namespace

WorkspacePlan plan_workspace(std::span<const BufferLife> buffers) {
    for (const BufferLife& buffer : buffers) {
        if (buffer.last < buffer.first) {
            throw InternalError("a buffer lives from step {} to step {}",
                                {buffer.first, buffer.last});
        }
    }
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
    });

    WorkspacePlan plan;
    plan.offsets.assign(buffers.size(), 0);
    plan.lower_bound = largest_live_sum(buffers);
    std::vector<Block> taken;
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
        const BufferLife& buffer = buffers[order[placed]];
        if (buffer.bytes == 0) break;  // so are all that follow
        taken.clear();
        for (std::size_t earlier = 0; earlier < placed; ++earlier) {
            const std::size_t other = order[earlier];
            if (!live_together(buffer, buffers[other])) continue;
            taken.push_back(
                {plan.offsets[other], plan.offsets[other] + aligned(buffers[other].bytes)});
        }
        const std::size_t offset = best_fit(taken, aligned(buffer.bytes));
        plan.offsets[order[placed]] = offset;
        plan.peak_bytes = std::max(plan.peak_bytes, offset + aligned(buffer.bytes));
    }
    return plan;
}

}  // namespace fovea::runtime
