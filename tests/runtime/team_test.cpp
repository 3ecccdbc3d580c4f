// The barrier, with as many threads as processors, and with more.
#include "runtime/team.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/threads.h"

using namespace fovea::runtime;

TEST_CASE("team: nobody passes a barrier before all have come to it") {
    for (const int threads : {1, 2, 3, 7}) {
        const int before = thread_count();
        set_threads(threads);
        Team team;
        std::vector<int> rounds(std::size_t(threads), 0);
        int behind = 0;
#pragma omp parallel
        {
            const Part part = Team::part();
            for (int round = 1; round <= 200; ++round) {
                rounds[std::size_t(part.index)] = round;
                team.wait();
                for (const int other : rounds) {
                    if (other >= round) continue;
#pragma omp atomic
                    ++behind;
                }
                team.wait();
            }
        }
        set_threads(before);
        CHECK(behind == 0);
    }
}
