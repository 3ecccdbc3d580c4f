// Where threads run: bound where the machine is theirs, free again where it is shared.
#include "runtime/threads.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/parallel/cores.h"
#include "runtime/parallel/lost_team.h"
#include "runtime/parallel/region.h"
#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

namespace {

int processors_of_this_thread() {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

/// For each thread of a region, in order.
std::vector<int> processors_of_threads(int threads) {
    std::vector<int> counts(std::size_t(threads), 0);
    Team team;
    run_region(team,
               [&] { counts[std::size_t(Team::part().index)] = processors_of_this_thread(); });
    return counts;
}

int times_found(const std::vector<int>& values, int value) {
    return int(std::count(values.begin(), values.end(), value));
}

/// One thread after the other comes late, so that each has to wait beside others' programs.
void wait_for_late_ones(int threads) {
    Team team;
    run_region(team, [&] {
        for (int late = 0; late < threads; ++late) {
            if (Team::part().index == late)
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
            note_shared_cores();
            team.wait();
        }
    });
}

}  // namespace

TEST_CASE("threads: another number of them runs on all cores, whatever they were bound to") {
    const int before = thread_count(), all = int(cores().allowed.size());
    set_threads(processor_count());
    set_threads(processor_count() + 1);
    CHECK(times_found(processors_of_threads(processor_count() + 1), all) == processor_count() + 1);
    set_threads(before);
}

TEST_CASE("threads: binding ends where the cores are shared") {
    const int before = thread_count(), count = processor_count();
    const int all = int(cores().allowed.size());
    set_threads(count);
    const bool binds = count > 1 && cores().whole_machine() && !std::getenv("OMP_PROC_BIND");
    CHECK(times_found(processors_of_threads(count), binds ? 1 : all) == count);
    note_shared_cores();
    CHECK(cores_are_shared());
    // Where the machine is busy, a thread may find the note too old when it looks.
    bool ended = count == 1;
    for (int tries = 0; tries < 20 && !ended; ++tries) {
        wait_for_late_ones(count);
        ended = times_found(processors_of_threads(count), all) == count;
    }
    CHECK(ended);
    set_threads(before);
}

TEST_CASE("threads: a shared core is forgotten after a while") {
    note_shared_cores();
    CHECK(cores_are_shared());
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    CHECK(!cores_are_shared());
}

TEST_CASE("threads: as many as find a free core") {
    CHECK(threads_beside(2, 2, 0) == 2);
    CHECK(threads_beside(2, 2, 1) == 1);
    CHECK(threads_beside(2, 2, 9) == 1);
    CHECK(threads_beside(16, 16, 1) == 15);
    CHECK(threads_beside(4, 16, 3) == 4);
    CHECK(running_others(1 << 20) == 0);
}

TEST_CASE("threads: in the child of a fork regions are the thread that forked, alone") {
    const int before = thread_count();
    set_threads(2);
    CHECK(processors_of_threads(2).size() == 2);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // OpenMP would wait for the parent's threads
        int calls = 0;
        Team team;
        run_region(team, [&] { calls += Team::part().count; });
        set_threads(2);
        run_region(team, [&] { calls += Team::part().count; });
        std::vector<float> drawn(1000), again(1000);
        RandomStream(3, 1).fill_uniform(drawn, 1);
        RandomStream(3, 1).fill_uniform(again, 1);
        const bool is_alone =
            drawn == again && calls == 2 && thread_count() == 1 && region_is_alone();
        std::thread other([&] { run_region(team, [&] { team.wait_for_all(); }); });
        other.join();
        _exit(is_alone && team_is_lost() ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(!team_is_lost());
    set_threads(before);
}
