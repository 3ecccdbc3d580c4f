// Where asynchronous instructions take effect.
#pragma once

#include "codegen/ptx/machine.h"

namespace fovea::ptx {

/// Ends the cp.async of some lanes: those of all groups but the last `groups_left`, or, without
/// such a number, every one.
void finish_copies(Warp& warp, Mask lanes, std::optional<std::uint32_t> groups_left);

/// Performs an event that was due.
void land(Block& block, const Landing& landing);

/// Performs the products that a warp waits for.
void finish_products(Warp& warp);

/// At the end of a block: bulk stores that were not waited for.
void finish_stores(Warp& warp);

/// The barrier object at an address; faults where there is none, or a lane can't know it yet.
MBarrier& mbarrier_at(Warp& warp, int lane, std::uint64_t address);

/// Arrivals at a barrier object, with what those who arrive know.
void arrive(Warp& warp, int lane, MBarrier& barrier, std::int64_t count, const Clock& clock);

/// Ends the phase if nothing is pending any more.
void settle(Block& block, MBarrier& barrier);

}  // namespace fovea::ptx
