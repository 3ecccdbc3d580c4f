// Runs over a plan whose statements and arrays are known: an operand is laid out in pairs behind
// the statement that makes it.
#include "codegen/emit/cpp/tiles/tile_pairs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_readers.h"
#include "codegen/kernel/analysis/blocks.h"

namespace fovea::emit {

using namespace kernel;

namespace {

using Kind = Statement::Kind;

/// Where a statement goes: in front of number `at` of the block of `loop`.
struct Insertion {
    Id loop = -1;
    int at = 0;
    Statement statement;
};

class PairPlanner {
  public:
    explicit PairPlanner(TilePlan& plan) : plan_(plan), kernel_(plan.kernel), axes_(plan) {}

    void run() {
        for (const auto& [loop, block] : plan_.blocks)
            for (const Statement& statement : block) take(statement);
        std::stable_sort(insertions_.begin(), insertions_.end(),
                         [](const Insertion& a, const Insertion& b) { return a.at > b.at; });
        for (Insertion& it : insertions_) {
            std::vector<Statement>& block = plan_.blocks[it.loop];
            block.insert(block.begin() + it.at, std::move(it.statement));
        }
        drop_unread_copies();
    }

  private:
    /// A sum of products of two tiles, long and wide enough for pairs to be worth their layout.
    void take(const Statement& sum) {
        const Contract* contract =
            sum.kind == Kind::sum ? as<Contract>(kernel_, sum.source) : nullptr;
        if (!contract || contract->factors != Factors::bf16 || sum.place.row < 0) return;
        if (is_short(sum.place.lane) || is_short(sum.step)) return;
        Id number = contract->a, vector = contract->b;
        if (axes_.has(number, sum.place.lane)) std::swap(number, vector);
        const auto left = operand(number, sum.place.row, sum.step);
        const auto right = operand(vector, sum.place.lane, sum.step);
        const AxisId along = sum.has_few_rows ? sum.step : sum.place.lane;
        if (!left || !right || right->statement.place.lane != along) return;
        if (sum.has_few_rows && left->statement.place.lane != along) return;
        add(*left);
        add(*right);
        plan_.sums_of_pairs.insert(sum.source);
    }
    /// By static sizes alone, so that a small tile has the bits of a large one.
    bool is_short(AxisId axis) const {
        return !plan_.is_tiled(axis) &&
               kernel_.axes[std::size_t(axis)].extent.value() < target::kLanes;
    }
    void add(const Insertion& it) {
        if (known_.insert({it.statement.source, it.statement.step}).second)
            insertions_.push_back(it);
    }

    /// The statement for an operand [x, step] in either order, and its place, if it is a tile of
    /// memory or has an array.
    std::optional<Insertion> operand(Id id, AxisId x, AxisId step) const {
        const auto& own = kernel_.nodes[std::size_t(id)].axes;
        if (own.size() != 2 || !axes_.has(id, x) || !axes_.has(id, step)) return std::nullopt;
        Insertion it;
        it.statement.kind = Kind::pair, it.statement.source = id, it.statement.step = step;
        return as<Load>(kernel_, id) ? operand_in_memory(it, x) : operand_in_array(it);
    }
    std::optional<Insertion> operand_in_memory(Insertion it, AxisId x) const {
        const Id load = it.statement.source;
        it.loop = plan_.home.at(load);
        const std::vector<Statement>& block = plan_.blocks.at(it.loop);
        if (const auto turned = plan_.turned.find(load);
            turned != plan_.turned.end() && turned->second.place.lane == x) {
            it.statement.place = turned->second.place;
            it.at = number_of(block,
                              [&](const Statement& statement) {
                                  return statement.kind == Kind::turn && statement.source == load;
                              }) +
                    1;
            return it.at > 0 ? std::optional(it) : std::nullopt;
        }
        it.statement.place = {it.statement.step, x};
        if (axes_.is_contiguous(load, it.statement.step))
            std::swap(it.statement.place.row, it.statement.place.lane);
        else if (!axes_.is_contiguous(load, x)) return std::nullopt;
        it.at = std::min(first_reader(plan_, it.loop, load), int(block.size()));
        return it;
    }
    std::optional<Insertion> operand_in_array(Insertion it) const {
        const Id id = it.statement.source;
        const auto array = plan_.arrays.find(plan_.owner(id));
        if (array == plan_.arrays.end()) return std::nullopt;
        it.statement.place = array->second.place;
        for (const auto& [loop, block] : plan_.blocks) {
            it.loop = loop;
            it.at = number_of(block,
                              [&](const Statement& statement) {
                                  return statement.kind != Kind::fill &&
                                         std::count(statement.roots.begin(), statement.roots.end(),
                                                    id) > 0;
                              }) +
                    1;
            if (it.at > 0) return it;
        }
        return std::nullopt;  // a value that a loop carries
    }
    template <class Test>
    static int number_of(const std::vector<Statement>& block, const Test& test) {
        const auto found = std::find_if(block.begin(), block.end(), test);
        return found == block.end() ? -1 : int(found - block.begin());
    }

    /// Floats of halves that only such sums read, and what is turned on its way from memory.
    void drop_unread_copies() {
        const std::vector<std::vector<Id>> users = users_of(kernel_);
        std::erase_if(plan_.widened, [&](const auto& copy) {
            const Id load = copy.first;
            std::vector<Statement>& block = plan_.blocks[copy.second.home];
            const auto reads_memory = [&](Id reader) {
                return plan_.sums_of_pairs.contains(reader) ||
                       std::any_of(block.begin(), block.end(), [&](const Statement& it) {
                           return it.kind == Kind::turn && it.source == load &&
                                  std::count(it.roots.begin(), it.roots.end(), reader) > 0;
                       });
            };
            const std::vector<Id>& readers = users[std::size_t(load)];
            if (!std::all_of(readers.begin(), readers.end(), reads_memory)) return false;
            std::erase_if(block, [&](const Statement& it) {
                return it.kind == Kind::widen && it.source == load;
            });
            return true;
        });
    }

    TilePlan& plan_;
    const Kernel& kernel_;
    TileAxes axes_;
    std::set<std::pair<Id, AxisId>> known_;
    std::vector<Insertion> insertions_;
};

}  // namespace

void plan_pairs(TilePlan& plan) { PairPlanner(plan).run(); }

}  // namespace fovea::emit
