// Passes are found by counting, for every value, the reductions that must be finished before it.
#include "codegen/kernel/analysis/passes.h"

#include <algorithm>
#include <map>

#include "codegen/base/error.h"

namespace fovea::kernel {

namespace {

class PassFinder {
  public:
    PassFinder(const Kernel& kernel, const std::vector<Id>& nodes, const std::set<AxisId>& inner,
               const WorthKeeping& worth_keeping)
        : kernel_(kernel), nodes_(nodes), inner_(inner), worth_keeping_(worth_keeping) {}

    Passes run() {
        for (Id id : nodes_) place(id);
        result_.scalars.resize(result_.passes.size() + 1);
        result_.scalar_stores.resize(result_.passes.size() + 1);
        for (Id id : nodes_) {
            const auto level = std::size_t(level_[id]);
            if (as<Store>(kernel_, id)) {
                if (!is_inner(id)) result_.scalar_stores[level].push_back(id);
            } else if (!is_inner(id)) {
                result_.scalars[level].push_back(id);
            }
        }
        if (worth_keeping_) choose_kept();
        for (std::size_t i = 0; i < result_.passes.size(); ++i) fill(i);
        return std::move(result_);
    }

  private:
    /// Whether the node's tile, or the access of a store, has an inner axis.
    bool is_inner(Id id) const {
        const auto any = [&](const std::vector<AxisId>& axes) {
            return std::any_of(axes.begin(), axes.end(),
                               [&](AxisId axis) { return inner_.contains(axis); });
        };
        if (auto store = as<Store>(kernel_, id)) {
            for (const Stride& stride : store->access.strides)
                if (inner_.contains(stride.axis)) return true;
            for (Id operand : operands_of(kernel_, id))
                if (is_inner(operand)) return true;
            return false;
        }
        return any(kernel_.nodes[std::size_t(id)].axes);
    }

    /// level_: of an inner value the pass that can first compute it, of a scalar the number of
    /// passes before it.
    void place(Id id) {
        int level = 0;
        for (Id operand : operands_of(kernel_, id)) level = std::max(level, level_[operand]);
        level_[id] = level;
        if (auto reduce = as<Reduce>(kernel_, id); reduce && reduce->blocks >= 0) {
            pass(level).sums.push_back(id);
        } else if (reduce) {
            if (is_inner(id))
                throw InternalError("kernel " + kernel_.name +
                                    ": a reduction over some of the inner axes has no form");
            pass(level).reduces.push_back(id);
            level_[id] = level + 1;
        }
        if (as<Store>(kernel_, id) && is_inner(id)) pass(level).stores.push_back(id);
    }

    Pass& pass(int index) {
        if (int(result_.passes.size()) <= index) result_.passes.resize(std::size_t(index) + 1);
        return result_.passes[std::size_t(index)];
    }

    /// The inner values that `pass` needs; those in `stop` are not looked into.
    std::set<Id> needed(const Pass& pass, const std::set<Id>& stop) const {
        std::set<Id> result;
        std::vector<Id> open;
        const auto add = [&](Id id) {
            if (as<Reduce>(kernel_, id) || !is_inner(id)) return;
            if (result.insert(id).second && !stop.contains(id)) open.push_back(id);
        };
        for (const auto* roots : {&pass.reduces, &pass.sums, &pass.stores})
            for (Id root : *roots)
                for (Id operand : operands_of(kernel_, root)) add(operand);
        while (!open.empty()) {
            const Id id = open.back();
            open.pop_back();
            for (Id operand : operands_of(kernel_, id)) add(operand);
        }
        return result;
    }

    void choose_kept() {
        std::set<Id> before;
        for (const Pass& pass : result_.passes) {
            for (Id id : needed(pass, kept_)) {
                auto map = as<Map>(kernel_, id);
                const bool expensive =
                    (map && worth_keeping_(map->function)) || as<Random>(kernel_, id) != nullptr;
                if (expensive && before.contains(id) &&
                    kernel_.nodes[std::size_t(id)].dtype == DType::f32)
                    kept_.insert(id);
                before.insert(id);
            }
        }
    }

    void fill(std::size_t index) {
        Pass& pass = result_.passes[index];
        const std::set<Id> ids = needed(pass, written_);
        for (Id id : nodes_) {
            if (!ids.contains(id)) continue;
            if (written_.contains(id)) {
                pass.loaded.push_back(id);
                continue;
            }
            pass.values.push_back(id);
            if (kept_.contains(id)) pass.kept.push_back(id);
        }
        written_.insert(pass.kept.begin(), pass.kept.end());
    }

    const Kernel& kernel_;
    const std::vector<Id>& nodes_;
    const std::set<AxisId>& inner_;
    const WorthKeeping& worth_keeping_;
    std::map<Id, int> level_;
    std::set<Id> kept_, written_;
    Passes result_;
};

}  // namespace

Passes find_passes(const Kernel& kernel, const std::vector<Id>& nodes,
                   const std::set<AxisId>& inner, const WorthKeeping& worth_keeping) {
    return PassFinder(kernel, nodes, inner, worth_keeping).run();
}

bool reads(const Kernel& kernel, const std::vector<Id>& users, Id id) {
    return std::any_of(users.begin(), users.end(), [&](Id user) {
        const auto operands = operands_of(kernel, user);
        return std::find(operands.begin(), operands.end(), id) != operands.end();
    });
}

bool is_used_by_pass(const Kernel& kernel, const Passes& passes, Id id) {
    const auto uses = [&](const std::vector<Id>& users) { return reads(kernel, users, id); };
    return std::any_of(passes.passes.begin(), passes.passes.end(), [&](const Pass& pass) {
        return uses(pass.values) || uses(pass.stores) || uses(pass.reduces) || uses(pass.sums);
    });
}

}  // namespace fovea::kernel
