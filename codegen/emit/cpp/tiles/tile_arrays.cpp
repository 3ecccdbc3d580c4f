// A value has an array where a statement beside its own, or another pass over rows, reads it.
#include "codegen/emit/cpp/tiles/tile_arrays.h"

#include <algorithm>

#include "codegen/emit/cpp/tiles/tile_strip.h"

namespace fovea::emit {

using namespace kernel;

namespace {

using Kind = Statement::Kind;

class Arrays {
  public:
    Arrays(TilePlan& plan, const TileAxes& axes, const TileRoots& roots,
           const StatementOf& statement_of)
        : plan_(plan),
          kernel_(plan.kernel),
          axes_(axes),
          roots_(roots),
          statement_of_(statement_of) {}

    void find(Id loop, const Statement& statement) {
        for (Id id : statement.roots) {
            if (as<Store>(kernel_, id) || axes_of(id).empty()) continue;
            const Id owner = plan_.owner(id);
            if (plan_.arrays.contains(owner)) continue;
            const bool in_rows = statement.kind != Kind::lanes || axes_of(id).size() > 1;
            const bool kept = statement.kind == Kind::turn || statement.kind == Kind::mask ||
                              statement.kind == Kind::across || statement.kind == Kind::draw ||
                              statement.kind == Kind::joint || is_read_elsewhere(id, id, in_rows);
            if (!kept) continue;
            Place2 place = statement.place;
            if (statement.kind != Kind::turn) place = axes_.place(axes_of(id), loop);
            plan_.arrays[owner] = {place, loop};
        }
    }

  private:
    const std::vector<AxisId>& axes_of(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }

    bool is_read_elsewhere(Id root, Id id, bool in_rows) const {
        const std::vector<Id>& users = roots_.users(id);
        return std::any_of(users.begin(), users.end(), [&](Id user) {
            const auto found = statement_of_.find(user);
            if (found == statement_of_.end()) return is_read_elsewhere(root, user, in_rows);
            return found->second != statement_of_.at(root) ||
                   (in_rows && pass_of(root) != pass_of(user));
        });
    }

    /// The pass over the rows of a strip in which a root is computed; -1: none.
    int pass_of(Id id) const {
        const auto [loop, number] = statement_of_.at(id);
        const Statement& statement = plan_.blocks.at(loop)[std::size_t(number)];
        if (statement.kind != Kind::lanes || statement.place.row < 0) return -1;
        if (!as<Store>(kernel_, id) && !as<Reduce>(kernel_, id) && axes_of(id).size() < 2)
            return -1;
        const std::vector<StripStep> steps = strip_steps(plan_, statement);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto& rows = steps[i].rows;
            if (steps[i].reduce == id || std::find(rows.begin(), rows.end(), id) != rows.end())
                return int(i);
        }
        return -1;
    }

    TilePlan& plan_;
    const Kernel& kernel_;
    const TileAxes& axes_;
    const TileRoots& roots_;
    const StatementOf& statement_of_;
};

}  // namespace

void find_arrays(TilePlan& plan, const TileAxes& axes, const TileRoots& roots,
                 const StatementOf& statement_of) {
    Arrays arrays(plan, axes, roots, statement_of);
    for (const auto& [loop, statements] : plan.blocks)
        for (const Statement& statement : statements) arrays.find(loop, statement);
}

}  // namespace fovea::emit
