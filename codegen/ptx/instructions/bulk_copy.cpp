// cp.async.bulk: copies of ranges and of tiles of tensors. Loads complete at an mbarrier, stores in
// groups.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/asynchronous.h"
#include "codegen/ptx/instructions/half.h"
#include "codegen/ptx/tensor_map.h"

namespace fovea::ptx {
namespace {

constexpr std::uint32_t kChunk = 16;  // bytes that swizzles keep together
constexpr std::uint32_t kTileAlignment = 128;

const std::byte* global_host(const Block& block, std::uint64_t address) {
    const Memory::Buffer* buffer = block.machine.memory.find(address);
    return buffer->host + (address - buffer->address);
}

void read_pieces(const Block& block, const std::vector<Piece>& pieces, std::byte* to) {
    for (const Piece& piece : pieces) {
        std::memcpy(to, block.shared_memory.data() + piece.shared, piece.bytes);
        to += piece.bytes;
    }
}

/// As cvt.rna does it: the manual does not say how it rounds halves.
void round_to_tf32(std::byte* floats, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; i += sizeof(float)) {
        float value;
        std::memcpy(&value, floats + i, sizeof value);
        const std::uint32_t rounded = to_tf32(value);
        std::memcpy(floats + i, &rounded, sizeof rounded);
    }
}

void write_shared(Block& block, const Landing& landing) {
    for (const Piece& piece : landing.pieces) {
        std::byte* to = block.shared_memory.data() + piece.shared;
        if (piece.global) std::memcpy(to, global_host(block, piece.global), piece.bytes);
        else std::fill_n(to, piece.bytes, std::byte{0});
        if (piece.rounds_to_tf32) round_to_tf32(to, piece.bytes);
        block.end_writes(block.copy_engine, kNoLane, piece.shared, piece.bytes);
    }
}

/// Starts a load, of which everything is checked at once.
void start_load(Warp& warp, int lane, std::vector<Piece> pieces, std::uint32_t barrier) {
    if (!mbarrier_at(warp, lane, barrier).published)
        warp.fail(FaultKind::barrier, lane,
                  "no fence.mbarrier_init shows copies this mbarrier, nor a fence.proxy.async");
    for (const Piece& piece : pieces) {
        warp.block.begin_writes(warp, lane, piece.shared, piece.bytes);
        if (piece.global)
            warp.block.global(warp, lane, piece.global, piece.bytes, Intent::read, nullptr, 1);
    }
    Landing landing{
        .kind = Landing::Kind::bulk_copy, .barrier = barrier, .pieces = std::move(pieces)};
    if (warp.block.at_once()) land(warp.block, landing);
    else warp.block.landings.push_back(std::move(landing));
}

void write_global(Warp& warp, BulkStore& store) {
    const std::byte* data = store.data.data();
    for (const Piece& piece : store.pieces) {
        if (piece.global)
            std::memcpy(warp.block.global(warp, store.lane, piece.global, piece.bytes,
                                          Intent::write, data, 1),
                        data, piece.bytes);
        data += piece.bytes;
    }
}

void finish_read(Warp& warp, BulkStore& store) {
    if (!warp.block.at_once()) read_pieces(warp.block, store.pieces, store.data.data());
    for (const Piece& piece : store.pieces)
        warp.block.end_reads(warp.agent, store.lane, piece.shared, piece.bytes);
    store.read = true;
}

void start_store(Warp& warp, int lane, std::vector<Piece> pieces) {
    std::uint32_t bytes = 0;
    for (const Piece& piece : pieces) {
        warp.block.begin_reads(warp, lane, piece.shared, piece.bytes);
        bytes += piece.bytes;
    }
    BulkStore store{.lane = lane,
                    .group = warp.store_groups[std::size_t(lane)],
                    .pieces = std::move(pieces),
                    .data = std::vector<std::byte>(bytes)};
    read_pieces(warp.block, store.pieces, store.data.data());
    warp.stores.push_back(std::move(store));
}

/// The pieces of the tile at `coordinates`; outside of the tensor there are zeros.
std::vector<Piece> pieces_of(const TensorMap& map, const std::array<std::int64_t, 5>& coordinates,
                             std::uint32_t shared) {
    std::vector<Piece> pieces;
    const std::uint32_t size = map.element_bytes;
    std::uint64_t rows = 1;
    for (std::uint32_t d = 1; d < map.rank; ++d) rows *= map.box[d];
    std::uint32_t offset = 0;
    for (std::uint64_t row = 0; row < rows; ++row) {
        std::uint64_t rest = row, address = map.address;
        bool row_inside = true;
        for (std::uint32_t d = 1; d < map.rank; ++d) {
            const std::int64_t at = coordinates[d] + std::int64_t(rest % map.box[d]);
            rest /= map.box[d];
            row_inside &= at >= 0 && at < std::int64_t(map.extents[d]);
            address += std::uint64_t(at) * map.strides[d];
        }
        for (std::uint32_t x = 0; x < map.box[0]; ++x, offset += size) {
            const std::int64_t at = coordinates[0] + x;
            const bool inside = row_inside && at >= 0 && at < std::int64_t(map.extents[0]);
            const std::uint64_t global = inside ? address + std::uint64_t(at) * size : 0;
            const std::uint32_t to = swizzled(shared + offset, map.swizzle);
            const bool joins = offset % kChunk && !pieces.empty() &&
                               (global ? pieces.back().global + pieces.back().bytes == global
                                       : pieces.back().global == 0);
            if (joins) pieces.back().bytes += size;
            else pieces.push_back({to, global, size, map.rounds_to_tf32});
        }
    }
    return pieces;
}

/// Sources: the shared address, the map, the coordinates, and for loads the mbarrier.
std::vector<Piece> tile(Warp& warp, const Op& op, int lane) {
    const std::uint64_t at = warp.address(op.source(1), lane);
    std::array<std::byte, 128> bytes;
    for (std::size_t half = 0; half < 2; ++half)
        std::memcpy(
            &bytes[64 * half],
            warp.block.access(warp, lane, Space(op.extra), at + 64 * half, 64, Intent::peek), 64);
    const auto map = decode_tensor_map(bytes);
    if (!map) warp.fail(FaultKind::bounds, lane, fmt::format("no tensor map lies at {:#x}", at));
    const auto rank = std::uint32_t(op.immediate);
    if (map->rank != rank)
        warp.fail(FaultKind::bounds, lane,
                  fmt::format("a copy of {} dimensions with a map of {}", rank, map->rank));
    const auto shared = std::uint32_t(warp.address(op.source(0), lane) & ~kWindowMask);
    if (shared % kTileAlignment)
        warp.fail(FaultKind::alignment, lane,
                  fmt::format("a tile at shared address {:#x}, no multiple of 128", shared));
    std::array<std::int64_t, 5> coordinates{};
    for (std::uint32_t d = 0; d < rank; ++d)
        coordinates[d] = warp.lanes<std::int32_t>(op.source(int(2 + d)))[lane];
    return pieces_of(*map, coordinates, shared);
}

void load_tile(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint64_t barrier = warp.address(op.source(op.sources - 1), lane);
        start_load(warp, lane, tile(warp, op, lane), std::uint32_t(barrier & ~kWindowMask));
    });
}

