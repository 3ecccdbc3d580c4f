// What a block of a contraction's grid computes, in the entry under construction: shared by the
// forms that contraction_plan.h names.
#pragma once

#include <functional>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// The block's part of the product.
struct ContractionBlock {
    Function& f;
    const ContractionPlan& plan;
    llvm::Value* first_row = nullptr;     // i64; null: the product has no rows
    llvm::Value* first_column = nullptr;  // i64; null: it has no columns
    llvm::Value* first_loaded_column = nullptr;  // i64; of the plan's loaded_columns()
    llvm::Value* depth = nullptr;         // i64, how many products an element is the sum of
};

/// Sets the positions along the points, and finds the block's first row and column, for tiles of
/// `tile_rows` x `tile_columns`. Neighbouring blocks go down a few tiles of rows, then to the next
/// tile of columns: what they read of both operands is soon read again.
ContractionBlock enter_block(Function& f, const ContractionPlan& plan, int tile_rows,
                             int tile_columns);

/// Sets the positions along the contracted axes: number `at` of all, the last axis fastest.
void set_depth(const ContractionBlock& block, llvm::Value* at);

/// `body()`'s values where the condition holds, zeros elsewhere.
Values values_when(Function& f, llvm::Value* condition, const std::function<Values()>& body);

/// The dynamic shared memory of an entry, aligned to 1024 bytes.
llvm::Value* dynamic_shared(llvm::Module& module);

/// `base + bytes`.
llvm::Value* at_byte(Function& f, llvm::Value* base, llvm::Value* bytes);

/// Stores what the kernel makes of elements of the product: those at the current positions and,
/// where there are several, at the columns after it. `before`: of the product before it, if any.
void write_epilogue(const ContractionBlock& block, const Values& products,
                    const Values& before = {});

/// The skeletons. Those of tiles return the bytes of dynamic shared memory that they use.
int write_tiles(const ContractionBlock& block);
int write_ring(const ContractionBlock& block);
void write_vector(const ContractionBlock& block);

/// Columns that a block of the form `vector` computes, and its threads.
struct VectorShape {
    bool lanes_along_depth = true;  // else along the columns
    int columns = 1, threads = 32;
};
VectorShape vector_shape(const kernel::Kernel& kernel, const ContractionPlan& plan);

}  // namespace fovea::emit::nvptx
