// Regions on a caller's threads, whichever of them come.
#include "runtime/parallel/callers_threads.h"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "runtime/threads.h"

using namespace fovea::runtime;

namespace {

/// A thread for each task, the last `late` of them long after the others.
ParallelFor threads_of_which_come_late(int late) {
    return [late](int count, const std::function<void(int)>& task) {
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&, i] {
                if (i >= count - late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
                task(i);
            });
        for (std::thread& thread : threads) thread.join();
    };
}

void one_after_the_other(int count, const std::function<void(int)>& task) {
    for (int i = 0; i < count; ++i) task(i);
}

struct Found {
    std::atomic<int> threads = 0, count = 0, indices = 0, rounds = 0;
};

/// A region that all threads of the team go through, with barriers.
void run_on(CallersThreads& threads, Found& found) {
    Team team;
    const ThreadsOfRegions regions(0, &threads);
    run_region(team, [&] {
        const Part part = Team::part();
        ++found.threads;
        found.count = part.count;
        found.indices |= 1 << part.index;
        for (int round = 1; round <= 50; ++round) {
            team.wait();
            ++found.rounds;
            team.wait();
            if (found.rounds != round * part.count) found.indices = -1;
        }
    });
}

std::string complaint_about(int count, ParallelFor parallel_for) {
    try {
        CallersThreads threads(count, std::move(parallel_for));
        Found found;
        run_on(threads, found);
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("callers_threads: the team is who comes in time") {
    for (const int count : {1, 2, 5})
        for (int late = 0; late < count; ++late) {
            CAPTURE(count);
            CAPTURE(late);
            CallersThreads threads(count, threads_of_which_come_late(late));
            Found found;
            run_on(threads, found);
            const int came = found.count;
            CHECK(found.threads == came);
            CHECK(found.indices == (1 << came) - 1);
            CHECK(came >= 1);
            CHECK(came <= count - late);
        }
}

TEST_CASE("callers_threads: tasks that run one after the other are a team of one") {
    CallersThreads threads(4, one_after_the_other);
    for (int call = 0; call < 20; ++call) {
        Found found;
        run_on(threads, found);
        CHECK(found.threads == 1);
        CHECK(found.count == 1);
    }
}

TEST_CASE("callers_threads: without them, regions are OpenMP's again") {
    CallersThreads threads(3, one_after_the_other);
    CHECK(region_threads() == nullptr);
    {
        const ThreadsOfRegions regions(0, &threads);
        CHECK(region_threads() == &threads);
        std::thread([] { CHECK(region_threads() == nullptr); }).join();
    }
    CHECK(region_threads() == nullptr);
}

TEST_CASE("callers_threads: a session within a region has its own choice") {
    CallersThreads threads(3, one_after_the_other);
    const ThreadsOfRegions regions(0, &threads);
    {
        const ThreadsOfRegions alone(1, nullptr);
        CHECK(region_threads() == nullptr);
        const ThreadsBesideOthers beside;
        CHECK(region_threads() == nullptr);
    }
    const ThreadsBesideOthers beside;
    CHECK(region_threads() == &threads);
}

TEST_CASE("callers_threads: what cannot run is said") {
    CHECK(complaint_about(0, one_after_the_other) ==
          "the number of threads should be from 1 to 1024, but is 0");
    CHECK(complaint_about(2, nullptr) == "parallel_for is no function");
    CHECK(complaint_about(2, [](int, const std::function<void(int)>&) {}) ==
          "parallel_for returned, but has called no task");
    CallersThreads threads(
        2, [](int, const std::function<void(int)>&) { throw std::runtime_error("busy"); });
    Found found;
    CHECK_THROWS_WITH_AS(run_on(threads, found), "busy", std::runtime_error);
}
