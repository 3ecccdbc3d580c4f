// Plans never overlap live buffers, stay close to the lower bound and are deterministic.
#include "runtime/memory/plan_workspace.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/error.h"
#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

namespace {

void verify_plan(std::vector<BufferLife> buffers, WorkspacePlan plan,
                 const std::vector<FixedBuffer>& fixed = {}) {
    REQUIRE(plan.offsets.size() == buffers.size());
    for (const FixedBuffer& placed : fixed) {
        buffers.push_back(placed.life);
        plan.offsets.push_back(placed.offset);
    }
    CHECK(plan.peak_bytes >= largest_live_bytes(buffers));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        CHECK(plan.offsets[i] % 64 == 0);
        CHECK(plan.offsets[i] + buffers[i].bytes <= plan.peak_bytes);
        if (buffers[i].over >= 0)
            CHECK(plan.offsets[i] == plan.offsets[std::size_t(buffers[i].over)]);
        for (std::size_t j = 0; j < i; ++j) {
            if (buffers[i].over == int(j)) continue;
            const bool together =
                buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
            const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                               plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
            CHECK((!together || apart));
        }
    }
}

}  // namespace

TEST_CASE("plan_workspace: buffers in turn share one place") {
    const std::vector<BufferLife> buffers = {{100, 0, 0}, {100, 1, 1}, {128, 2, 2}};
    const WorkspacePlan plan = plan_workspace(buffers);
    CHECK(plan.offsets == std::vector<std::size_t>{0, 0, 0});
    CHECK(plan.peak_bytes == 128);
    CHECK(largest_live_bytes(buffers) == 128);
}

TEST_CASE("plan_workspace: ends are inclusive") {
    const std::vector<BufferLife> buffers = {{64, 0, 1}, {64, 1, 2}};
    const WorkspacePlan plan = plan_workspace(buffers);
    CHECK(plan.peak_bytes == 128);
    CHECK(largest_live_bytes(buffers) == 128);
}

TEST_CASE("plan_workspace: the smallest gap that fits is taken") {
    // In step 5 the first, third and fifth are live: gaps of 256 and 128 lie between them.
    const std::vector<BufferLife> buffers = {{1024, 0, 9}, {256, 0, 4}, {512, 0, 9},
                                             {128, 0, 4},  {320, 0, 9}, {128, 5, 9}};
    const WorkspacePlan plan = plan_workspace(buffers);
    verify_plan(buffers, plan);
    CHECK(plan.peak_bytes == largest_live_bytes(buffers));
}

TEST_CASE("plan_workspace: nothing, and buffers of no bytes") {
    CHECK(plan_workspace({}).peak_bytes == 0);
    const std::vector<BufferLife> buffers = {{0, 0, 3}, {10, 1, 2}, {0, 1, 1}};
    const WorkspacePlan plan = plan_workspace(buffers);
    verify_plan(buffers, plan);
    CHECK(plan.peak_bytes == 64);
}

TEST_CASE("plan_workspace: random lifetimes") {
    for (std::uint32_t trial = 0; trial < 50; ++trial) {
        const RandomStream random(7, trial);
        std::vector<BufferLife> buffers;
        for (std::uint64_t i = 0; i < 60; ++i) {
            const int first = static_cast<int>(random.below(3 * i, 40));
            const int length = static_cast<int>(random.below(3 * i + 1, 8));
            buffers.push_back({random.below(3 * i + 2, 5000), first, first + length});
        }
        const WorkspacePlan plan = plan_workspace(buffers);
        verify_plan(buffers, plan);
        CHECK(plan.peak_bytes <= largest_live_bytes(buffers) * 3 / 2);
        CHECK(plan_workspace(buffers).offsets == plan.offsets);
    }
}

TEST_CASE("plan_workspace: buffers lie in the place of what comes later") {
    const std::vector<BufferLife> buffers = {{128, 0, 1}, {64, 1, 2}, {64, 2, 3}};
    const std::vector<FixedBuffer> fixed = {{{128, 2, 9}, 0}, {{64, 3, 9}, 128}, {{64, 4, 9}, 192}};
    const WorkspacePlan plan = plan_workspace(buffers, fixed);
    verify_plan(buffers, plan, fixed);
    CHECK(plan.offsets == std::vector<std::size_t>{0, 128, 192});
    CHECK(plan.peak_bytes == 256);
}

TEST_CASE("plan_workspace: what is fixed and has no bytes is in nobody's way") {
    const std::vector<FixedBuffer> fixed = {{{64, 2, 9}, 0}, {{0, 0, 9}, 64}, {{64, 2, 9}, 64}};
    const std::vector<BufferLife> buffers = {{128, 0, 1}};
    CHECK(plan_workspace(buffers, fixed).peak_bytes == 128);
}

TEST_CASE("plan_workspace: random lifetimes around random places") {
    for (std::uint32_t trial = 0; trial < 50; ++trial) {
        const RandomStream random(8, trial);
        std::vector<FixedBuffer> fixed;
        std::size_t offset = 0;
        for (std::uint64_t i = 0; i < 12; ++i) {
            const std::size_t bytes = random.below(2 * i, 3000);
            fixed.push_back({{bytes, int(random.below(2 * i + 1, 50)), 60}, offset});
            offset += (bytes + 63) / 64 * 64;
        }
        std::vector<BufferLife> buffers;
        for (std::uint64_t i = 100; i < 140; ++i) {
            const int first = int(random.below(3 * i, 40));
            buffers.push_back(
                {random.below(3 * i + 1, 5000), first, first + int(random.below(3 * i + 2, 8))});
        }
        verify_plan(buffers, plan_workspace(buffers, fixed), fixed);
    }
}

TEST_CASE("plan_workspace: what lies over others has their place as long as it lives") {
    const std::vector<BufferLife> chain = {{64, 0, 1}, {64, 1, 3, 0}, {64, 3, 4, 1}, {64, 2, 2}};
    const WorkspacePlan plan = plan_workspace(chain);
    verify_plan(chain, plan);
    CHECK(plan.peak_bytes == 128);
    CHECK(largest_live_bytes(chain) == 128);
    for (std::uint32_t trial = 0; trial < 50; ++trial) {
        const RandomStream random(9, trial);
        std::vector<BufferLife> buffers;
        for (std::uint64_t i = 0; i < 40; ++i) {
            const int first = static_cast<int>(random.below(4 * i, 40));
            const int last = first + static_cast<int>(random.below(4 * i + 1, 8));
            buffers.push_back({random.below(4 * i + 2, 5000), first, last});
            while (random.below(4 * i + 3 + 4000 * buffers.size(), 3) == 0) {
                const BufferLife under = buffers.back();
                buffers.push_back(
                    {under.bytes, under.last, under.last + 2, int(buffers.size()) - 1});
            }
        }
        verify_plan(buffers, plan_workspace(buffers));
    }
    CHECK_THROWS_AS(plan_workspace(std::vector<BufferLife>{{1, 0, 1}, {2, 1, 1, 0}}),
                    InternalError);
    CHECK_THROWS_AS(plan_workspace(std::vector<BufferLife>{{1, 0, 1}, {1, 2, 2, 0}}),
                    InternalError);
}

TEST_CASE("plan_workspace: a life that ends before it starts is a bug") {
    CHECK_THROWS_AS(plan_workspace(std::vector<BufferLife>{{1, 2, 1}}), InternalError);
}
