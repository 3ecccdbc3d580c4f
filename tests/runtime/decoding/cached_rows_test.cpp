// Rows of caches that go on from each other, beside texts that are kept whole.
#include "runtime/decoding/cached_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/random_seed.h"

using namespace fovea::runtime;

namespace {

constexpr std::int64_t kRoom = 24, kWindow = 5, kHeads = 2, kWidth = 3, kSource = 4;
enum Dim { batch, steps, steps_of_window, source };

Model model_with_caches() {
    const auto dim = [](Dim name) { return Extent::dim(name); };
    const TensorSpec keys{.name = "keys", .shape = {dim(batch), kHeads, dim(steps), kWidth}},
        ring{.name = "ring", .shape = {dim(batch), kHeads, dim(steps_of_window), kWidth}},
        total{.name = "total", .shape = {dim(batch), kWidth}};
    Model model;
    model.name = "caches";
    model.dims = {"batch", "steps", "steps_of_window_" + std::to_string(kWindow), "source"};
    Program program;
    program.name = "decode_step";
    program.inputs = {keys,
                      ring,
                      total,
                      {.name = "of_source", .shape = {dim(batch), dim(source)}},
                      {.name = "of_all", .shape = {dim(source)}}};
    program.outputs = {keys, ring, total};
    for (auto* specs : {&program.inputs, &program.outputs})
        for (TensorSpec& spec : *specs) spec.state = true;
    program.run = [](const Call&) {};
    model.programs = {program};
    return model;
}

/// A step's caches, and beside them the number that each row has at each position.
struct TestedRows {
    const Model model = model_with_caches();
    Parameters parameters{model, {}};
    Instance step{model, "decode_step", parameters};
    CachedRows cached{model, step.program(), "batch"};
    std::vector<std::vector<float>> numbers;
    std::vector<float> sources;
    float next = 1;

    explicit TestedRows(std::size_t rows) : numbers(rows), sources(rows) {
        step.keep_states();
        step.bind({{"batch", std::int64_t(rows)}, {"steps", kRoom}, {"source", kSource}});
        cached.start(step, rows);
    }
    /// As a program does it: keys at the position, in the ring around it, sums of all.
    void write(std::size_t row, std::size_t position, float number) {
        for (const auto& [name, room] : {std::pair("keys", kRoom), std::pair("ring", kWindow)})
            for (std::int64_t head = 0; head < kHeads; ++head)
                std::fill_n(step.input<float>(name) + ((std::int64_t(row) * kHeads + head) * room +
                                                       std::int64_t(position) % room) *
                                                          kWidth,
                            kWidth, number + float(head) / 2);
        float* const total = step.input<float>("total") + row * kWidth;
        for (std::int64_t i = 0; i < kWidth; ++i)
            total[i] = (position == 0 ? 0 : total[i]) + number;
    }
    void read(std::size_t row, std::size_t length) {
        numbers[row].clear();
        for (std::size_t position = 0; position < length; ++position) {
            numbers[row].push_back(next++);
            write(row, position, numbers[row].back());
        }
        sources[row] = next++;
        std::fill_n(step.input<float>("of_source") + row * kSource, kSource, sources[row]);
        cached.wrote(row, length);
    }
    void read_one_more() {
        for (std::size_t row = 0; row < numbers.size(); ++row) {
            if (numbers[row].empty()) continue;
            write(row, numbers[row].size(), next);
            numbers[row].push_back(next++);
        }
        cached.stepped();
    }
    void follow(const std::vector<std::int32_t>& parents) {
        cached.follow(parents);
        const auto numbers_before = numbers;
        const auto sources_before = sources;
        for (std::size_t row = 0; row < parents.size(); ++row) {
            const bool ends = parents[row] < 0;
            numbers[row] = ends ? std::vector<float>{} : numbers_before[std::size_t(parents[row])];
            if (!ends) sources[row] = sources_before[std::size_t(parents[row])];
        }
    }
    void check() {
        for (std::size_t row = 0; row < numbers.size(); ++row) {
            CAPTURE(row);
            const auto length = std::int64_t(numbers[row].size());
            if (length == 0) continue;
            float total = 0;
            for (const float number : numbers[row]) total += number;
            CHECK(step.input<float>("total")[row * kWidth] == total);
            CHECK(step.input<float>("of_source")[row * kSource + 1] == sources[row]);
            for (const auto& [name, room] : {std::pair("keys", kRoom), std::pair("ring", kWindow)})
                for (std::int64_t head = 0; head < kHeads; ++head)
                    for (std::int64_t position = std::max<std::int64_t>(0, length - room);
                         position < length; ++position)
                        CHECK(step.input<float>(name)[((std::int64_t(row) * kHeads + head) * room +
                                                       position % room) *
                                                          kWidth +
                                                      2] ==
                              numbers[row][std::size_t(position)] + float(head) / 2);
        }
    }
};

}  // namespace

TEST_CASE("cached rows: each has what it goes on from, whoever follows whom") {
    std::mt19937 draw(fovea::test::random_seed());
    const auto below = [&](std::size_t count) { return std::size_t(draw() % count); };
    for (int turn = 0; turn < 20; ++turn) {
        CAPTURE(turn);
        const std::size_t beam = 1 + below(4), texts = 1 + below(3);
        TestedRows rows(beam * texts);
        for (std::size_t text = 0; text < texts; ++text) rows.read(text * beam, 1 + below(9));
        for (int step = 0; step < 14; ++step) {
            // Rows follow those of their own text that have read something, or end.
            std::vector<std::int32_t> parents(beam * texts, -1);
            for (std::size_t row = 0; row < parents.size(); ++row) {
                const std::size_t parent = row / beam * beam + below(beam);
                if (!rows.numbers[parent].empty() && below(8) > 0)
                    parents[row] = std::int32_t(parent);
            }
            rows.follow(parents);
            rows.check();
            rows.read_one_more();
            rows.check();
            const std::size_t text = below(texts);
            if (below(5) == 0) rows.read(text * beam, 1 + below(9));
        }
    }
}

TEST_CASE("cached rows: positions that both have stay where they are") {
    TestedRows rows(2);
    rows.read(0, 6);
    rows.follow({0, 0});
    rows.read_one_more();
    float* const of_parent = rows.step.input<float>("keys");
    of_parent[0] = -1;  // the first position
    rows.cached.follow(std::vector<std::int32_t>{0, 0});
    const std::int64_t row = kHeads * kRoom * kWidth;
    CHECK(of_parent[row] == 1);
    CHECK(of_parent[row + std::int64_t{6} * kWidth] == of_parent[std::int64_t{6} * kWidth]);
}

TEST_CASE("cached rows: a state that steps change without rows of its own does not allow it") {
    const Model model = model_with_caches();
    CHECK(CachedRows(model, model.programs[0], "batch").why_not_follow().empty());
    CHECK(CachedRows(model, model.programs[0], "").why_not_follow() == "keys");
    // Rows that lie apart are none that can be copied, whether steps change them or not.
    for (const int state : {2, 3}) {
        Model apart = model_with_caches();
        TensorSpec& input = apart.programs[0].inputs[std::size_t(state)];
        std::swap(input.shape[0], input.shape[1]);
        CHECK(CachedRows(apart, apart.programs[0], "batch").why_not_follow() == input.name);
    }
}
