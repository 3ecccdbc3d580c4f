// Copies of boxes of tensors into shared memory, and the barrier objects that tell when they have
// landed (sm_90): PTX ISA, "cp.async.bulk.tensor" and "mbarrier".
#pragma once

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// An array of barrier objects in shared memory. A phase of one ends when all arrivals that it
/// expects are there, and all bytes that were announced.
class Barriers {
  public:
    /// `count` of them, 8 bytes each.
    Barriers(Function& f, int count, const std::string& name);

    /// The address of number `index` (i32).
    llvm::Value* at(llvm::Value* index) const;
    llvm::Value* at(int index) const;

  private:
    Function& f_;
    llvm::Value* first_;
};

/// One thread makes a barrier object that expects so many arrivals in each phase.
void make_barrier(Function& f, llvm::Value* barrier, int arrivals);
/// Then it makes those that it made known to copies; a barrier of the block follows.
void publish_barriers(Function& f);

/// Arrives at the object, as each calling thread does.
void arrive(Function& f, llvm::Value* barrier);
/// Arrives, and announces so many bytes in the same phase.
void arrive_expecting(Function& f, llvm::Value* barrier, int bytes);
/// Waits until a phase of the object has ended whose number is even (`parity` 0) or odd (1), the
/// current one or the one before; i32. What the arrived wrote, and what was copied, is seen then.
void wait_for_phase(Function& f, llvm::Value* barrier, llvm::Value* parity);

/// Starts to copy the box at `coordinates` (i32, the innermost first) of tensor map number `map` to
/// `to` in shared memory, a multiple of 128, of 1024 where it is swizzled; zeros where the tensor
/// has no elements. Its bytes, those of the whole box, arrive at `barrier`.
void copy_box(Function& f, int map, llvm::Value* to, const Values& coordinates,
              llvm::Value* barrier);

/// Each warp of a group of four gives away or takes registers, so that every thread of it has this
/// many, a multiple of 8 from 24 to 256; the whole group must call it.
void give_registers(Function& f, int left);
void take_registers(Function& f, int total);

}  // namespace fovea::emit::nvptx
