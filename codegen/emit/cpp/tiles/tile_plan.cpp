// Values are lazy: they stand inside the expressions that use them, unless another statement, a
// sum or a carried value needs them in memory. Statements are found in the order of the program.
#include "codegen/emit/cpp/tiles/tile_plan.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/tiles/tile_arrays.h"
#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_joint_sums.h"
#include "codegen/emit/cpp/tiles/tile_pairs.h"
#include "codegen/emit/cpp/tiles/tile_readers.h"
#include "codegen/emit/cpp/tiles/tile_roots.h"

namespace fovea::emit {

using namespace kernel;

namespace {

using Kind = Statement::Kind;

class Planner {
  public:
    explicit Planner(TilePlan& plan)
        : plan_(plan), kernel_(plan.kernel), axes_(plan), roots_(plan, axes_) {}

    void run(const std::vector<Id>& task) {
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id) axes_.check(id);
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (as<Load>(kernel_, id)) plan_.home[id] = axes_.home(id);
        plan_block(-1, task);
        find_arrays(plan_, axes_, roots_, statement_);
        plan_pairs(plan_);
    }

  private:
    [[noreturn]] static void refuse(std::string reason) { throw TileRefusal{std::move(reason)}; }

    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    const std::vector<Id>& users(Id id) const { return roots_.users(id); }
    bool is_float(Id id) const { return kernel_.nodes[std::size_t(id)].dtype == DType::f32; }

    void plan_block(Id loop, const std::vector<Id>& block) {
        plan_.blocks[loop];
        const auto is_draw = [&](Id id) { return as<Random>(kernel_, id) && roots_.is_root(id); };
        for (Id id : block)
            if (is_draw(id)) plan_root(loop, id);
            else if (roots_.is_root(id)) turn_leaves(loop, id);
        const std::map<Id, std::vector<Id>> joint = joint_sums(plan_, axes_, roots_, block, loop);
        for (Id id : block) {
            if (as<Loop>(kernel_, id)) plan_loop(loop, id);
            else if (joint.contains(id)) plan_joint(loop, joint.at(id));
            else if (roots_.is_root(id) && !is_draw(id) && !statement_.contains(id))
                plan_root(loop, id);
        }
        check_order(loop);
    }

    void plan_loop(Id around, Id id) {
        const Loop& loop = *as<Loop>(kernel_, id);
        for (const Carry& carry : loop.carries) plan_carry(around, id, carry);
        plan_block(id, loop.body);
        Statement statement;
        statement.kind = Kind::loop, statement.source = id;
        plan_.blocks[around].push_back(statement);
        for (Id node = 0; node < Id(kernel_.nodes.size()); ++node)
            if (auto result = as<Result>(kernel_, node); result && result->loop == id) {
                plan_.storage[node] =
                    plan_.storage.at(loop.carries[std::size_t(result->number)].argument);
                statement_[node] = {around, int(plan_.blocks[around].size()) - 1};
            }
    }

    /// Memory for a carried value, filled before the loop; or that of the value which a loop around
    /// carries, when it is handed on.
    void plan_carry(Id around, Id id, const Carry& carry) {
        const bool handed_on =
            as<Carried>(kernel_, carry.initial) &&
            std::all_of(users(carry.initial).begin(), users(carry.initial).end(),
                        [&](Id user) { return user == id || user == carry.argument; });
        if (!handed_on && !as<Constant>(kernel_, carry.initial))
            refuse("a carried value that does not start as a number");
        const Id owner = handed_on ? plan_.storage.at(carry.initial) : carry.argument;
        plan_.storage[carry.argument] = owner;
        if (!handed_on) {
            Statement fill;
            fill.kind = Kind::fill, fill.source = carry.initial, fill.roots = {carry.argument};
            fill.place = axes_.place(axes(carry.argument), id);
            if (!axes(carry.argument).empty()) plan_.arrays[owner] = {fill.place, around};
            plan_.blocks[around].push_back(fill);
        }
        statement_[carry.argument] = {around, int(plan_.blocks[around].size()) - 1};
        if (as<Result>(kernel_, carry.next)) return;  // of a loop inside, checked after it
        if (plan_.storage.contains(carry.next) || !roots_.is_root(carry.next))
            refuse("a carried value that becomes another one or a loaded tile");
        plan_.storage[carry.next] = owner;
    }

