// What kernels by groups of warps have in common (sm_90a): of three groups of four warps one brings
// operands, the other two have 64 rows of the block each. A form says what a tile does.
#pragma once

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/attention/attention_ring.h"
#include "codegen/emit/nvptx/tiles/tile_fragments.h"

namespace fovea::emit::nvptx {

class GroupTiles : public TileFragments {
  public:
    void run();

  protected:
    using Plan = AttentionGroupPlan;

    static constexpr int kDepth = 16;  // of a product

    GroupTiles(const Plan& plan, Function& function);

    /// Sets `range_` and `tiles_`.
    virtual void find_tiles() = 0;
    /// The position at which tile number `tile` starts (i64).
    virtual llvm::Value* start_of_tile(llvm::Value* tile) = 0;

    /// Sets the point and the rows of this block, and the columns of what is stored.
    void find_rows();
    void wait_for_block() override;
    void write_product(Id id) override;

    /// How many tiles a number of positions (i64) is, rounded down or up (i32).
    llvm::Value* whole_tiles(llvm::Value* positions);
    llvm::Value* tiles_over(llvm::Value* positions);
    /// The smallest number of a bound of the loop.
    llvm::Value* smallest(Id bound);
    /// `number` tiles from the start of the range (i32).
    llvm::Value* position_of(llvm::Value* number);
    /// So many positions from `first` on, where all are seen, or where `masked` some may not be.
    void set_positions(llvm::Value* first, int count, bool masked);

    using Body = std::function<Values()>;
    /// `first()`'s values where the condition holds, else `second()`'s.
    Values either(llvm::Value* condition, const Body& first, const Body& second);

    int columns(Id id) const;
    /// Values of rows, one row after the other, as a product leaves them: of every eight columns
    /// two of the first row, then two of the second.
    static Values as_sums(const Values& rows);
    Values in_rows(const Values& sums);

    /// What a sum of weighted rows takes, and what an instruction makes of it.
    struct Registers {
        Values sums;
        std::vector<Values> weights;

        Registers after(const std::function<Values(const Values&)>& instruction) const;
    };
    Registers fence(const Registers& registers);

    /// Positions of a tile.
    struct Part {
        int first = 0, columns = 0;
    };
    Part whole() const { return {0, plan_.tile_columns}; }
    /// Starts a score of the tile whose moving operand lies at `moving`.
    Values start_score(const Plan::Score& score, llvm::Value* moving, const Part& part);
    /// Starts to add the weighted rows of a moving operand's tile, from number `first` on.
    Values add_rows(std::size_t moving, llvm::Value* rows, const Registers& registers,
                    int first = 0);

    static Values joined(const std::vector<Values>& parts);
    /// The same parts of other values.
    static std::vector<Values> split(const Values& all, const std::vector<Values>& form);

    const Plan& plan_;
    const kernel::Loop& loop_;
    AttentionRing ring_;
    Range range_;
    llvm::Value* tiles_ = nullptr;  // i32

  private:
    /// The description of what lies so many bytes behind.
    llvm::Value* plus(llvm::Value* description, int bytes);

    bool has_waited_ = false;
};

}  // namespace fovea::emit::nvptx
