// The rules of races, cell by cell.
#include "codegen/ptx/shadow.h"

#include <algorithm>

namespace fovea::ptx {

std::string text_of(Conflict conflict) {
    switch (conflict) {
        case Conflict::none: return "no conflict";
        case Conflict::written:
            return "another thread wrote these bytes, and nothing orders the two";
        case Conflict::written_by_warp:
            return "another lane of the warp wrote these bytes, and no bar.warp.sync lies between";
        case Conflict::read: return "another thread reads these bytes, and nothing orders the two";
        case Conflict::written_by_block: return "another block writes these bytes";
        case Conflict::read_by_block:
            return "another block reads these bytes, which this one writes";
        case Conflict::copy_in_flight:
            return "an asynchronous copy to these bytes was not waited for";
        case Conflict::product_in_flight:
            return "an asynchronous instruction that reads these bytes was not waited for";
        case Conflict::not_fenced:
            return "these bytes were written without a fence.proxy.async before this instruction";
    }
    return "";
}

void Shadow::resize(std::uint64_t bytes) {
    words_.assign((bytes + 3) / 4, {});
    split_.resize(1);
}

void Shadow::start(Tick tick) {
    if (in_flight_ && !between_blocks_) resize(words_.size() * 4);
    in_flight_ = 0;
    block_ = tick;
    if (!between_blocks_) others_.resize(1);
}

/// Gives each byte of a word a cell of its own.
void Shadow::split(Cell& word) {
    std::array<Cell, 4> cells;
    cells.fill(word);
    for (Cell& cell : cells) {
        cell.others = 0;
        if (!word.others || word.read < block_) continue;
        cell.others = std::uint32_t(others_.size());
        others_.push_back(others_[word.others]);
    }
    word.split = std::uint32_t(split_.size());
    split_.push_back(cells);
}

/// Calls visit(cell) for the cells of the bytes, until one conflicts.
template <class F>
Conflict Shadow::each(std::uint64_t at, std::uint32_t bytes, F visit) {
    const std::uint64_t end = at + bytes;
    while (at < end) {
        Cell& word = words_[at / 4];
        const bool whole = at % 4 == 0 && end - at >= 4;
        if (whole && !word.split) {
            if (const Conflict conflict = visit(word); conflict != Conflict::none) return conflict;
            at += 4;
            continue;
        }
        if (!word.split) split(word);
        auto& cells = split_[word.split];
        for (const std::uint64_t stop = std::min(end, at / 4 * 4 + 4); at < stop; ++at)
            if (const Conflict conflict = visit(cells[at % 4]); conflict != Conflict::none)
                return conflict;
    }
    return Conflict::none;
}

/// Whether a write by another agent has happened before an access.
Conflict Shadow::check_after(Tick tick, int by, int by_lane, const Agent& agent, int lane) const {
    if (tick < block_) return between_blocks_ && tick ? Conflict::written_by_block : Conflict::none;
    if (agent.follows(lane, by, by_lane, tick)) return Conflict::none;
    return by == agent.number() ? Conflict::written_by_warp : Conflict::written;
}

Conflict Shadow::check_read(Cell& cell, const Agent& agent, int lane, bool atomic) const {
    if (cell.write_in_flight) return Conflict::copy_in_flight;
    const Conflict conflict = check_after(cell.wrote, cell.writer, cell.writer_lane, agent, lane);
    if (conflict != Conflict::none || atomic) return conflict;
    return check_after(cell.updated, cell.updater, cell.updater_lane, agent, lane);
}

Conflict Shadow::check_write(Cell& cell, const Agent& agent, int lane, bool atomic) const {
    if (cell.reads_in_flight) return Conflict::product_in_flight;
    if (const Conflict conflict = check_read(cell, agent, lane, atomic); conflict != Conflict::none)
        return conflict;
    if (between_blocks_ && cell.read_elsewhere) return Conflict::read_by_block;
    if (cell.read < block_)
        return between_blocks_ && cell.read ? Conflict::read_by_block : Conflict::none;
    if (!agent.follows_lanes(lane, cell.reader, cell.read_lanes, cell.read)) return Conflict::read;
    for (const Reader& reader : others_[cell.others])
        if (reader.tick >= block_ &&
            !agent.follows_lanes(lane, reader.agent, reader.lanes, reader.tick))
            return Conflict::read;
    return Conflict::none;
}

void Shadow::set_written(Cell& cell, const Agent& agent, int lane, bool atomic) const {
    if (atomic) {
        cell.updated = agent.now();
        cell.updater = std::uint8_t(agent.number());
        cell.updater_lane = std::uint8_t(lane);
        return;
    }
    cell.updated = 0;
    cell.wrote = agent.now();
    cell.writer = std::uint8_t(agent.number());
    cell.writer_lane = std::uint8_t(lane);
    cell.read = 0;
    cell.others = 0;
}

void Shadow::add_reader(Cell& cell, const Agent& agent, int lane) {
    const auto number = std::uint8_t(agent.number());
    const Mask bit = Mask(1) << lane;
    if (cell.read && cell.read < block_) {
        cell.read_elsewhere = cell.read;
        cell.read = 0;
        cell.others = 0;
    }
    const bool replaces =
        !cell.read || agent.follows_lanes(lane, cell.reader, cell.read_lanes, cell.read);
    if (replaces && !cell.others) {
        cell.read_lanes = bit;
    } else if (cell.reader == number) {
        cell.read_lanes |= bit;
    } else {
        if (!cell.others) {
            cell.others = std::uint32_t(others_.size());
            others_.emplace_back();
        }
        for (Reader& reader : others_[cell.others]) {
            if (reader.agent != number) continue;
            reader.lanes |= bit;
            reader.tick = agent.now();
            return;
        }
        others_[cell.others].push_back({agent.now(), bit, number});
        return;
    }
    cell.read = agent.now();
    cell.reader = number;
}

Conflict Shadow::read(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes) {
    return each(at, bytes, [&](Cell& cell) {
        const Conflict conflict = check_read(cell, agent, lane);
        if (conflict == Conflict::none) add_reader(cell, agent, lane);
        return conflict;
    });
}

Conflict Shadow::write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes,
                       bool atomic) {
    return each(at, bytes, [&](Cell& cell) {
        const Conflict conflict = check_write(cell, agent, lane, atomic);
        if (conflict == Conflict::none) set_written(cell, agent, lane, atomic);
        return conflict;
    });
}