    void plan_root(Id loop, Id id) {
        std::vector<Statement>& block = plan_.blocks[loop];
        const int needed = last_needed(loop, id);
        int at = -1;
        for (int i = int(block.size()) - 1; i >= std::max(needed, 0) && at < 0; --i)
            if (can_join(block[std::size_t(i)], loop, id)) at = i;
        if (at < 0) {
            block.push_back(make_statement(loop, id));
            at = int(block.size()) - 1;
        } else if (block[std::size_t(at)].place.row < 0) {
            block[std::size_t(at)].place.row = place_of_root(loop, id).row;
        }
        add_root(loop, at, id);
        // A sum that is added to something is known as the total alone.
        const Statement& statement = block[std::size_t(at)];
        if (statement.source == id && statement.kind == Kind::sum && statement.value != id &&
            !roots_.is_root(statement.value))
            add_root(loop, at, statement.value);
    }
    void add_root(Id loop, int number, Id id) {
        plan_.blocks[loop][std::size_t(number)].roots.push_back(id);
        statement_[id] = {loop, number};
        plan_.roots.insert(id);
        if (!plan_.storage.contains(id) && !as<Store>(kernel_, id)) plan_.storage[id] = id;
    }

    void plan_joint(Id loop, const std::vector<Id>& sums) {
        Statement statement;
        statement.kind = Kind::joint;
        statement.place = place_of_root(loop, sums[0]);
        statement.step = as<Reduce>(kernel_, sums[0])->axes[0];
        statement.roots = sums;
        for (Id id : sums) {
            need_lanes(loop, as<Reduce>(kernel_, id)->operand, statement.place.lane);
            statement_[id] = {loop, int(plan_.blocks[loop].size())};
            plan_.roots.insert(id);
            plan_.storage.try_emplace(id, id);
        }
        plan_.blocks[loop].push_back(statement);
    }

    /// The number of the last statement of the block that computes something `id` reads; -1: none.
    int last_needed(Id loop, Id id) const {
        int last = -1;
        for (Id operand : operands_of(kernel_, id)) {
            const auto found = statement_.find(operand);
            if (found != statement_.end()) {
                if (found->second.first == loop) last = std::max(last, found->second.second);
            } else {
                last = std::max(last, last_needed(loop, operand));
            }
        }
        return last;
    }

    Place2 place_of_root(Id loop, Id id) const {
        if (auto store = as<Store>(kernel_, id)) return axes_.place(*store, loop);
        if (auto reduce = as<Reduce>(kernel_, id); reduce && !roots_.is_sum(id))
            return axes_.place(axes(reduce->operand), loop);
        return axes_.place(axes(id), loop);
    }

    bool is_across(Id loop, Id id) const {
        auto reduce = as<Reduce>(kernel_, id);
        return reduce && !roots_.is_sum(id) && place_of_root(loop, id).lane == reduce->axes[0];
    }

    bool can_join(const Statement& statement, Id loop, Id id) const {
        if (roots_.is_sum(id) || roots_.is_mask(id) || is_across(loop, id)) return false;
        if (as<Random>(kernel_, id)) return false;
        const Place2 place = place_of_root(loop, id);
        if (place.lane < 0) return false;
        if (statement.kind == Kind::sum)
            return !as<Reduce>(kernel_, id) && statement.place == place;
        if (statement.kind != Kind::lanes || statement.place.lane != place.lane) return false;
        if (turned_source(loop, id) >= 0) return false;
        return place.row < 0 || statement.place.row < 0 || place.row == statement.place.row;
    }

    Statement make_statement(Id loop, Id id) {
        Statement statement;
        statement.place = place_of_root(loop, id);
        if (roots_.is_sum(id)) {
            make_sum(loop, id, statement);
        } else if (roots_.is_mask(id)) {
            statement.kind = Kind::mask;
            plan_.storage[as<Map>(kernel_, id)->operands[1]] = plan_.owner(id);
        } else if (is_across(loop, id)) {
            statement.kind = Kind::across;
        } else if (as<Random>(kernel_, id)) {
            statement.kind = Kind::draw;
        } else if (statement.place.lane < 0) {
            statement.kind = Kind::scalar;
        } else if (const Id load = turned_source(loop, id); load >= 0) {
            statement.kind = Kind::turn;
            statement.source = load;
            const Place2 natural = statement.place;
            statement.place = {natural.lane, natural.row};
        } else {
            statement.kind = Kind::lanes;
        }
        return statement;
    }

