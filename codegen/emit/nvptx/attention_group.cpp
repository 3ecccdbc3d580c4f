// Of three groups of four warps one brings operands, the other two have 64 rows of queries each. A
// group starts the scores of a tile, then the weighted sum of the values of the tile before, and
// makes weights of the scores while the sum is under way. Tiles go from the last to the first:
// those that not all rows see whole come first, then none is masked.
#include "codegen/emit/nvptx/attention_group.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/attention_ring.h"
#include "codegen/emit/nvptx/group_products.h"
#include "codegen/emit/nvptx/inline_asm.h"
#include "codegen/emit/nvptx/tile_fragments.h"
#include "codegen/emit/nvptx/tile_kernel.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

using Plan = AttentionGroupPlan;
using Tile = AttentionRing::Tile;

constexpr int kComputing = Plan::kGroups * 128;  // threads
constexpr int kDepth = 16;                       // of a product
// Of the 168 registers that each thread starts with.
constexpr int kRegistersLeft = 24, kRegisters = 240;

class Writer : public TileFragments {
  public:
    Writer(const Plan& plan, Function& function)
        : TileFragments(plan.kernel, plan.rows, function),
          plan_(plan),
          loop_(*as<Loop>(plan.kernel, plan.loop)),
          ring_(plan, function) {}

    void run() {
        start_block();
        find_tiles();
        if (!has_waited_) wait_for_block();
        Value* computes = ir_.CreateICmpULT(f_.thread(), integer(kComputing));
        f_.when(ir_.CreateNot(computes), [&] {
            give_registers(f_, kRegistersLeft);
            Value* first = ir_.CreateICmpEQ(f_.thread(), integer(kComputing));
            f_.when(ir_.CreateAnd(first, ir_.CreateICmpSGT(tiles_, integer(0))), [&] {
                ring_.bring_all(first_row_, tiles_,
                                [&](Value* tile) { return start_of_tile(tile); });
            });
        });
        f_.when(computes, [&] {
            take_registers(f_, kRegisters);
            write(plan_.task);
        });
        f_.finish();
    }

  private:
    /// What a tile hands to the next: the loop's values, but of the weighted sum what it is added
    /// to; and the weights.
    struct State {
        std::vector<Values> carried;
        std::vector<Values> weights;
    };

    /// What the weighted sum of a tile takes, and what an instruction makes of it.
    struct Registers {
        Values sums;
        std::vector<Values> weights;

        Registers after(const std::function<Values(const Values&)>& instruction) const {
            Values all = sums;
            for (const Values& one : weights) all.insert(all.end(), one.begin(), one.end());
            all = instruction(all);
            const auto at = [&](std::size_t number) {
                return all.begin() + std::ptrdiff_t(number);
            };
            Registers result{Values(at(0), at(sums.size())), {}};
            for (std::size_t i = sums.size(); i < all.size(); i += 4)
                result.weights.emplace_back(at(i), at(i + 4));
            return result;
        }
    };
    Registers fence(const State& state) {
        return Registers{state.carried[std::size_t(plan_.carry)], state.weights}.after(
            [&](const Values& all) { return fence_registers(f_, all); });
    }

    int columns(Id id) const {
        return int(kernel_.axes[std::size_t(column_of(id))].extent.value());
    }

    void start_block() {
        Value* warp = ir_.CreateAnd(ir_.CreateLShr(f_.thread(), 5), Plan::kGroups * 4 - 1);
        Value* row = ir_.CreateLShr(ir_.CreateAnd(f_.thread(), 31), 2);
        find_block(plan_.points, Plan::tile_rows(), ir_.CreateAdd(ir_.CreateShl(warp, 4), row));
        slots_.set_columns(column_of(plan_.output), columns(plan_.output), f_.number(0), nullptr);
    }

