// How the threads of a block share the elements of a tile, and what one of them computes: the same
// thread has the same element in every step over the same axes.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/tiles/tile_plan.h"

namespace fovea::emit::nvptx {

class TileElements {
  public:
    TileElements(const TilePlan& plan, Function& function);

    /// The tile of an axis that the block is at: its first position (i64), and how many positions
    /// of it there are (i32).
    void set_tile(kernel::AxisId axis, llvm::Value* first, llvm::Value* count);

    /// Computes a step that is no loop.
    void write(const TileStep& step);

    struct Range {
        llvm::Value *smallest = nullptr, *largest = nullptr;  // i64
    };
    /// Of an i32 tile of one axis or none, over the block's tile.
    Range range_of(kernel::Id bound);

  private:
    /// A position along an axis of the block's tile.
    struct Place {
        kernel::AxisId axis = -1;
        llvm::Value* local = nullptr;  // i32, within the tile
        llvm::Value* position = nullptr;  // i64
        llvm::Value* exists = nullptr;  // i1; where it does not, `local` is the last one
    };
    using Places = std::vector<Place>;  // those of an element

    Place place(kernel::AxisId axis, llvm::Value* local);
    void go_to(const Place& place);
    void go_to(const Places& places);

    void write_one(const TileStep& step);
    void write_row(const TileStep& step);
    void write_matrix(const TileStep& step);
    void write_block(const TileStep& step, llvm::Value* first_row, llvm::Value* first_column,
                     int rows, int columns, int row_step, int column_step);
    /// The values of a sum at some elements; the last of its axes is shared among `lanes` threads.
    Values sum(kernel::Id id, const std::vector<Places>& elements, int lanes);
    Values sum_along(kernel::Id id, const std::vector<kernel::AxisId>& axes, std::size_t depth,
                     const std::vector<Places>& elements, int lanes, const Values& so_far);
    llvm::Value* add_term(kernel::Id id, llvm::Value* so_far);
    llvm::Value* term(kernel::Id id, kernel::Factors factors);
    /// Makes known what steps read at the current positions.
    void load_reads(const std::vector<TileRead>& reads, bool of_sums);
    llvm::Value* array_element(kernel::Id array);
    llvm::Value* exists(const Places& places);
    /// Writes an element: its value, or for a store what it does to memory.
    llvm::Value* element_value(const TileStep& step, const std::vector<llvm::Value*>& sums);
    void put(const TileStep& step, llvm::Value* value);
    llvm::Value* integer(int value) { return f_.ir().getInt32(std::uint32_t(value)); }

    const TilePlan& plan_;
    Function& f_;
    std::map<kernel::Id, llvm::Value*> arrays_;
    struct Tile {
        llvm::Value *first = nullptr, *count = nullptr;
    };
    std::map<kernel::AxisId, Tile> tiles_;
    std::map<kernel::AxisId, llvm::Value*> locals_;  // those of the current element
};

}  // namespace fovea::emit::nvptx