    void make_sum(Id loop, Id id, Statement& statement) {
        statement.kind = Kind::sum;
        statement.source = statement.value = id;
        const auto contract = as<Contract>(kernel_, id);
        const std::vector<AxisId>& over = contract ? contract->axes : as<Reduce>(kernel_, id)->axes;
        if (over.size() != 1) refuse("a contraction of several axes");
        statement.step = over[0];
        if (statement.place.lane < 0 || axes(id).size() > 2)
            refuse("a sum that is not a tile of one or two axes");
        find_start(loop, id, statement);
        statement.has_few_rows = contract && roots_.multiplies_few_rows(loop, id, statement);
        if (statement.has_few_rows) return;
        if (contract) {
            for (Id operand : {contract->a, contract->b})
                need_lanes(loop, operand, statement.place.lane);
        } else {
            need_lanes(loop, as<Reduce>(kernel_, id)->operand, statement.place.lane);
        }
    }

    /// The leaves of a sum's operand that move along `lane` must be contiguous along it, and
    /// floats: register tiles read each element more than once.
    void need_lanes(Id loop, Id operand, AxisId lane) {
        if (auto load = as<Load>(kernel_, operand)) {
            if (axes_.has(operand, lane) && !axes_.is_contiguous(operand, lane))
                turn(operand, lane);
            else if (is_half(kernel_.buffers[std::size_t(load->access.buffer)].dtype))
                widen(operand);
        } else if (as<Map>(kernel_, operand)) {
            if (roots_.is_root(operand)) return turn_again(loop, operand, lane);
            for (Id inner : as<Map>(kernel_, operand)->operands) need_lanes(loop, inner, lane);
        }
    }

    void insert_statement(Id loop, int number, const Statement& statement) {
        for (auto& [id, at] : statement_)
            if (at.first == loop && at.second >= number) ++at.second;
        std::vector<Statement>& block = plan_.blocks[loop];
        block.insert(block.begin() + number, statement);
    }
    void put_before_readers(Id loop, const Statement& turned) {
        insert_statement(loop, first_reader(plan_, loop, turned.source), turned);
    }

    /// A tile that a loop around made of a loaded one, and that has another axis in its lanes: it
    /// is made once more, beside itself, with this one in them.
    void turn_again(Id loop, Id id, AxisId lane) {
        const auto found = statement_.find(id);
        if (found == statement_.end() || found->second.first == loop || !axes_.has(id, lane) ||
            axes(id).size() != 2 || plan_.turned.contains(id))
            return;
        const auto [home, number] = found->second;
        const Place2 place = plan_.blocks.at(home)[std::size_t(number)].place;
        Id load = -1;
        if (place.row != lane || !find_tile_of_operands(id, place.lane, load) || load < 0) return;
        Statement statement;
        statement.kind = Kind::turn, statement.source = load, statement.value = id;
        statement.place = {place.lane, lane};
        insert_statement(home, number + 1, statement);
        plan_.turned[id] = {statement.place, home};
    }

    /// A copy of a loaded tile with another axis in the lanes, made where the tile is loaded.
    void turn(Id load, AxisId lane) {
        if (plan_.turned.contains(load)) return;
        AxisId row = -1;
        for (AxisId axis : axes(load))
            if (axis != lane) row = axis;
        if (row < 0 || axes(load).size() != 2 || !axes_.is_contiguous(load, row) ||
            kernel_.nodes[std::size_t(load)].dtype == DType::i32)
            return;  // lanes are then loaded one by one
        const Id home = plan_.home[load];
        Statement statement;
        statement.kind = Kind::turn, statement.source = load;
        statement.place = {row, lane};
        put_before_readers(home, statement);
        plan_.turned[load] = {{row, lane}, home};
    }

    /// A copy in floats of a loaded tile of halves, made where the tile is loaded.
    void widen(Id load) {
        if (plan_.widened.contains(load) || axes(load).size() != 2) return;
        Place2 place{axes(load)[0], axes(load)[1]};
        if (axes_.is_contiguous(load, place.row)) std::swap(place.row, place.lane);
        if (!axes_.is_contiguous(load, place.lane)) return;
        const Id home = plan_.home[load];
        Statement statement;
        statement.kind = Kind::widen, statement.source = load, statement.place = place;
        put_before_readers(home, statement);
        plan_.widened[load] = {place, home};
    }

