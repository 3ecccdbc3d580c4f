// Everything that can be computed before a reduction's pass over the rows, or in it, goes there.
#include "codegen/emit/cpp/tiles/tile_strip.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"

namespace fovea::emit {

using namespace kernel;

namespace {

class StripOrder {
  public:
    StripOrder(const TilePlan& plan, const Statement& statement)
        : plan_(plan), statement_(statement), left_(statement.roots) {}

    std::vector<StripStep> run() {
        while (!left_.empty()) {
            take_lanes();
            const std::vector<Id> rows = ready_rows();
            std::set<Id> with_rows = done_;
            with_rows.insert(rows.begin(), rows.end());
            const auto reduce = std::find_if(left_.begin(), left_.end(), [&](Id id) {
                return as<Reduce>(plan_.kernel, id) && is_ready(id, with_rows);
            });
            StripStep step;
            step.rows = rows;
            if (reduce != left_.end()) step.reduce = *reduce;
            if (step.reduce < 0 && rows.empty()) {
                if (left_.empty()) break;
                throw InternalError("kernel " + plan_.kernel.name + ": a strip has no order");
            }
            for (Id id : rows) finish(id);
            if (step.reduce >= 0) finish(step.reduce);
            steps_.push_back(step);
        }
        return std::move(steps_);
    }

  private:
    void finish(Id id) {
        done_.insert(id);
        std::erase(left_, id);
    }

    /// All values of the lanes that can be computed.
    void take_lanes() {
        for (bool found = true; found;) {
            found = false;
            for (Id id : left_) {
                if (as<Reduce>(plan_.kernel, id) || is_in_rows(plan_, statement_, id)) continue;
                if (!is_ready(id, done_)) continue;
                steps_.push_back({id, {}, -1});
                finish(id);
                found = true;
                break;
            }
        }
    }

    std::vector<Id> ready_rows() const {
        std::set<Id> known = done_;
        std::vector<Id> rows;
        for (Id id : left_) {
            if (as<Reduce>(plan_.kernel, id) || !is_in_rows(plan_, statement_, id)) continue;
            if (!is_ready(id, known)) continue;
            rows.push_back(id);
            known.insert(id);
        }
        return rows;
    }

    /// Whether the roots of the statement that `id` reads are among those known.
    bool is_ready(Id id, const std::set<Id>& known) const {
        const std::vector<Id> operands = operands_of(plan_.kernel, id);
        return std::all_of(operands.begin(), operands.end(), [&](Id operand) {
            const bool own = std::find(statement_.roots.begin(), statement_.roots.end(), operand) !=
                             statement_.roots.end();
            if (own) return known.contains(operand);
            return plan_.roots.contains(operand) || !as<Map>(plan_.kernel, operand) ||
                   is_ready(operand, known);
        });
    }

    const TilePlan& plan_;
    const Statement& statement_;
    std::vector<Id> left_;
    std::set<Id> done_;
    std::vector<StripStep> steps_;
};

}  // namespace

std::vector<StripStep> strip_steps(const TilePlan& plan, const Statement& statement) {
    return StripOrder(plan, statement).run();
}

bool is_in_rows(const TilePlan& plan, const Statement& statement, Id root) {
    if (auto store = as<Store>(plan.kernel, root))
        return std::any_of(store->access.strides.begin(), store->access.strides.end(),
                           [&](const Stride& s) { return s.axis == statement.place.row; });
    return plan.kernel.nodes[std::size_t(root)].axes.size() > 1;
}

}  // namespace fovea::emit
