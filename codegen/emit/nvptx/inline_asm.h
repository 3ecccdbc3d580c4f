// Instructions that LLVM has no intrinsics for.
#pragma once

#include <string>

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// An instruction that orders accesses to memory, with operands `$0`, `$1`, … of constraints like
/// `r,l` (32 and 64 bits).
void write_asm(Function& f, const std::string& text, const std::string& constraints = "",
               const Values& operands = {});
/// The same with a result, `$0`, whose constraint comes first: `=r,r`.
llvm::Value* read_asm(Function& f, llvm::Type* result, const std::string& text,
                      const std::string& constraints, const Values& operands);

/// `value + number`, i64, made where it stands: kept out of registers until then, for it is not
/// moved to the front of a loop.
llvm::Value* sum_in_place(Function& f, llvm::Value* value, int number);

/// `value`, i32, made where it stands, though it may be needed on one way from here alone.
llvm::Value* in_register(Function& f, llvm::Value* value);

/// wgmma.fence: products that start from here on see what was written to the registers of `sums`,
/// which are those that it returns.
Values fence_products(Function& f, const Values& sums);

/// wgmma.mma_async: `sums`, of 64 rows and 2 * sums.size() columns, plus the product of the
/// operands that the descriptors name, halves or tf32, 32 bytes along the depth. `transposed`,
/// which tf32 cannot be: neighbours differ in the row or the column. Until `wait_for_products`
/// nothing may touch what this returns.
Values start_product(Function& f, llvm::Value* a, llvm::Value* b, bool transposed_a,
                     bool transposed_b, const Values& sums,
                     kernel::Factors factors = kernel::Factors::bf16);

/// Waits until all products are done but those of the last `left` groups that were committed, and
/// returns the sums, which can be touched from then on.
Values wait_for_products(Function& f, int left, const Values& sums);

}  // namespace fovea::emit::nvptx
