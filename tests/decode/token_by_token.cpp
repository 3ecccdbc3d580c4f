// The interpreter on models and on their programs.
#include "tests/decode/token_by_token.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "codegen/base/room.h"
#include "codegen/decode/derive_decoding.h"
#include "codegen/decode/time_axis.h"
#include "codegen/graph/verify_graph.h"

namespace fovea::test {

namespace {

/// Numbers that differ from place to place.
double value_at(std::size_t i, std::size_t stream) {
    return std::sin(double(i) * 0.7391 + double(stream) * 1.313) * 0.5;
}

void set_parameters(Interpreter& interpreter, const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        Array array;
        for (const Dim& dim : node.shape) array.shape.push_back(dim.value());
        const std::string path = graph.path(node.scope);
        const std::size_t stream = std::hash<std::string>()(path) % 997;
        for (std::int64_t i = 0; i < array.size(); ++i)
            array.values.push_back(value_at(std::size_t(i), stream) + (node.shape.rank() == 1));
        interpreter.set(path, std::move(array));
    }
}

Array all_of(std::int64_t length) { return {{kReadTexts}, {double(length), double(length)}}; }

Array sources() {
    Array ids{{kReadTexts, 6}, {}};
    for (int i = 0; i < kReadTexts * 6; ++i) ids.values.push_back(double((5 * i + i * i + 3) % 29));
    return ids;
}

void give_inputs(Interpreter& program, const Array& ids, std::int64_t length) {
    const auto give = [&](const char* name, const Array& value) {
        if (program.has(name)) program.set(name, value);
    };
    for (const char* name : {"ids", "tgt", "labels"}) give(name, ids);
    give("lens", all_of(length));
    give("src", sources());
    give("src_lens", {{kReadTexts}, {6, 4}});
    if (!program.has("src")) program.bind("src_len", 6);
}

/// One for all, where the step takes no others.
void give_positions(Interpreter& step, const Graph& graph, const Positions& positions) {
    Array array{{1}, {double(positions[0])}};
    if (has_row_positions(graph)) array = {{kReadTexts}, {positions.begin(), positions.end()}};
    step.set(std::string(kPosition), array);
}

/// The next word of each text.
Array words_at(const Positions& positions) {
    Array ids{{kReadTexts, 1}, {}};
    for (std::int64_t text = 0; text < kReadTexts; ++text)
        ids.values.push_back(text_ids(positions[std::size_t(text)], 1).values[std::size_t(text)]);
    return ids;
}

/// CHECKs that texts whose prompts have different lengths take steps together.
void check_texts_of_lengths(const Decoding& decoding, const Array& whole,
                            const Positions& prompts) {
    std::vector<Caches> each;
    for (std::int64_t prompt : prompts)
        run_at(decoding.prefill, text_ids(0, prompt), {}, each.emplace_back());
    Caches caches = caches_of_each(each);
    for (Positions at = prompts; std::ranges::max(at) < kTextLength; ++at[0], ++at[1]) {
        CAPTURE(at[0]);
        check_rows(run_at(decoding.step, words_at(at), at, caches), whole, at);
    }
}

}  // namespace

Caches caches_of_each(const std::vector<Caches>& each) {
    Caches joined = each[0];
    for (auto& [name, cache] : joined) {
        // What has no axis of texts is the same for all.
        if (cache.shape.empty() || cache.shape[0] != kReadTexts) continue;
        const std::size_t size = cache.values.size() / std::size_t(kReadTexts);
        for (std::size_t text = 1; text < std::size_t(kReadTexts); ++text)
            std::copy_n(each[text].at(name).values.begin() + std::ptrdiff_t(text * size), size,
                        cache.values.begin() + std::ptrdiff_t(text * size));
    }
    return joined;
}

bool has_row_positions(const Graph& step) {
    return std::ranges::any_of(step.nodes, [](const Node& node) {
        return node.op == Op::input && node.name == kPosition && !node.shape[0].is_static();
    });
}

Array text_ids(std::int64_t first, std::int64_t count) {
    Array ids{{kReadTexts, count}, {}};
    for (std::int64_t b = 0; b < kReadTexts; ++b)
        for (std::int64_t i = first; i < first + count; ++i)
            ids.values.push_back(double((7 * i + 11 * b + i * i) % 29));
    return ids;
}

Positions all_at(std::int64_t position) { return Positions(std::size_t(kReadTexts), position); }

Array logits_of_whole(const Graph& graph, std::int64_t length) {
    Interpreter whole(graph);
    set_parameters(whole, graph);
    give_inputs(whole, text_ids(0, length), length);
    return whole.output("logits");
}

Array run_at(const Graph& graph, const Array& ids, const Positions& positions, Caches& caches) {
    Interpreter program(graph);
    set_parameters(program, graph);
    program.bind("steps", kTextLength);
    for (std::int64_t window = 1; window <= 3 * kTextLength; ++window)
        program.bind(room_of_window(window), std::min(window, kTextLength));
    give_inputs(program, ids, positions.empty() ? ids.shape[1] : kTextLength);
    if (!positions.empty()) give_positions(program, graph, positions);
    for (const auto& [name, cache] : caches) program.set(name, cache);
    // What is kept of a source is no output of a step.
    for (const Node& node : graph.nodes)
        if (node.op == Op::output && node.name != "logits")
            caches[std::string(node.name)] = program.output(node.name);
    return program.output("logits");
}

void check_rows(const Array& row, const Array& whole, const Positions& positions) {
    const std::int64_t words = whole.shape[2], length = whole.shape[1];
    REQUIRE(row.shape == std::vector<std::int64_t>{kReadTexts, 1, words});
    double largest = 0;
    for (double value : whole.values) largest = std::max(largest, std::abs(value));
    for (std::int64_t b = 0; b < kReadTexts; ++b)
        for (std::int64_t w = 0; w < words; ++w) {
            const std::int64_t at = b * length + positions[std::size_t(b)];
            const double expected = whole.values[std::size_t(at * words + w)];
            const double got = row.values[std::size_t(b * words + w)];
            if (!(std::abs(got - expected) <= 1e-12 * largest)) CHECK(got == expected);
        }
}

Caches check_token_by_token(const Graph& graph, const std::vector<std::int64_t>& prompts) {
    REQUIRE(why_not_decodable(graph).value_or("") == "");
    const Decoding decoding = derive_decoding(graph);
    verify_graph(decoding.prefill);
    verify_graph(decoding.step);
    const Array whole = logits_of_whole(graph, kTextLength);
    Caches caches;
    for (std::int64_t prompt : prompts) {
        CAPTURE(prompt);
        caches.clear();
        check_rows(run_at(decoding.prefill, text_ids(0, prompt), {}, caches), whole,
                   all_at(prompt - 1));
        for (std::int64_t position = prompt; position < kTextLength; ++position) {
            CAPTURE(position);
            const Positions at = all_at(position);
            check_rows(run_at(decoding.step, text_ids(position, 1), at, caches), whole, at);
        }
    }
    if (has_row_positions(decoding.step)) {
        check_texts_of_lengths(decoding, whole, {2, 9});
        check_texts_of_lengths(decoding, whole, {7, 1});
    }
    return caches;
}

}  // namespace fovea::test
