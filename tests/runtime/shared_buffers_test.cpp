// What instances over the same parameters prepare for each other.
#include "runtime/memory/shared_buffers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/instance.h"
#include "runtime/parallel/team.h"
#include "tests/runtime/shared_model.h"

using namespace fovea::runtime;
using fovea::test::fill_count;
using fovea::test::kSharedWidth;
using fovea::test::shared_model;

namespace {

void set_all(Parameters& parameters, std::size_t i, float value) {
    std::ranges::fill(parameters.values(i), value);
    parameters.mark_changed();
}

float y_of(Instance& instance) {
    instance.bind({{"batch", 2}});
    instance.run();
    return instance.output_values("y")[1];
}

}  // namespace

TEST_CASE("a shared buffer is filled once for all instances, and anew where parameters change") {
    Parameters parameters(shared_model(), {});
    set_all(parameters, 0, 1);
    set_all(parameters, 1, 1);
    Instance first(shared_model(), "first", parameters);
    Instance second(shared_model(), "second", parameters);
    Instance third(shared_model(), "third", parameters);
    const int before = fill_count();
    CHECK(y_of(first) == 2 * kSharedWidth);
    CHECK(y_of(second) == 2 * kSharedWidth);
    CHECK(y_of(first) == 2 * kSharedWidth);
    CHECK(fill_count() == before + 1);
    CHECK(y_of(third) == 3 * kSharedWidth);
    CHECK(fill_count() == before + 2);
    CHECK(first.tensor(3) == second.tensor(3));
    CHECK(first.tensor(3) != third.tensor(3));
    CHECK(first.prepared_bytes() == 0);

    set_all(parameters, 0, 2);
    CHECK(y_of(second) == 4 * kSharedWidth);
    CHECK(y_of(first) == 4 * kSharedWidth);
    CHECK(fill_count() == before + 3);
    second.bind({{"batch", 3}});
    CHECK(y_of(second) == 4 * kSharedWidth);
    CHECK(fill_count() == before + 3);
}

TEST_CASE("an instance of another model over the same parameters has buffers of its own") {
    const Model other = shared_model();
    Parameters parameters(shared_model(), {});
    set_all(parameters, 0, 1);
    Instance own(shared_model(), "first", parameters), alien(other, "first", parameters);
    const int before = fill_count();
    CHECK(y_of(own) == 2 * kSharedWidth);
    CHECK(y_of(alien) == 2 * kSharedWidth);
    CHECK(fill_count() == before + 2);
    CHECK(own.tensor(3) != alien.tensor(3));
    CHECK(alien.prepared_bytes() == 4 * kSharedWidth);
}

TEST_CASE("of runs on several threads one fills, and the others wait for it") {
    for (int round = 0; round < 20; ++round) {
        Parameters parameters(shared_model(), {});
        set_all(parameters, 0, 1);
        const int before = fill_count();
        std::vector<float> sums(8);
        std::vector<std::thread> threads;
        for (float& sum : sums)
            threads.emplace_back([&] {
                Instance instance(shared_model(), "first", parameters);
                sum = y_of(instance);
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(fill_count() == before + 1);
        CHECK(std::ranges::count(sums, 2 * kSharedWidth) == 8);
    }
}

TEST_CASE("whoever has filled a buffer holds nobody up while its kernels run") {
    Parameters parameters(shared_model(), {});
    set_all(parameters, 0, 1);
    Instance first(shared_model(), "first", parameters);
    Instance third(shared_model(), "third", parameters);
    first.bind({{"batch", 2}});
    float sum = 0;
    // As a pool of threads has it, of which one runs another session.
    first.run_call({}, [&](const Call&) { std::thread([&] { sum = y_of(third); }).join(); });
    CHECK(sum == 0);
    set_all(parameters, 1, 1);
    CHECK(y_of(third) == 3 * kSharedWidth);
}

TEST_CASE("parameters are asked for before buffers are filled of them, and by no other run") {
    Parameters parameters(shared_model(), {});
    set_all(parameters, 0, 1);
    Instance first(shared_model(), "first", parameters);
    Instance third(shared_model(), "third", parameters);
    std::vector<int> calls;
    kSharedBuffers.set_source(
        *parameters.shared_buffers(),
        {[](void* state, int parameter, Team&) {
             static_cast<std::vector<int>*>(state)->push_back(parameter);
         },
         [](void* state) { static_cast<std::vector<int>*>(state)->push_back(-1); }, &calls});
    y_of(first);
    y_of(first);
    CHECK(calls == std::vector{0, -1});
    y_of(third);
    CHECK(calls == std::vector{0, -1, 1, -1});
}