    /// Tiles of memory that an elementwise root reads across its lanes are turned, too.
    void turn_leaves(Id loop, Id root) {
        const Place2 place = place_of_root(loop, root);
        if (place.row < 0 || !plan_.is_tiled(place.row) || !plan_.is_tiled(place.lane)) return;
        if (roots_.is_sum(root)) return;
        for (Id operand : operands_of(kernel_, root))
            if (!roots_.is_root(operand)) need_lanes(loop, operand, place.lane);
    }

    /// For a value that only sums read, all with the axis in the lanes that lies in the rows of
    /// memory: the load that it is made from. Else -1.
    Id turned_source(Id loop, Id id) const {
        if (!as<Map>(kernel_, id) || axes(id).size() != 2) return -1;
        const Place2 natural = axes_.place(axes(id), loop);
        if (!roots_.is_read_by_sums(id, natural.row)) return -1;
        Id load = -1;
        return find_tile(id, natural.lane, load) ? load : -1;
    }

    /// Whether the only tile of two axes in an expression is a loaded one, contiguous along `lane`.
    bool find_tile(Id id, AxisId lane, Id& load) const {
        if (axes(id).size() < 2) return true;
        if (as<Load>(kernel_, id)) {
            const bool first = load < 0 || load == id;
            load = id;
            return first && is_float(id) && axes_.is_contiguous(id, lane);
        }
        if (!as<Map>(kernel_, id) || plan_.roots.contains(id)) return false;
        return find_tile_of_operands(id, lane, load);
    }
    bool find_tile_of_operands(Id id, AxisId lane, Id& load) const {
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::all_of(operands.begin(), operands.end(),
                           [&](Id operand) { return find_tile(operand, lane, load); });
    }

    /// x + sum starts with x; memory += sum starts with what memory holds.
    void find_start(Id loop, Id id, Statement& statement) const {
        if (users(id).size() != 1 || as<Reduce>(kernel_, id)) return;
        const Id user = users(id)[0];
        if (auto store = as<Store>(kernel_, user)) {
            if (store->accumulate && axes_.place(*store, loop) == statement.place)
                statement.start = user;
            return;
        }
        const Map* map = as<Map>(kernel_, user);
        if (!map || map->function != Elementwise::add || axes(user) != axes(id)) return;
        const Id other = map->operands[map->operands[0] == id ? 1 : 0];
        if (!is_available(other)) return;
        statement.start = other;
        statement.value = user;
    }

    /// Whether everything that a lazy value is made of has been computed.
    bool is_available(Id id) const {
        if (statement_.contains(id)) return true;
        if (roots_.is_root(id)) return false;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::all_of(operands.begin(), operands.end(),
                           [&](Id operand) { return is_available(operand); });
    }

    /// Carried values are updated in place: nothing may read the old one after that.
    void check_order(Id loop) const {
        if (loop < 0) return;
        for (const Carry& carry : as<Loop>(kernel_, loop)->carries) {
            const auto written = statement_.find(carry.next);
            if (written == statement_.end() ||
                plan_.storage.at(carry.next) != plan_.storage.at(carry.argument))
                refuse("a carried value that becomes another one");
            for (Id user : users(carry.argument))
                if (last_reader(loop, user) > written->second.second)
                    refuse("a carried value that is read after its next one is known");
        }
    }

    /// The number of the last statement of the block that reads the value `id` lazily.
    int last_reader(Id loop, Id id) const {
        const auto found = statement_.find(id);
        if (found != statement_.end())
            return found->second.first == loop ? found->second.second : 1 << 20;
        int last = -1;
        for (Id user : users(id)) last = std::max(last, last_reader(loop, user));
        return last;
    }

    TilePlan& plan_;
    const Kernel& kernel_;
    TileAxes axes_;
    TileRoots roots_;
    StatementOf statement_;  // of roots, carried values and results
};

}  // namespace

TilePlan plan_task(TilePlan plan, const Task& task) {
    plan.each = task.points, plan.par = task.par;
    Planner(plan).run(task.nodes);
    return plan;
}

}  // namespace fovea::emit
