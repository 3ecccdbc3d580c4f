// Prompts and steps of a text give the logits of the model that reads it whole, for every decoder.
#include <doctest/doctest.h>
#include <fovea.h>

#include <string>

#include "codegen/base/error.h"
#include "codegen/decode/derive_decoding.h"
#include "codegen/graph/scan_function.h"
#include "codegen/graph/verify_graph.h"
#include "codegen/optimize/id_ranges.h"
#include "models/registry.h"
#include "tests/decode/token_by_token.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Graph model_of(const std::string& name) {
    const ModelEntry* entry = models::find_model(name);
    REQUIRE(entry);
    return entry->build(entry->small_settings);
}

/// Why a model cannot be decoded whose logits `make` gives of x [batch, len, 4], made of the ids.
template <class Make>
std::string why_not(Make&& make) {
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor x = embedding(s / "words", ids, 9, 4);
    s.output("logits", make(s, x));
    std::string reason = why_not_decodable(seal_scans(graph)).value_or("");
    const std::string start = "the model cannot be decoded token by token: ";
    CHECK((reason.empty() || reason.starts_with(start)));
    if (!reason.empty()) reason = reason.substr(start.size());
    // Without lines of this file, which change.
    const std::size_t at = reason.find(" at derive_decoding_test.cpp:");
    if (at == std::string::npos) return reason;
    return reason.substr(0, at) + reason.substr(reason.find_first_of(", ", at + 29));
}

}  // namespace

