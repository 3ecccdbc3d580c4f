// The barrier, with as many threads as processors, and with more.
#include "runtime/parallel/team.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/parallel/region.h"
#include "runtime/threads.h"

using namespace fovea::runtime;

TEST_CASE("team: nobody passes a barrier before all have come to it") {
    for (const int threads : {1, 2, 3, 7}) {
        const int before = thread_count();
        set_threads(threads);
        Team team;
        std::vector<int> rounds(std::size_t(threads), 0);
        int behind = 0;
        run_region(team, [&] {
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
        });
        set_threads(before);
        CHECK(behind == 0);
    }
}

TEST_CASE("team: regions end, short ones and long ones, in any order") {
    using namespace std::chrono_literals;
    for (const int threads : {1, 2, 3, 7}) {
        const int before = thread_count();
        set_threads(threads);
        std::atomic<int> ended = 0;
        for (int region = 0; region < 60; ++region) {
            Team team;
            run_region(team, [&] {
                team.wait();
                if (region % 7 == 3 && Team::part().index == region % threads)
                    std::this_thread::sleep_for(300us);
                ++ended;
                team.end();
            });
        }
        set_threads(before);
        CHECK(ended == 60 * threads);
    }
}

TEST_CASE("team: a thread that holds up a short region's end shares its core") {
    using namespace std::chrono_literals;
    if (processor_count() < 2) return;
    const int before = thread_count();
    set_threads(2);
    // On a busy machine the regions before the late one may not be short themselves.
    for (int attempt = 0; attempt < 50 && !cores_are_shared(); ++attempt)
        for (const bool late : {false, false, true}) {
            Team team;
            run_region(team, [&] {
                if (late && Team::part().index == 1) std::this_thread::sleep_for(20ms);
                team.end();
            });
        }
    set_threads(before);
    CHECK(cores_are_shared());
}
