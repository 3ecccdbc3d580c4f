// A group starts the scores of a tile, then the weighted sum of the values of the tile before, and
// makes weights of the scores while the sum is under way. Tiles go from the last to the first:
// those that not all rows see whole come first, then none is masked.
#include <llvm/IR/Intrinsics.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/attention/attention_group_forms.h"
#include "codegen/emit/nvptx/attention/group_tiles.h"
#include "codegen/emit/nvptx/group_products.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class GroupForwardWriter : public GroupTiles {
  public:
    GroupForwardWriter(const AttentionGroupPlan& plan, Function& function)
        : GroupTiles(plan, function), score_(plan.scores[0]), sum_(plan.sums[0]) {}

  private:
    /// What a tile hands to the next: the loop's values, but of the weighted sum what it is added
    /// to; and the weights.
    struct State {
        std::vector<Values> carried;
        std::vector<Values> weights;
    };
    Registers fence_of(const State& state) {
        return fence({state.carried[sum_.carry], state.weights});
    }

    /// And how many of the tiles, the last ones, not all rows see whole, where that is not known.
    void find_tiles() override {
        range_ = range_of(loop_, plan_.tile_columns, Plan::threads() / 32);
        tiles_ = tiles_over(ir_.CreateNSWSub(range_.end, range_.first));
        if (plan_.masks_last_alone || loop_.lower >= 0) return;
        Value* seen =
            ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, smallest(loop_.upper), range_.end);
        Value* whole = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, f_.number(0),
                                                 ir_.CreateNSWSub(seen, range_.first));
        masked_tiles_ = ir_.CreateNSWSub(tiles_, whole_tiles(whole));
    }

    Value* start_of_tile(Value* tile) override {
        return position_of(ir_.CreateNSWSub(ir_.CreateNSWSub(tiles_, integer(1)), tile));
    }

    void write_loop(Id id) override {
        std::vector<Values> initial;
        for (const Carry& carry : loop_.carries) initial.push_back(values(carry.initial));
        const Values result = either(
            ir_.CreateICmpSGT(tiles_, integer(0)), [&] { return write_tiles(initial); },
            [&] { return joined(initial); });
        define_results(id, result);
    }

    Values write_tiles(const std::vector<Values>& initial) {
        ring_.wait_for_fixed();
        State state = first_tile(initial);
        const State form = state;
        const auto turn = [&](Value* tile, const Values& carried) {
            return joined(next_tile(tile, split(carried, form)));
        };
        Value* one = integer(1);
        state = split(f_.loop_carrying(one, tiles_, one, joined(state), turn), form);
        Value* last = ir_.CreateNSWSub(tiles_, one);
        Value* values_before = ring_.wait_for(sum_.moving, last);
        Values sums = add_rows(sum_.moving, values_before, fence_of(state));
        state.carried[sum_.carry] = in_rows(wait_for_products(f_, 0, sums));
        return joined(state.carried);
    }

    /// The last tile. Past the end of all rows' keys its values may be anything.
    State first_tile(const std::vector<Values>& initial) {
        Value* tile = integer(0);
        Value* keys = ring_.wait_for(score_.moving, tile);
        fence_registers(f_, {});
        const Values scores = wait_for_products(f_, 0, start_score(score_, keys, whole()));
        ring_.release(score_.moving, tile);
        for (std::size_t i = 0; i < initial.size(); ++i)
            define(loop_.carries[i].argument, initial[i]);
        const Values weights = define_reductions(make_weights(tile, scores, true));
        const State state = finish_tile(weights);
        if (!plan_.has_padding) return state;
        Value* rest = ir_.CreateNSWSub(range_.end, start_of_tile(tile));
        f_.when(ir_.CreateICmpSLT(rest, f_.number(plan_.tile_columns)), [&] {
            ring_.wait_for(sum_.moving, tile);
            ring_.clear(sum_.moving, tile, ir_.CreateTrunc(rest, ir_.getInt32Ty()));
            ring_.end_clearing();
        });
        return state;
    }

    State next_tile(Value* tile, const State& before) {
        Value* last = ir_.CreateNSWSub(tile, integer(1));
        Value* values_before = ring_.wait_for(sum_.moving, last);
        Value* keys = ring_.wait_for(score_.moving, tile);
        const Registers registers = fence_of(before);
        Values scores = start_score(score_, keys, whole());
        Values sums = add_rows(sum_.moving, values_before, registers);
        scores = wait_for_products(f_, 1, scores);
        ring_.release(score_.moving, tile);
        for (std::size_t i = 0; i < before.carried.size(); ++i)
            if (i != sum_.carry) define(loop_.carries[i].argument, before.carried[i]);
        Values weights = define_reductions(make_weights(tile, scores));
        // They become operands only now: those of the product under way have their registers.
        const std::size_t count = sums.size();
        sums.insert(sums.end(), weights.begin(), weights.end());
        sums = wait_for_products(f_, 0, sums);
        weights.assign(sums.begin() + std::ptrdiff_t(count), sums.end());
        sums.resize(count);
        ring_.release(sum_.moving, last);
        define(loop_.carries[sum_.carry].argument, in_rows(sums));
        return finish_tile(weights);
    }

    /// Weights of a tile but the last: masked where not all rows see it whole.
    Values make_weights(Value* tile, const Values& scores) {
        if (loop_.lower >= 0) return make_weights(tile, scores, true);
        if (plan_.masks_last_alone) return make_weights(tile, scores, false);
        return either(
            ir_.CreateICmpSLT(tile, masked_tiles_),
            [&] { return make_weights(tile, scores, true); },
            [&] { return make_weights(tile, scores, false); });
    }

    /// What reductions over the keys leave, and behind them the weights.
    Values make_weights(Value* tile, const Values& scores, bool masked) {
        Values all;
        f_.scope([&] {
            set_positions(start_of_tile(tile), plan_.tile_columns, masked);
            define(score_.product, in_rows(scores));
            done_.insert(score_.product);
            for (Id id : reductions()) {
                write_reduction(id);
                for (Value* value : values(id)) all.push_back(value);
            }
            for (Value* value : factors_of(sum_.weights, loop_.axis)) all.push_back(value);
        });
        return all;
    }

    /// Returns the weights behind them.
    Values define_reductions(const Values& all) {
        auto next = all.begin();
        for (Id id : reductions()) {
            define(id, Values(next, next + kRows));
            next += kRows;
        }
        return Values(next, all.end());
    }

    std::vector<Id> reductions() const {
        std::vector<Id> all;
        for (Id id : loop_.body)
            if (as<Reduce>(kernel_, id)) all.push_back(id);
        return all;
    }

    /// What the tile hands on, once the weighted sum of the tile before is known.
    State finish_tile(const Values& weights) {
        State state{{}, packed(weights)};
        const Id sum = sum_with(sum_.product);
        if (sum == sum_.product) throw InternalError("attention's sum starts with nothing known");
        for (const Carry& carry : loop_.carries)
            state.carried.push_back(carry.next == sum ? start_of_sum(sum) : values(carry.next));
        return state;
    }

    Values start_of_sum(Id sum) {
        return joined(start_of(sum_.product, sum, columns(sum_.product) / 8));
    }

    using GroupTiles::joined;
    static Values joined(const State& state) {
        Values all = joined(state.carried);
        for (Value* value : joined(state.weights)) all.push_back(value);
        return all;
    }
    static State split(const Values& all, const State& form) {
        std::vector<Values> parts = form.carried;
        parts.insert(parts.end(), form.weights.begin(), form.weights.end());
        parts = GroupTiles::split(all, parts);
        const auto weights = parts.begin() + std::ptrdiff_t(form.carried.size());
        return {{parts.begin(), weights}, {weights, parts.end()}};
    }

    const Plan::Score& score_;
    const Plan::Sum& sum_;
    Value* masked_tiles_ = nullptr;  // i32
};

}  // namespace

void write_attention_forward(const AttentionGroupPlan& plan, Function& function) {
    GroupForwardWriter(plan, function).run();
}

}  // namespace fovea::emit::nvptx
