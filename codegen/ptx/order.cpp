// Joins of clocks.
#include "codegen/ptx/order.h"

#include <algorithm>

namespace fovea::ptx {

void Reached::join(const Reached& other) {
    all = std::max(all, other.all);
    if (other.some > some) {
        // Lanes known only up to an earlier tick are taken along: no false alarms.
        lanes = some > all ? lanes | other.lanes : other.lanes;
        some = other.some;
    } else if (other.some > all) {
        lanes |= other.lanes;
    }
}

void join(Clock& clock, const Clock& other) {
    if (clock.empty()) clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) clock[i].join(other[i]);
}

void Agent::start(Tick tick, Mask live) {
    std::fill(known_.begin(), known_.end(), Reached{tick - 1, 0, 0});
    partly_.clear();
    partly_lanes_ = 0;
    now_ = synced_ = tick;
    live_ = live;
}

bool Agent::follows_lanes(int lane, int agent, Mask agent_lanes, Tick tick) const {
    if (agent == number_) return tick < synced_ || agent_lanes == Mask(1) << lane;
    for (Mask rest = agent_lanes; rest; rest &= rest - 1)
        if (!follows(lane, agent, std::countr_zero(rest), tick)) return false;
    return true;
}

Clock Agent::publish(Mask lanes) {
    Clock clock = known_;
    if (partly_lanes_ & lanes) join(clock, partly_);
    const bool everyone = (lanes & live_) == live_;
    clock[std::size_t(number_)] =
        everyone ? Reached{now_, 0, 0} : Reached{synced_ - 1, now_, lanes};
    ++now_;
    return clock;
}

void Agent::learn(Mask lanes, const Clock& clock) {
    if (clock.empty()) return;
    if ((lanes & live_) == live_) return join(known_, clock);
    join(partly_, clock);
    partly_lanes_ |= lanes;
}

void Agent::synchronise() {
    if (partly_lanes_) join(known_, partly_);
    partly_.clear();
    partly_lanes_ = 0;
    synced_ = ++now_;
}

}  // namespace fovea::ptx
