// Tensors of which each thread has its own, and the steps that fill them.
#include "runtime/cpu/replicas.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "runtime/parallel/region.h"
#include "runtime/threads.h"

using namespace fovea::runtime;
using fovea::cpu::Replicas;

namespace {

/// How many threads had memory of their own for the first tensor, and how many ran the step alone.
struct Found {
    int own = 0, alone = 0;
};

Found found_with(int threads, std::int64_t numbers, const Call& call) {
    const int before = thread_count();
    set_threads(threads);
    std::atomic<int> own = 0, alone = 0, wrong = 0;
    Team team;
    run_region(team, [&] {
        const Replicas<100, 3> replicas(call, numbers);
        float* const first = replicas.tensor<float>(call, 0, 0);
        float* const last = replicas.tensor<float>(call, 1, 2);
        own += first != call.tensors[0];
        const int index = Team::part().index;
        {
            const auto one = replicas.alone();
            alone += Team::part().count == 1;
            if (first == call.tensors[0]) return;
            for (int i = 0; i < 100; ++i) first[i] = float(index), last[i] = float(index + 1);
        }
        wrong += Team::part().count != threads;
        team.wait();
        for (int i = 0; i < 100; ++i)
            wrong += first[i] != float(index) || last[i] != float(index + 1);
        replicas.wait(team);  // waits for nobody
    });
    set_threads(before);
    CHECK(wrong == 0);
    return {own, alone};
}

}  // namespace

TEST_CASE("each thread has its own of small tensors, and fills them alone") {
    std::vector<float> shared(200);
    void* const tensors[] = {shared.data(), shared.data() + 100};
    Call call;
    call.tensors = tensors;
    for (const int threads : {2, 3, 7}) {
        const Found small = found_with(threads, 100, call);
        CHECK(small.own == threads);
        CHECK(small.alone == threads);
        CHECK(found_with(threads, 101, call).own == 0);
    }
    CHECK(found_with(1, 100, call).own == 0);
}

TEST_CASE("who observes values sees those that all threads have") {
    std::vector<float> shared(200);
    void* const tensors[] = {shared.data(), shared.data() + 100};
    Call call;
    call.tensors = tensors;
    call.observe = [](void*, int) {};
    CHECK(found_with(3, 100, call).own == 0);
    call.observe_time = true;
    CHECK(found_with(3, 100, call).own == 3);
}