void store_tile(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) { start_store(warp, lane, tile(warp, op, lane)); });
}

/// Sources: the shared address, the global one, the bytes, and for loads the mbarrier.
Piece range(Warp& warp, const Op& op, int lane) {
    const Piece piece{std::uint32_t(warp.address(op.source(0), lane) & ~kWindowMask),
                      warp.address(op.source(1), lane),
                      warp.lanes<std::uint32_t>(op.source(2))[lane]};
    if (piece.shared % kChunk || piece.global % kChunk || piece.bytes % kChunk)
        warp.fail(FaultKind::alignment, lane,
                  fmt::format("a bulk copy of {} bytes between {:#x} and shared address {:#x}: all "
                              "must be multiples of 16",
                              piece.bytes, piece.global, piece.shared));
    return piece;
}

void load_range(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint64_t barrier = warp.address(op.source(3), lane);
        start_load(warp, lane, {range(warp, op, lane)}, std::uint32_t(barrier & ~kWindowMask));
    });
}

void store_range(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) { start_store(warp, lane, {range(warp, op, lane)}); });
}

void commit_stores(Warp& warp, const Op&, Mask mask) {
    for_lanes(mask, [&](int lane) { ++warp.store_groups[std::size_t(lane)]; });
}

/// `extra`: only until shared memory was read.
void wait_for_stores(Warp& warp, const Op& op, Mask mask) {
    std::vector<BulkStore> kept;
    for (BulkStore& store : warp.stores) {
        const std::uint32_t groups = warp.store_groups[std::size_t(store.lane)];
        const bool waited =
            (mask >> store.lane & 1) && store.group + std::uint64_t(op.immediate) < groups;
        if (waited && !store.read) finish_read(warp, store);
        if (waited && !op.extra) write_global(warp, store);
        else kept.push_back(std::move(store));
    }
    warp.stores = std::move(kept);
}

