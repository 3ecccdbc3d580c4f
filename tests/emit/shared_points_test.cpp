// Loops whose points threads share: each has its own, or takes the next ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "runtime/cpu/threads.h"
#include "runtime/parallel/region.h"
#include "runtime/threads.h"

using namespace fovea::runtime;
using fovea::cpu::my_points;
using fovea::cpu::taken_points;

TEST_CASE("each point of a loop is taken once, whoever is ahead") {
    for (const int threads : {1, 2, 3, 7}) {
        const int before = thread_count();
        set_threads(threads);
        constexpr std::int64_t kLoops = 40, kPoints = 101;
        std::vector<std::atomic<int>> taken(kLoops * kPoints);
        Team team;
        run_region(team, [&] {
            // No thread waits for another between loops.
            for (std::int64_t loop = 0; loop < kLoops; ++loop) {
                const std::int64_t count = loop % 5 == 3 ? 0 : kPoints;
                for (const auto point : taken_points(1 + loop % 7, count))
                    ++taken[std::size_t(loop * kPoints + point)];
            }
        });
        set_threads(before);
        int wrong = 0;
        for (std::int64_t i = 0; i < kLoops * kPoints; ++i)
            wrong += taken[std::size_t(i)] != (i / kPoints % 5 == 3 ? 0 : 1);
        CHECK(wrong == 0);
    }
}

TEST_CASE("threads share nested loops, each point once and in order") {
    for (const int threads : {1, 2, 3, 7}) {
        const int before = thread_count();
        set_threads(threads);
        const std::int64_t rows = 3, columns = 5, depth = 4;
        std::vector<std::atomic<int>> met(std::size_t(rows * columns * depth));
        std::atomic<int> unordered = 0, none = 0;
        Team team;
        run_region(team, [&] {
            std::int64_t last = -1;
            const auto meet = [&](const auto& at) {
                const std::int64_t point = (at[0] * columns + at[1]) * depth + at[2];
                unordered += point <= last;
                last = point;
                ++met[std::size_t(point)];
            };
            for (const auto at : my_points(rows, columns, depth)) meet(at);
            last = -1;
            for (const auto at : taken_points(7, rows, columns, depth)) meet(at);
            for (const auto at : my_points(rows, 0, depth)) none += 1 + int(at[0]);
        });
        set_threads(before);
        CHECK(std::all_of(met.begin(), met.end(), [](const auto& times) { return times == 2; }));
        CHECK(unordered == 0);
        CHECK(none == 0);
    }
}
