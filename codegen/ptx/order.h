// What is known to have happened before what, while a block runs: vector clocks, one entry an
// agent. Agents are the warps, the engine of bulk copies, and the tensor cores of each warpgroup.
// Lanes are told apart: what one lane learns or publishes, the others of its warp share only after
// they synchronise. (M. Flanagan, S. Freund: FastTrack, PLDI 2009, with lanes added.)
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/ptx/program.h"

namespace fovea::ptx {

using Tick = std::uint32_t;

/// The lane that stands for all of an agent that has none.
constexpr int kNoLane = 0;

/// Up to where an agent's past is known: for all lanes, and further for some.
struct Reached {
    Tick all = 0, some = 0;
    Mask lanes = 0;

    bool covers(int lane, Tick tick) const {
        return tick <= all || (tick <= some && (lanes >> lane & 1));
    }
    void join(const Reached& other);
};

using Clock = std::vector<Reached>;

void join(Clock& clock, const Clock& other);

/// One agent's side of it.
class Agent {
  public:
    Agent(int number, int agents) : number_(number), known_(std::size_t(agents)) {}

    /// A new block: everything before `tick` has happened.
    void start(Tick tick, Mask live);

    int number() const { return number_; }
    Tick now() const { return now_; }

    /// Whether an earlier event of the block is known to `lane` to have happened.
    bool follows(int lane, int agent, int agent_lane, Tick tick) const {
        if (agent == number_) return lane == agent_lane || tick < synced_;
        return known_[std::size_t(agent)].covers(agent_lane, tick) ||
               ((partly_lanes_ >> lane & 1) &&
                partly_[std::size_t(agent)].covers(agent_lane, tick));
    }
    bool follows_lanes(int lane, int agent, Mask agent_lanes, Tick tick) const;

    /// What some lanes know and have done, for others to learn.
    Clock publish(Mask lanes);
    void learn(Mask lanes, const Clock& clock);

    /// The lanes of the warp synchronise among themselves.
    void synchronise();

    void exit(Mask lanes) { live_ &= ~lanes; }

  private:
    int number_;
    Tick now_ = 1, synced_ = 1;
    Mask live_ = kAllLanes, partly_lanes_ = 0;
    Clock known_, partly_;
};

}  // namespace fovea::ptx