void decode_tile(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    std::int64_t rank = 0;
    for (const char* name : {"1d", "2d", "3d", "4d", "5d"}) {
        ++rank;
        if (modifiers.take(name)) break;
        if (rank == 5) decoder.fail("a tile without its number of dimensions");
    }
    modifiers.take("tile");
    const bool loads = modifiers.take("mbarrier::complete_tx::bytes");
    if (!loads && !modifiers.take("bulk_group")) decoder.fail("a bulk copy without its completion");
    modifiers.space();
    modifiers.space();
    modifiers.take("L2::cache_hint");
    if (at.size() < (loads ? 3 : 2)) decoder.require(instruction, loads ? 3 : 2);
    const Operand& map = at[loads ? 1 : 0];
    if (map.kind != Operand::Kind::address || map.parts.size() != std::size_t(rank) + 1)
        decoder.fail("a tensor map with as many coordinates as dimensions is missing");
    const Space space = decoder.address(map).space;
    std::vector<Slot> sources = {decoder.whole_address(at[loads ? 0 : 1]),
                                 decoder.whole_address(map)};
    for (std::size_t i = 1; i < map.parts.size(); ++i)
        sources.push_back(decoder.source(map.parts[i], Type::s32));
    if (loads) sources.push_back(decoder.whole_address(at[2]));
    Op& op = decoder.emit(instruction, loads ? load_tile : store_tile, {}, sources);
    op.immediate = rank;
    op.extra = std::int64_t(space);
}

void decode_range(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const bool loads = modifiers.take("mbarrier::complete_tx::bytes");
    if (!loads && !modifiers.take("bulk_group")) decoder.fail("a bulk copy without its completion");
    modifiers.space();
    modifiers.space();
    const bool hinted = modifiers.take("L2::cache_hint");
    decoder.require(instruction, (loads ? 4 : 3) + (hinted ? 1 : 0));
    std::vector<Slot> sources = {decoder.whole_address(at[loads ? 0 : 1]),
                                 decoder.whole_address(at[loads ? 1 : 0]),
                                 decoder.source(at[2], Type::u32)};
    if (loads) sources.push_back(decoder.whole_address(at[3]));
    decoder.emit(instruction, loads ? load_range : store_range, {}, sources);
}

}  // namespace

void decode_bulk(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    if (modifiers.take("commit_group")) {
        decoder.emit(instruction, commit_stores, {}, {});
    } else if (modifiers.take("wait_group")) {
        decoder.require(instruction, 1);
        Op& op = decoder.emit(instruction, wait_for_stores, {}, {});
        op.immediate = decoder.integer(instruction.operands[0]);
        op.extra = modifiers.take("read");
    } else if (modifiers.take("prefetch")) {
        decoder.fail("bulk prefetches are not interpreted");
    } else if (modifiers.take("tensor")) {
        decode_tile(decoder, instruction, modifiers);
    } else {
        decode_range(decoder, instruction, modifiers);
    }
}

void land(Block& block, const Landing& landing) {
    const auto found = block.mbarriers.find(landing.barrier);
    if (landing.kind == Landing::Kind::copies_done) {
        Warp& warp = *landing.warp;
        const Mask lane = Mask(1) << landing.lane;
        finish_copies(warp, lane, std::nullopt);
        if (found != block.mbarriers.end())
            arrive(warp, landing.lane, found->second, 1, warp.agent.publish(lane));
        return;
    }
    write_shared(block, landing);
    if (found == block.mbarriers.end()) return;
    for (const Piece& piece : landing.pieces) found->second.bytes -= piece.bytes;
    join(found->second.arriving, block.copy_engine.publish(kAllLanes));
    settle(block, found->second);
    block.progress();
}

void finish_stores(Warp& warp) {
    for (BulkStore& store : warp.stores) {
        if (!store.read)
            warp.fail(FaultKind::race, store.lane,
                      "the kernel ends while a bulk store still reads its shared memory");
        write_global(warp, store);
    }
    warp.stores.clear();
}

}  // namespace fovea::ptx