void Shadow::overwrite(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes) {
    each(at, bytes, [&](Cell& cell) {
        set_written(cell, agent, lane, false);
        return Conflict::none;
    });
}

Conflict Shadow::begin_write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes) {
    ++in_flight_;
    return each(at, bytes, [&](Cell& cell) {
        const Conflict conflict = check_write(cell, agent, lane, false);
        if (conflict == Conflict::none) cell.write_in_flight = true;
        return conflict;
    });
}

void Shadow::end_write(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes) {
    --in_flight_;
    each(at, bytes, [&](Cell& cell) {
        cell.write_in_flight = false;
        set_written(cell, agent, lane, false);
        return Conflict::none;
    });
}

Conflict Shadow::begin_read(const Agent& agent, int lane, std::uint64_t at, std::uint32_t bytes,
                            const ProxyFences& fences) {
    ++in_flight_;
    return each(at, bytes, [&](Cell& cell) {
        Conflict conflict = check_read(cell, agent, lane);
        const std::size_t writer = cell.writer;
        const bool by_thread = cell.wrote >= block_ && writer < fences.writers.size();
        if (conflict == Conflict::none && by_thread && cell.wrote > fences.writers[writer] &&
            !(writer < fences.reader.size() &&
              fences.reader[writer].covers(cell.writer_lane, cell.wrote)))
            conflict = Conflict::not_fenced;
        if (conflict == Conflict::none) ++cell.reads_in_flight;
        return conflict;
    });
}

void Shadow::end_read(const Agent& reader, int lane, std::uint64_t at, std::uint32_t bytes) {
    --in_flight_;
    each(at, bytes, [&](Cell& cell) {
        --cell.reads_in_flight;
        add_reader(cell, reader, lane);
        return Conflict::none;
    });
}

}  // namespace fovea::ptx