TEST_CASE("a prompt and steps give the logits of the whole text") {
    for (const char* name :
         {"llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "olmo2", "gpt2"}) {
        CAPTURE(name);
        const Graph graph = model_of(name);
        check_token_by_token(graph, {1, 7});
    }
}

TEST_CASE("the op that mixes positions is named") {
    const auto attend = [](const Mask& mask) {
        return [=](Scope, Tensor x) { return attention(x, x, x, dot_product, mask); };
    };
    CHECK(why_not(attend(causal)) == "");
    CHECK(why_not(attend(window(3, 0))) == "");
    CHECK(why_not(attend({})) == "attention, in words, sees later positions");
    CHECK(why_not(attend(window(3, 1))) == "attention, in words, sees later positions");
    CHECK(why_not([](Scope s, Tensor x) {
              Tensor segments = s.input("segments", {"batch", "len"}, i32);
              return attention(x, x, x, dot_product, causal & same(segments));
          }) == "attention, in words, has segments");
    CHECK(why_not([](Scope, Tensor x) { return x - mean(x, 1, true); }) ==
          "sum axes=1 computes with several positions");
    CHECK(why_not([](Scope, Tensor x) { return cumsum(x, 1); }) == "");
    CHECK(why_not([](Scope, Tensor x) { return softmax(x, 1); }) ==
          "softmax axis=1 computes with several positions");
    CHECK(why_not([](Scope, Tensor x) { return flip(x, 1); }) ==
          "extent len-1 computes with the number of positions");
    CHECK(why_not([](Scope, Tensor x) { return x / sqrt(x.dim(1)); }) ==
          "extent len computes with the number of positions");
    CHECK(why_not([](Scope, Tensor x) { return rearrange(x, "b t d -> (b t) d"); }) ==
          "rearrange 'a b c -> (a b) c' makes an axis of several lengths");
    CHECK(why_not([](Scope s, Tensor x) {
              return x + s.parameter("w", {x.dim(1), 4}, Initial::zeros);
          }) == "parameter w, in w, has a size that texts have");
    CHECK(why_not([](Scope, Tensor x) { return full(*x.graph, {"batch", 4}, 1.0) + mean(x, 1); }) ==
          "sum axes=1 computes with several positions");
    CHECK(why_not([](Scope s, Tensor x) {
              Tensor calls = s.state("calls", {1}, Initial::zeros);
              s.update(calls, calls + 1.0);
              return x + calls;
          }) == "parameter calls, in calls, is a state that calls change");
    CHECK(why_not([](Scope s, Tensor x) { return x + s.state("shift", {4}, Initial::zeros); }) ==
          "");
    CHECK(why_not([](Scope s, Tensor x) {
              Tensor last = s.cache("last", {"batch", 1, 4});
              s.update(last, last + 1.0);
              return x + last;
          }) == "input last, in last, is a state that calls change");
    CHECK(why_not([](Scope s, Tensor x) { return x + cast(s.input("position", {1}, i32), f32); }) ==
          "its input 'position' has the name of what each step is given: call it otherwise");
    CHECK(why_not([](Scope s, Tensor x) {
              return x + sum(s.input("memory", {"batch", "steps", 4}), 1, true);
          }) == "its size 'steps' has the name of the room of caches: call it otherwise");
    CHECK(why_not([](Scope s, Tensor x) {
              Tensor lens = s.input("lens", {"batch", "len"}, i32);
              return attention(x, x, x, dot_product, causal & padding(lens));
          }) ==
          "attention, in words, may hide all keys of a query, whose weights are then those of "
          "all positions; mask.with(MaskedRows::zero) makes them zero");
    CHECK(why_not([](Scope s, Tensor x) {
              Tensor lens = s.input("lens", {"batch", "len"}, i32);
              const Mask mask = (causal & padding(lens)).with(MaskedRows::zero);
              return attention(x, x, x, dot_product, mask);
          }) == "");
    // A window may lie behind the lengths of all of a sequence.
    CHECK(why_not([](Scope s, Tensor x) {
              const Mask mask = window(1, 0) & padding(s.input("lens", {"batch"}, i32));
              return attention(x, x, x, dot_product, mask);
          }) ==
          "attention, in words, may hide all keys of a query, whose weights are then those of "
          "all positions; mask.with(MaskedRows::zero) makes them zero");
    CHECK(why_not([](Scope s, Tensor x) {
              const Mask mask = causal & padding(s.input("lens", {"batch"}, i32));
              return attention(x, x, x, dot_product, mask);
          }) == "");
    CHECK(why_not([](Scope s, Tensor) { return cast(iota(s, {"batch", "len", 3}, 1), f32); }) ==
          "its logits do not depend on its ids");
    Graph empty;
    CHECK(why_not_decodable(empty) ==
          "the model cannot be decoded token by token: it has no input 'ids', nor 'tgt' of "
          "a model with a source");
    CHECK(why_not_decodable(model_of("bert")) ==
          "the model cannot be decoded token by token: it has no output 'logits'");
}

namespace {

/// What `step` gives over the positions of x [batch, len, 4], from a state of zeros.
template <class F>
auto along_positions(Tensor x, F&& step, ScanOptions options = {}) {
    Tensor start = full(*x.graph, {x.dim(0), 4}, 0.0);
    return scan(rearrange(x, "b t d -> t b d"), start, step, options);
}
Tensor in_front(Tensor x) { return rearrange(x, "t b d -> b t d"); }

}  // namespace

TEST_CASE("the loop that does not go along positions, and from the first on, is named") {
    const auto add = [](Tensor x, Tensor state) {
        Tensor sum = x + state * 0.5;
        return Step{sum, sum};
    };
    CHECK(why_not([&](Scope, Tensor x) { return in_front(along_positions(x, add).value); }) == "");
    CHECK(why_not([&](Scope, Tensor x) {
              return in_front(along_positions(x, add, {.reverse = true}).value);
          }) ==
          "scan steps=len reverse result 0, in words, goes from the last position to the first");
    CHECK(why_not([&](Scope, Tensor x) {
              return x + unsqueeze(along_positions(x, add).state, 1);
          }) == "scan steps=len state 0, in words, gives the state behind all positions");
    CHECK(why_not([](Scope, Tensor x) {
              const auto look_back = [x](Tensor query, Tensor state) {
                  Tensor seen = attention(unsqueeze(query, 1), x, x, dot_product);
                  return Step{state + squeeze(seen, 1), state};
              };
              return in_front(along_positions(x, look_back).value);
          }) == "scan steps=len result 0 reads all positions in each of its steps");
    CHECK(why_not([](Scope, Tensor x) {
              const auto over_words = [](Tensor word, Tensor state) {
                  return Step{state, state + word};
              };
              Tensor start = full(*x.graph, {x.dim(0), x.dim(1)}, 0.0);
              auto y = scan(rearrange(x, "b t d -> d b t"), start, over_words);
              return rearrange(y.value, "d b t -> b t d");
          }) == "scan steps=4 result 0 computes with several positions");
}

TEST_CASE("loops go on from the states that they have left, masks of words from those before") {
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor x = embedding(s / "words", ids, 29, 4);
    // Two states, one of them counted in, and two results, one of which nobody reads.
    const auto step = [](std::vector<Tensor> part, std::vector<Tensor> state) {
        Tensor sum = part[0] + tanh(state[0]) * 0.5, count = state[1] + 1;
        return Step{std::vector<Tensor>{sum * cast(count, f32), part[0]},
                    std::vector<Tensor>{sum, count}};
    };
    std::vector<Tensor> start = {full(s, {"batch", 4}, 0.5), full(s, {"batch", 1}, 3, i32)};
    auto y = scan(std::vector<Tensor>{rearrange(x, "b t d -> t b d")}, start, step);
    x = x + in_front(y.value[0]);
    // Words of some kinds are seen by none, two attentions have one mask.
    const Mask shown = (causal & allowed(unsqueeze(ids % 3 > 0, 1))).with(MaskedRows::zero);
    for (int i = 0; i < 2; ++i) x = x + attention(x, x * 0.5, x, dot_product, shown);
    // What a position sees of keys that have none is its own to say.
    Tensor others = broadcast(s.parameter("others", {1, 5, 4}, Initial::normal), {"batch", 5, 4});
    Tensor odd = eq(iota(s, {1, 1, 5}, 2) % 2, unsqueeze(ids % 2, 2));
    x = x + attention(x, others, others, dot_product, allowed(odd).with(MaskedRows::zero));
    s.output("logits", layer_norm(s / "norm", x));
    graph = seal_scans(graph);
    const Caches caches = check_token_by_token(graph, {1, 6});
    CHECK(caches.contains("words.state"));
    CHECK(caches.contains("words.state2"));
    CHECK(caches.contains("words.allowed"));
    CHECK_FALSE(caches.contains("words.allowed2"));
}

TEST_CASE("positions of scores and of tables are those of the text") {
    // ALiBi, a table from its third row on, waves counted and given, lengths of the model's own,
    // keys that all see.
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor lens = s.input("lens", {"batch"}, i32);
    Tensor x = embedding(s / "words", ids, 29, 8);
    x = x + slice(s.parameter("places", {16, 8}, Initial::normal), 0, 2, "len");
    x = x + sinusoids(x) + sinusoids_at(iota(s, {"len"}, 0) * 3 + 1, 8);
    const auto alibi = [](Pair p) { return dot_product(p) - cast(p.i - p.j, f32) * 0.25; };
    Tensor seen = attention(x, x, x, alibi, causal & padding(lens));
    x = x + attention(seen, seen, x, dot_product, window(4, 0));
    Tensor others = s.parameter("others", {1, 5, 8}, Initial::normal);
    others = broadcast(others, {"batch", 5, 8});
    x = x + attention(x, others, others, dot_product);
    s.output("logits", layer_norm(s / "norm", x));
    CHECK(check_token_by_token(graph, {1, 5}).size() == 3);
}

TEST_CASE("a window that alone hides keys has a cache of its size, written around") {
    struct Case {
        Mask mask;
        std::int64_t slots = 0;
        bool counts_keys = false;  // the score does
    };
    const std::vector<Case> cases = {{window(4, 0), 5},     {window(0, 0), 1},
                                     {window(12, 0), 13},   {window(30, 0), kTextLength},
                                     {causal, kTextLength}, {window(4, 0), kTextLength, true}};
    for (const Case& c : cases) {
        CAPTURE(c.slots);
        CAPTURE(c.counts_keys);
        Graph graph;
        Scope s{&graph};
        Tensor x = embedding(s / "words", s.input("ids", {"batch", "len"}, i32), 29, 8);
        const auto score = [&](Pair p) {
            return c.counts_keys ? dot_product(p) + cast(p.j, f32) * 0.1 : dot_product(p);
        };
        x = x + attention(x, x * 0.5, x, score, c.mask);
        s.output("logits", layer_norm(s / "norm", x));
        const Caches caches = check_token_by_token(graph, {1, 4, 5, 6, 11, 13});
        CHECK(caches.at("words.keys").shape[1] == c.slots);
    }
}

TEST_CASE("a step at a position that caches have no room for is refused, rings have room for all") {
    const auto limits_of_position = [](const Mask& mask) {
        Graph graph;
        Scope s{&graph};
        Tensor x = embedding(s / "words", s.input("ids", {"batch", "len"}, i32), 9, 4);
        s.output("logits", attention(x, x, x, dot_product, mask));
        const Graph step = derive_decoding(seal_scans(graph)).step;
        std::vector<Dim> limits;
        for (const InputCheck& check : input_checks(step))
            if (step[check.input].name == "position") limits.push_back(check.limit);
        return limits;
    };
    CHECK(limits_of_position(causal) == std::vector<Dim>{Dim("steps")});
    CHECK(limits_of_position(window(3, 0)).empty());
}

TEST_CASE("a prompt is read whole, and caches have names of their own") {
    // The first has no caches; the second has parameters of such names.
    for (const bool attends : {false, true}) {
        CAPTURE(attends);
        Graph graph;
        Scope s{&graph};
        Tensor ids = s.input("ids", {"batch", "len"}, i32);
        Tensor x = embedding(s / "words", ids, 29, 8);
        x = x + full(s, {"len", 8}, 2.0) + cast(iota(s, {"len", 1}, 0), f32) * 0.1;
        if (attends) {
            Tensor keys = (s / "words").parameter("keys", {8}, Initial::ones);
            Tensor values = (s / "words").parameter("values2", {8}, Initial::ones);
            x = x + attention(x, x, x, dot_product, causal) * keys;
            x = x + attention(x, x, x, dot_product, window(3, 0)) * values;
        }
        s.output("logits", layer_norm(s / "norm", x));
        CHECK(check_token_by_token(graph, {5}).size() == (attends ? 2 : 0));
    }
}
