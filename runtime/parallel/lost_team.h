// Threads that a fork leaves behind.
#pragma once

namespace fovea::runtime {

/// Notes that this thread begins a region of several threads, which OpenMP keeps for its next one.
void note_team();

/// Whether this thread had such a team before a fork that made this process: a child has none of
/// its parent's threads, and g++'s OpenMP would wait for them without end. Regions that this thread
/// begins are this thread alone. Other threads, begun since, have teams of their own.
bool team_is_lost();

}  // namespace fovea::runtime
