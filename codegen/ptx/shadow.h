// Who touched each byte of a memory last, and whether two accesses race.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/ptx/order.h"

namespace fovea::ptx {

/// An access that nothing orders with an earlier one.
enum class Conflict : std::uint8_t {
    none,
    written,            // by another thread
    written_by_warp,    // by another lane of the same warp
    read,               // by another thread, now written
    written_by_block,   // by another block
    read_by_block,      // by another block, now written
    copy_in_flight,     // an asynchronous copy writes it until its wait
    product_in_flight,  // an asynchronous product or copy reads it until its wait
    not_fenced,         // written without a fence.proxy.async before an asynchronous read
};

/// What asynchronous reads may see of what threads wrote.
struct ProxyFences {
    const std::vector<Tick>& writers;  // by warp: its last fence
    const Clock& reader;               // what the reader knew at its own
};

std::string text_of(Conflict conflict);

/// The shadow of a shared memory or of a buffer. One cell describes a word of 4 bytes, as long as
/// these are touched together, or else a byte.
class Shadow {
  public:
    /// `between_blocks`: accesses from earlier blocks count (global memory), or have all happened.
    explicit Shadow(bool between_blocks) : between_blocks_(between_blocks) {}

    void resize(std::uint64_t bytes);

    /// A block starts: what carries an earlier tick is from another block.
    void start(Tick tick);

    Conflict read(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes);
    Conflict write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes,
                   bool atomic = false);
    /// Writes without looking: for bytes that did not change.
    void overwrite(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes);

    /// An asynchronous write begins and ends, then as the agent's own.
    Conflict begin_write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes);
    void end_write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes);
    /// The same for asynchronous reads. `reader` is who has read once they end.
    Conflict begin_read(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes,
                        const ProxyFences& fences);
    void end_read(const Agent& reader, int lane, std::uint64_t at, std::uint32_t bytes);

  private:
    struct Cell {
        Tick wrote = 0, read = 0, read_elsewhere = 0;
        Mask read_lanes = 0;
        std::uint32_t others = 0;  // among others_, 0: none
        std::uint8_t writer = 0, writer_lane = 0, reader = 0;
        Tick updated = 0;  // the last atomic after the last write
        std::uint8_t updater = 0, updater_lane = 0;
        std::uint8_t reads_in_flight = 0;
        bool write_in_flight = false;
        std::uint32_t split = 0;  // among split_, 0: the cell stands for the whole word
    };
    struct Reader {
        Tick tick;
        Mask lanes;
        std::uint8_t agent;
    };

    void split(Cell& word);
    template <class F>
    Conflict each(std::uint64_t at, std::uint32_t bytes, F visit);
    Conflict check_after(Tick tick, int by, int by_lane, const Agent& agent, int lane) const;
    Conflict check_read(Cell& cell, const Agent& agent, int lane, bool atomic = false) const;
    Conflict check_write(Cell& cell, const Agent& agent, int lane, bool atomic) const;
    void set_written(Cell& cell, const Agent& agent, int lane, bool atomic) const;
    void add_reader(Cell& cell, const Agent& agent, int lane);

    bool between_blocks_;
    Tick block_ = 1;
    std::vector<Cell> words_;
    std::vector<std::array<Cell, 4>> split_{1};  // words whose bytes have cells of their own
    std::vector<std::vector<Reader>> others_{1};  // readers that no clock orders
    std::uint32_t in_flight_ = 0;
};

}  // namespace fovea::ptx
