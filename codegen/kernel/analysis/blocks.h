// The block of each node and its readers, for analyses and rewrites of loops over tiles.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// The loops around a node, outermost first, and its number in the block of the innermost.
struct Position {
    std::vector<Id> loops;
    int index = 0;
};

/// The positions of all nodes.
std::vector<Position> positions_of(const Kernel& kernel);

/// The nodes that read each node, a loop for its bounds and for what its carried values start with
/// and become.
std::vector<std::vector<Id>> users_of(const Kernel& kernel);

/// The block of a loop, or with -1 the kernel's.
std::vector<Id>& block_of(Kernel& kernel, Id loop);

/// Whether a node at `position` is in scope at `other`, standing in the same block or around it.
bool encloses(const Position& position, const Position& other);

/// A new node, its type inferred, in no block yet.
Id add_node(Kernel& kernel, Operation operation, DType dtype = DType::f32, std::string name = {});

/// Puts a new node behind number `index` of the block of `loop`, its type inferred; returns it.
Id insert_node(Kernel& kernel, Id loop, int index, Operation operation, DType dtype,
               std::string name = {});

/// Lets everything that reads `from` read `to`.
void replace_uses(Kernel& kernel, Id from, Id to);

/// Takes a node out of its block; `renumber` then forgets it.
void drop_node(Kernel& kernel, Id id);

/// Numbers nodes anew in the order of the blocks, which rewrites leave out of order.
void renumber(Kernel& kernel);

}  // namespace fovea::kernel
