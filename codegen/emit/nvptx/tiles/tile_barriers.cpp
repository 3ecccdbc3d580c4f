// Where the threads of a block wait for each other: derived from who reads and writes what. An
// element is written, and read by steps over the same axes, by one thread; only what sums read, and
// steps over other axes, comes from other threads.
#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/tiles/tile_plan.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

using Axes = std::vector<AxisId>;

/// What happened since all threads last waited.
struct Since {
    std::set<Id> written;  // arrays
    std::set<Id> read;  // arrays that other threads than the owner read
    std::set<std::pair<int, Axes>> stored;  // buffers, and the axes of the step

    void join(const Since& other) {
        written.insert(other.written.begin(), other.written.end());
        read.insert(other.read.begin(), other.read.end());
        stored.insert(other.stored.begin(), other.stored.end());
    }
    bool operator==(const Since&) const = default;
};

class BarrierPlacement {
  public:
    explicit BarrierPlacement(TilePlan& plan) : plan_(plan) {}

    /// What has happened after the block, when `since` has before.
    Since run(Id block, Since since) {
        for (TileStep& step : plan_.blocks.at(block)) {
            if (step.kind == TileStep::Kind::loop) since = run_loop(step, since);
            else run_step(step, since);
        }
        return since;
    }

  private:
    Since run_loop(TileStep& step, Since since) {
        const Loop& loop = *as<Loop>(plan_.kernel, step.node);
        std::set<Id> read;
        for (Id bound : {loop.lower, loop.upper})
            if (bound >= 0)
                for (const TileRead& tile : reads_of(plan_, bound))
                    read.insert(plan_.kept.at(tile.node));
        wait(step, since, read, -1);
        since.read.insert(read.begin(), read.end());
        while (true) {
            clear(step.node);
            Since next = since;
            next.join(run(step.node, since));
            if (next == since) return since;
            since = next;
        }
    }

    /// What is known of the turns before a block decides anew where it waits.
    void clear(Id block) {
        for (TileStep& step : plan_.blocks.at(block)) {
            step.waits = false;
            if (step.kind == TileStep::Kind::loop) clear(step.node);
        }
    }

    void run_step(TileStep& step, Since& since) {
        std::set<Id> read;
        for (const TileRead& tile : reads_of(plan_, step)) {
            const bool own =
                !tile.in_sum && plan_.kernel.nodes[std::size_t(tile.node)].axes == step.axes;
            if (!own) read.insert(plan_.kept.at(tile.node));
        }
        auto store = as<Store>(plan_.kernel, step.node);
        if (step.kind != TileStep::Kind::store) store = nullptr;
        if (store && is_stored_by_others(since, store->access.buffer, step.axes)) {
            step.waits = true;
            since = {};
        }
        wait(step, since, read, step.array);
        since.read.insert(read.begin(), read.end());
        if (step.array >= 0) since.written.insert(step.array);
        if (store) since.stored.insert({store->access.buffer, step.axes});
    }

    static bool is_stored_by_others(const Since& since, int buffer, const Axes& axes) {
        return std::any_of(since.stored.begin(), since.stored.end(), [&](const auto& stored) {
            return stored.first == buffer && stored.second != axes;
        });
    }

    void wait(TileStep& step, Since& since, const std::set<Id>& read, Id written) {
        const bool reads = std::any_of(read.begin(), read.end(),
                                       [&](Id array) { return since.written.contains(array); });
        if (reads || since.read.contains(written)) step.waits = true;
        if (step.waits) since = {};
    }

    TilePlan& plan_;
};

}  // namespace

namespace {

class Reads {
  public:
    explicit Reads(const TilePlan& plan) : plan_(plan) {}

    /// Operands before what is made of them.
    std::vector<TileRead> sorted() {
        std::sort(all_.begin(), all_.end(),
                  [](const TileRead& a, const TileRead& b) { return a.node < b.node; });
        return std::move(all_);
    }

    void visit(Id id, bool in_sum) {
        if (!seen_.insert({id, in_sum}).second) return;
        if (plan_.kept.contains(id)) all_.push_back({id, in_sum});
        else visit_operands(id, in_sum);
    }
    void visit_operands(Id id, bool in_sum) {
        const bool sum = as<Contract>(plan_.kernel, id) || as<Reduce>(plan_.kernel, id);
        for (Id operand : operands_of(plan_.kernel, id)) visit(operand, in_sum || sum);
    }

  private:
    const TilePlan& plan_;
    std::set<std::pair<Id, bool>> seen_;
    std::vector<TileRead> all_;
};

}  // namespace

std::vector<TileRead> reads_of(const TilePlan& plan, const TileStep& step) {
    Reads reads(plan);
    if (step.kind == TileStep::Kind::keep) reads.visit_operands(step.value, false);
    else reads.visit(step.value, false);
    return reads.sorted();
}

std::vector<TileRead> reads_of(const TilePlan& plan, Id value) {
    Reads reads(plan);
    reads.visit(value, false);
    return reads.sorted();
}

void place_barriers(TilePlan& plan) { BarrierPlacement(plan).run(-1, {}); }

}  // namespace fovea::emit::nvptx