    /// How many tiles there are, and how many of them, the last ones, not all rows see whole, where
    /// that is not known.
    void find_tiles() {
        const int tile = plan_.tile_columns, warps = Plan::threads() / 32;
        range_ = range_of(loop_, tile, warps);
        const auto count = [&](Value* positions) {
            return ir_.CreateTrunc(ir_.CreateSDiv(positions, f_.number(tile)), ir_.getInt32Ty());
        };
        tiles_ = count(
            ir_.CreateNSWAdd(ir_.CreateNSWSub(range_.end, range_.first), f_.number(tile - 1)));
        if (plan_.masks_last_alone || loop_.lower >= 0) return;
        Value* seen = ir_.CreateNSWNeg(largest(loop_.upper, true, warps));
        seen = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, seen, range_.end);
        Value* whole = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, f_.number(0),
                                                 ir_.CreateNSWSub(seen, range_.first));
        masked_tiles_ = ir_.CreateNSWSub(tiles_, count(whole));
    }

    Value* start_of_tile(Value* tile) {
        Value* from_first = ir_.CreateNSWSub(ir_.CreateNSWSub(tiles_, integer(1)), tile);
        Value* wide = ir_.CreateSExt(from_first, ir_.getInt64Ty());
        return ir_.CreateNSWAdd(range_.first,
                                ir_.CreateNSWMul(wide, f_.number(plan_.tile_columns)));
    }

    void wait_for_block() override {
        f_.barrier();
        has_waited_ = true;
    }

    void write_product(Id) override {
        throw InternalError("a product outside of attention's loop");
    }

    void write_loop(Id id) override {
        std::vector<Values> initial;
        for (const Carry& carry : loop_.carries) initial.push_back(values(carry.initial));
        const Values result = either(
            ir_.CreateICmpSGT(tiles_, integer(0)), [&] { return write_tiles(initial); },
            [&] { return joined(initial); });
        define_results(id, result);
    }

    using Body = std::function<Values()>;
    /// `first()`'s values where the condition holds, else `second()`'s.
    Values either(Value* condition, const Body& first, const Body& second) {
        llvm::LLVMContext& context = ir_.getContext();
        llvm::BasicBlock* starts[2];
        for (llvm::BasicBlock*& start : starts)
            start = llvm::BasicBlock::Create(context, "either", &f_.llvm_function());
        auto* after = llvm::BasicBlock::Create(context, "after", &f_.llvm_function());
        ir_.CreateCondBr(condition, starts[0], starts[1]);
        Values made[2];
        llvm::BasicBlock* ends[2];
        for (int i = 0; i < 2; ++i) {
            ir_.SetInsertPoint(starts[i]);
            f_.scope([&] { made[i] = i == 0 ? first() : second(); });
            ends[i] = ir_.GetInsertBlock();
            ir_.CreateBr(after);
        }
        ir_.SetInsertPoint(after);
        Values result;
        for (std::size_t i = 0; i < made[0].size(); ++i) {
            llvm::PHINode* one = ir_.CreatePHI(made[0][i]->getType(), 2);
            for (int k = 0; k < 2; ++k) one->addIncoming(made[k][i], ends[k]);
            result.push_back(one);
        }
        return result;
    }

    Values write_tiles(const std::vector<Values>& initial) {
        queries_ = describe_rows(ring_.wait_for_queries());
        State state = first_tile(initial);
        const State form = state;
        const auto turn = [&](Value* tile, const Values& carried) {
            return joined(next_tile(tile, split(carried, form)));
        };
        Value* one = integer(1);
        state = split(f_.loop_carrying(one, tiles_, one, joined(state), turn), form);
        Value* last = ir_.CreateNSWSub(tiles_, one);
        Value* values_before = ring_.wait_for(Tile::values, last);
        Values sums = add_values(values_before, fence(state));
        state.carried[std::size_t(plan_.carry)] = in_rows(wait_for_products(f_, 0, sums));
        return joined(state.carried);
    }

    /// The last tile. Past the end of all rows' keys its values may be anything.
    State first_tile(const std::vector<Values>& initial) {
        Value* tile = integer(0);
        Value* keys = ring_.wait_for(Tile::keys, tile);
        fence_registers(f_, {});
        const Values scores = wait_for_products(f_, 0, start_scores(keys));
        ring_.release(Tile::keys, tile);
        for (std::size_t i = 0; i < initial.size(); ++i)
            define(loop_.carries[i].argument, initial[i]);
        const Values weights = define_reductions(make_weights(tile, scores, true));
        const State state = finish_tile(weights);
        Value* rest = ir_.CreateNSWSub(range_.end, start_of_tile(tile));
        f_.when(ir_.CreateICmpSLT(rest, f_.number(plan_.tile_columns)),
                [&] { ring_.clear_values(tile, ir_.CreateTrunc(rest, ir_.getInt32Ty())); });
        return state;
    }

    State next_tile(Value* tile, const State& before) {
        Value* last = ir_.CreateNSWSub(tile, integer(1));
        Value* values_before = ring_.wait_for(Tile::values, last);
        Value* keys = ring_.wait_for(Tile::keys, tile);
        const Registers registers = fence(before);
        Values scores = start_scores(keys);
        Values sums = add_values(values_before, registers);
        scores = wait_for_products(f_, 1, scores);
        ring_.release(Tile::keys, tile);
        for (std::size_t i = 0; i < before.carried.size(); ++i)
            if (int(i) != plan_.carry) define(loop_.carries[i].argument, before.carried[i]);
        Values weights = define_reductions(make_weights(tile, scores));
        // They become operands only now: those of the product under way have their registers.
        const std::size_t count = sums.size();
        sums.insert(sums.end(), weights.begin(), weights.end());
        sums = wait_for_products(f_, 0, sums);
        weights.assign(sums.begin() + std::ptrdiff_t(count), sums.end());
        sums.resize(count);
        ring_.release(Tile::values, last);
        define(loop_.carries[std::size_t(plan_.carry)].argument, in_rows(sums));
        return finish_tile(weights);
    }

    void set_tile(Value* tile, bool masked) {
        slots_.set_columns(loop_.axis, plan_.tile_columns, start_of_tile(tile),
                           masked ? range_.end : nullptr);
        if (masked) return;
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (auto valid = as<Valid>(kernel_, id); valid && valid->axis == loop_.axis)
                slots_.over(axes(id), [&](std::size_t) { f_.define(id, ir_.getTrue()); });
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
            set_tile(tile, masked);
            define(plan_.scores, in_rows(scores));
            done_.insert(plan_.scores);
            for (Id id : reductions()) {
                write_reduction(id);
                for (Value* value : values(id)) all.push_back(value);
            }
            const Contract& product = *as<Contract>(kernel_, plan_.output);
            const Id weights = has_rows(product.a) ? product.a : product.b;
            for (Value* value : factors_of(weights, loop_.axis)) all.push_back(value);
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
        const Id sum = sum_with(plan_.output);
        if (sum == plan_.output) throw InternalError("attention's sum starts with nothing known");
        for (const Carry& carry : loop_.carries)
            state.carried.push_back(carry.next == sum ? start_of_sums(sum) : values(carry.next));
        return state;
    }

    /// Those of a product, as it leaves them: of every eight columns two of the first row, then two
    /// of the second.
    Values start_of_sums(Id sum) {
        Values all;
        for (const Values& one : start_of(plan_.output, sum, columns(plan_.output) / 8))
            all.insert(all.end(), one.begin(), one.end());
        return all;
    }
    Values in_rows(const Values& sums) {
        std::vector<Values> pieces;
        for (std::size_t i = 0; i < sums.size(); i += kQuad)
            pieces.emplace_back(sums.begin() + std::ptrdiff_t(i),
                                sums.begin() + std::ptrdiff_t(i) + kQuad);
        return by_rows(pieces);
    }

    /// The 64 rows of this group.
    Value* describe_rows(Value* queries) {
        Value* group = ir_.CreateLShr(f_.thread(), 7);
        const int bytes = Plan::kGroupRows * Plan::kBoxColumns * 2;
        return describe_operand(
            f_, ir_.CreateGEP(ir_.getInt8Ty(), queries, ir_.CreateMul(group, integer(bytes))));
    }

    Values start_scores(Value* keys_at) {
        Value* keys = describe_operand(f_, keys_at);
        Values sums;
        for (int depth = 0; depth < plan_.keys.columns; depth += kDepth) {
            const int box = depth / Plan::kBoxColumns, in_box = depth % Plan::kBoxColumns * 2;
            Value* a = plus(queries_, box * plan_.queries.box_bytes() + in_box);
            Value* b = plus(keys, box * plan_.keys.box_bytes() + in_box);
            sums = depth == 0 ? start_first_product(f_, a, b, plan_.tile_columns)
                              : start_product(f_, a, b, false, false, sums);
        }
        commit_products(f_);
        return sums;
    }

    /// Starts to add the weighted values of a tile.
    Values add_values(Value* values_at, const Registers& registers) {
        Value* values = describe_operand(f_, values_at, plan_.values.box_bytes());
        Values sums = registers.sums;
        for (std::size_t i = 0; i < registers.weights.size(); ++i) {
            Value* b = plus(values, int(i) * kDepth * Plan::kBoxColumns * 2);
            sums = start_product_of_registers(f_, registers.weights[i], b, sums);
        }
        commit_products(f_);
        return sums;
    }

    /// The description of what lies so many bytes behind.
    Value* plus(Value* description, int bytes) {
        return ir_.CreateAdd(description, f_.number(bytes / 16));
    }

    static Values joined(const std::vector<Values>& parts) {
        Values all;
        for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
    }
    static Values joined(const State& state) {
        Values all = joined(state.carried);
        for (Value* value : joined(state.weights)) all.push_back(value);
        return all;
    }
    static State split(const Values& all, const State& form) {
        State state = form;
        auto next = all.begin();
        for (std::vector<Values>* parts : {&state.carried, &state.weights})
            for (Values& part : *parts)
                for (Value*& value : part) value = *next++;
        return state;
    }

    const Plan& plan_;
    const Loop& loop_;
    AttentionRing ring_;
    Range range_;
    Value *tiles_ = nullptr, *masked_tiles_ = nullptr;  // i32
    Value* queries_ = nullptr;
    bool has_waited_ = false;
};

}  // namespace

PtxLaunch write_attention_group(llvm::Module& module, const AttentionGroupPlan& plan,
                                const std::string& entry) {
    PtxLaunch launch{.entry = entry, .grid = {}, .threads = Plan::threads()};
    for (const Plan::Operand* operand : {&plan.queries, &plan.keys, &plan.values})
        launch.maps.push_back(operand->map);
    Function function(module, plan.kernel, entry, launch.threads, launch.maps);
    prepare_tile_function(function);
    Writer(plan, function).run();
    for (AxisId axis : plan.points)
        launch.grid.push_back({plan.kernel.axes[std::size_t(axis)].extent, 1});
    launch.grid.push_back(
        {plan.kernel.axes[std::size_t(plan.rows)].extent, AttentionGroupPlan::tile_rows()});
    launch.shared_bytes = plan.shared_bytes();
    return launch;
}

}  // namespace fovea::emit::nvptx
