// One entry of the module under construction: its parameters, positions along the axes, values of
// the kernel's nodes on demand, memory accesses and control flow.
//
//   Function f(module, kernel, entry, threads);
//   f.set_position(row, …), f.set_position(column, …);
//   f.store(store.access, f.value(store.value));
//   f.finish();
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/emit/nvptx/elementwise.h"
#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

/// Threads that run in step.
inline constexpr int kWarp = 32;

using Values = std::vector<llvm::Value*>;

class Function {
  public:
    /// A new entry with the parameters that codegen/emit/ptx_module.h says, for blocks of so many
    /// threads along x, with such tensor maps. The builder stands at its start. InternalError for
    /// a map that `why_not_tensor_map` has something against.
    Function(llvm::Module& module, const kernel::Kernel& kernel, const std::string& entry,
             int threads, const std::vector<TensorMap>& maps = {});
    /// Returns from the entry: nothing can be added after it.
    void finish();

    llvm::IRBuilder<>& ir() { return ir_; }
    const kernel::Kernel& kernel() const { return kernel_; }
    llvm::Function& llvm_function() { return *function_; }
    int threads() const { return threads_; }

    llvm::Value* number(std::int64_t value) { return ir_.getInt64(std::uint64_t(value)); }
    /// The address of a buffer in global memory, a multiple of 16.
    llvm::Value* buffer(int index) const { return buffers_[std::size_t(index)]; }
    /// The address of a tensor map of the entry, in the order given.
    llvm::Value* tensor_map(int index) const { return maps_[std::size_t(index)]; }
    /// A size, i64; InternalError for a symbol that is no parameter of the kernel.
    llvm::Value* dim(const Dim& dim);
    llvm::Value* extent(kernel::AxisId axis);
    /// The number of the thread in its block (i32), of the block in the grid (i64).
    llvm::Value* thread() const { return thread_; }
    llvm::Value* block() const { return block_; }
    /// Reads both numbers again: what is made of them from here on needs no registers before.
    void read_numbers_again();

    /// The current position along an axis, i64; InternalError where none is set.
    llvm::Value* position(kernel::AxisId axis) const;
    void set_position(kernel::AxisId axis, llvm::Value* position);

    /// The address of an element at the current positions, and the element: f32, i32 or i1; a
    /// float of 16 bits in memory is widened, and rounded to nearest even when it is stored.
    llvm::Value* address(const kernel::Access& access);
    llvm::Value* load(const kernel::Access& access);
    void store(const kernel::Access& access, llvm::Value* value);
    /// Number of the element in its buffer, i64.
    llvm::Value* element(const kernel::Access& access);
    llvm::Value* load_at(int buffer, llvm::Value* element);
    void store_at(int buffer, llvm::Value* element, llvm::Value* value);

    /// The element of a node's tile at the current positions, made from its operands unless it is
    /// known there. Reductions, products and carried values must have been defined.
    llvm::Value* value(kernel::Id id);
    /// The same, converted: f32 (also for halves), i32 or i1.
    llvm::Value* value(kernel::Id id, DType dtype);
    /// What a node's element is at the current positions. Replaces what was known of the node
    /// there, and of all that is made from it. Known until the block of code that it stands in
    /// ends.
    void define(kernel::Id id, llvm::Value* value);
    /// Whether value() would not have to make anything for the node.
    bool is_known(kernel::Id id) const { return known_.contains(key_of(id)); }

    /// One elementwise function of operands of its type (the condition of `where` is i1).
    llvm::Value* map(Elementwise function, const Values& operands) {
        return elementwise(ir_, function, operands);
    }

    /// `for (i64 at = first; at < end; at += step) body(at)`
    using Body = std::function<void(llvm::Value* at)>;
    void loop(llvm::Value* first, llvm::Value* end, llvm::Value* step, const Body& body);
    /// The same with values that each turn hands to the next; returns them after the last.
    using CarryingBody = std::function<Values(llvm::Value* at, const Values& carried)>;
    Values loop_carrying(llvm::Value* first, llvm::Value* end, llvm::Value* step,
                         const Values& initial, const CarryingBody& body);
    void when(llvm::Value* condition, const std::function<void()>& body);
    /// Runs `body` straight on; what it makes known, and the positions it sets, end with it.
    void scope(const std::function<void()>& body);

    /// `count` elements of memory that the threads of a block share, aligned to 16 bytes.
    llvm::Value* shared(llvm::Type* type, std::size_t count, const std::string& name);
    /// All threads of the block wait for each other, and see what the others wrote.
    void barrier();
    /// The value of the lane whose number differs in the bits of `mask`; f32 or i32, whole warps.
    llvm::Value* from_lane(llvm::Value* value, int mask);
    /// Over each group of `lanes` neighbouring threads, 1 to 32, in a fixed order; the result is in
    /// all of them. Whole warps must call it.
    llvm::Value* group_reduce(kernel::Reduction reduction, llvm::Value* value, int lanes);
    /// The same over all threads of the block, a multiple of 32; all of them must call it.
    llvm::Value* block_reduce(kernel::Reduction reduction, llvm::Value* value);
    llvm::Value* combine(kernel::Reduction reduction, llvm::Value* a, llvm::Value* b);
    /// What changes nothing: 0 of a sum, of a maximum the lowest number of the type.
    llvm::Value* neutral(kernel::Reduction reduction, llvm::Type* type);
    /// The LLVM type of a node's elements.
    llvm::Type* type_of(kernel::Id id);

  private:
    /// A node and the positions that its value depends on.
    using Key = std::pair<kernel::Id, Values>;
    struct Change {
        Key key;
        llvm::Value* before;  // null: it was not known
    };

    void add_maps(const std::vector<TensorMap>& maps, unsigned first);
    void find_dependences();
    Key key_of(kernel::Id id) const;
    void remember(const Key& key, llvm::Value* value);
    void forget(const Key& key);
    llvm::Value* make(kernel::Id id);
    llvm::Value* make_map(const kernel::Map& map, DType dtype);
    llvm::Value* make_random(const kernel::Random& random);
    llvm::Value* make_valid(const kernel::Valid& valid);
    llvm::Value* constant(double value, DType dtype);
    llvm::Value* sum(const std::vector<kernel::Stride>& strides, const Dim& offset);
    llvm::Type* memory_type(DType dtype);
    llvm::Value* symbol(const std::string& name) const;

    llvm::Module& module_;
    const kernel::Kernel& kernel_;
    int threads_;
    llvm::IRBuilder<> ir_;
    llvm::Function* function_ = nullptr;
    Values buffers_, maps_, positions_;
    std::map<std::string, llvm::Value*> symbols_;
    std::map<int, llvm::Value*> sites_;  // given for those of the kernel's draws
    llvm::Value *thread_ = nullptr, *block_ = nullptr, *draw_ = nullptr;
    llvm::Value* gathered_[2]{};  // shared memory of block_reduce, in turns
    int reductions_ = 0;  // of the block, so far
    std::vector<std::vector<kernel::AxisId>> depends_;  // by node, ascending
    std::vector<std::vector<kernel::Id>> users_;  // by node, all that is made from it
    std::map<Key, llvm::Value*> known_;
    std::vector<Change> changes_;
};

}  // namespace fovea::emit::nvptx
