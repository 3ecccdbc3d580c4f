// The elements of tiles that a thread has where tiles lie in the registers of mma.sync: of every
// eight rows one, of every eight columns two neighbours.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

class TileSlots {
  public:
    static constexpr int kRows = 2;  // of the 16 of a warp
    static constexpr int kQuad = 4;  // threads that share a row

    TileSlots(kernel::AxisId rows, Function& function);

    /// This thread's positions along an axis, and whether they exist (empty: all do); those that do
    /// not are the last that does.
    struct Slots {
        Values positions, exist;
    };
    /// The rows: `first` and the eighth after it, of those below `end`.
    void set_rows(llvm::Value* first, llvm::Value* end);
    /// Columns of a tile of so many from `first` on, of those below `end` (null: all exist).
    void set_columns(kernel::AxisId axis, int length, llvm::Value* first, llvm::Value* end);
    const Slots& of(kernel::AxisId axis) const { return slots_.at(axis); }

    /// Calls `body` at each element of a tile, the columns of a row one after the other.
    void over(const std::vector<kernel::AxisId>& tile,
              const std::function<void(std::size_t number)>& body);

  private:
    void add(Slots& slots, llvm::Value* position, llvm::Value* end);

    kernel::AxisId rows_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    std::map<kernel::AxisId, Slots> slots_;
};

}  // namespace fovea::emit::nvptx
