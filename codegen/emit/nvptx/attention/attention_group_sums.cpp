// Gradients of attention: a group starts all scores of a tile, makes weights as soon as the scores
// are there that they need, and starts to add the weighted rows while it makes the next weights.
// Sums have the registers of their products from the first tile to the last. Tiles that not all
// rows see whole come first, those at the end of the range before those at its start; then none is
// masked.
#include <llvm/IR/Intrinsics.h>

#include "codegen/emit/nvptx/attention/attention_group_forms.h"
#include "codegen/emit/nvptx/attention/group_tiles.h"
#include "codegen/emit/nvptx/group_products.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class GroupSumsWriter : public GroupTiles {
  public:
    GroupSumsWriter(const AttentionGroupPlan& plan, Function& function)
        : GroupTiles(plan, function) {}

  private:
    /// And how many tiles not all rows see whole.
    void find_tiles() override {
        const int warps = Plan::threads() / 32;
        range_ = range_of(loop_, plan_.tile_columns, warps);
        tiles_ = tiles_over(ir_.CreateNSWSub(range_.end, range_.first));
        const auto at_most = [&](Value* a, Value* b) {
            return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
        };
        const auto from_first = [&](Value* position) {
            return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, f_.number(0),
                                             ir_.CreateNSWSub(position, range_.first));
        };
        Value* seen = range_.end;
        if (loop_.upper >= 0) seen = at_most(seen, smallest(loop_.upper));
        at_end_ = ir_.CreateNSWSub(tiles_, whole_tiles(from_first(seen)));
        masked_ = in_register(f_, at_end_);
        if (loop_.lower < 0) return;
        Value* from = largest(loop_.lower, false, warps);
        masked_ = in_register(
            f_, at_most(tiles_, ir_.CreateNSWAdd(at_end_, tiles_over(from_first(from)))));
    }

    Value* start_of_tile(Value* tile) override {
        Value* from_first = ir_.CreateNSWSub(tile, at_end_);
        Value* is_at_end = ir_.CreateICmpSLT(tile, at_end_);
        return position_of(
            ir_.CreateSelect(is_at_end, ir_.CreateNSWAdd(from_first, tiles_), from_first));
    }

    void write_loop(Id id) override {
        read_all({plan_.rows});
        f_.when(ir_.CreateICmpSGT(tiles_, integer(0)), [&] { ring_.wait_for_fixed(); });
        std::vector<Values> sums;
        for (const Plan::Sum& sum : plan_.sums)
            sums.push_back(as_sums(values(loop_.carries[sum.carry].initial)));
        const std::vector<Values> form = sums;
        Value* first = integer(0);
        for (Value* end : {masked_, tiles_}) {
            const auto turn = [&](Value* tile, const Values& carried) {
                return joined(write_tile(tile, split(carried, form), end == masked_));
            };
            sums = split(f_.loop_carrying(first, end, integer(1), joined(sums), turn), form);
            first = masked_;
        }
        std::vector<Values> carried(loop_.carries.size());
        for (std::size_t i = 0; i < sums.size(); ++i)
            carried[plan_.sums[i].carry] = in_rows(sums[i]);
        find_rows();
        define_results(id, joined(carried));
    }

    std::vector<Values> write_tile(Value* tile, std::vector<Values> sums, bool masked) {
        if (!masked) set_part(tile, whole());
        if (!masked && plan_.reads_ahead) read_all({loop_.axis});
        const Values moving = ring_.wait_for_all(tile);
        if (masked) {
            if (plan_.has_padding) clear_padding(tile);
            // In halves: whether positions are seen takes registers, too.
            const int half = plan_.tile_columns / 2;
            for (const Part part : {Part{0, half}, Part{half, half}}) {
                const std::vector<Values> scores = scores_of(part, moving);
                set_part(tile, part, true);
                sums = add_weighted(part, scores, moving, sums);
            }
        } else {
            sums = add_weighted(whole(), scores_of(whole(), moving), moving, sums);
        }
        ring_.release_all(tile);
        return sums;
    }

    void set_part(Value* tile, const Part& part, bool masked = false) {
        Value* first = ir_.CreateNSWAdd(start_of_tile(tile), f_.number(part.first));
        set_positions(first, part.columns, masked);
    }

    /// Reads what the loop loads for each position along some axes, long before it is needed.
    void read_all(const std::vector<AxisId>& along) {
        for (Id id : loop_.body)
            if (as<Load>(kernel_, id) && axes(id) == along)
                slots_.over(along, [&](std::size_t) { f_.value(id); });
    }

    std::vector<Values> scores_of(const Part& part, const Values& moving) {
        fence_registers(f_, {});
        std::vector<Values> scores;
        for (const Plan::Score& score : plan_.scores)
            scores.push_back(start_score(score, moving[score.moving], part));
        return split(wait_for_products(f_, 0, joined(scores)), scores);
    }

    std::vector<Values> add_weighted(const Part& part, const std::vector<Values>& scores,
                                     const Values& moving, std::vector<Values> sums) {
        for (std::size_t i = 0; i < scores.size(); ++i)
            define(plan_.scores[i].product, in_rows(scores[i]));
        // All weights of an element one after the other: its scores are not needed any more.
        slots_.over(axes(plan_.sums[0].weights), [&](std::size_t) {
            for (const Plan::Sum& sum : plan_.sums) f_.value(sum.weights, DType::f32);
        });
        Registers registers{joined(sums), {}};
        for (const Plan::Sum& sum : plan_.sums)
            for (const Values& one : packed(factors_of(sum.weights, loop_.axis)))
                registers.weights.push_back(one);
        registers = fence(registers);
        sums = split(registers.sums, sums);
        const auto operands = std::ptrdiff_t(registers.weights.size() / sums.size());
        auto first = registers.weights.begin();
        for (std::size_t i = 0; i < sums.size(); ++i, first += operands) {
            const std::size_t number = plan_.sums[i].moving;
            const Registers own{sums[i], {first, first + operands}};
            sums[i] = add_rows(number, moving[number], own, part.first);
        }
        return split(wait_for_products(f_, 0, joined(sums)), sums);
    }

    /// Past the end of the range a tile's rows may be anything.
    void clear_padding(Value* tile) {
        Value* rest = ir_.CreateNSWSub(range_.end, start_of_tile(tile));
        f_.when(ir_.CreateICmpSLT(rest, f_.number(plan_.tile_columns)), [&] {
            for (std::size_t i = 0; i < plan_.moving.size(); ++i)
                if (is_summed(i)) ring_.clear(i, tile, ir_.CreateTrunc(rest, ir_.getInt32Ty()));
            ring_.end_clearing();
        });
    }

    bool is_summed(std::size_t moving) const {
        for (const Plan::Sum& sum : plan_.sums)
            if (sum.moving == moving) return true;
        return false;
    }

    Value *at_end_ = nullptr, *masked_ = nullptr;  // tiles, i32
};

}  // namespace

void write_attention_sums(const AttentionGroupPlan& plan, Function& function) {
    GroupSumsWriter(plan, function).run();
}

}  // namespace fovea::emit::nvptx
