// Attention at the lengths and masks that cost the most, and with scores that are no dot product.
#include "dsl/fovea.h"
#include "tools/fovea/bench/kernel_suite.h"
#include "tools/fovea/bench/suites.h"

namespace fovea::tool {

namespace {

enum class Score { dot_product, soft_cap, additive };
enum class Keys { all, causal, padded };

constexpr std::int64_t kHeads = 8, kWidth = 64;

struct Form {
    const char* program;
    Score score = Score::dot_product;
    Keys keys = Keys::all;
};
constexpr Form kFull{"full"}, kCausal{"causal", Score::dot_product, Keys::causal},
    kPadded{"padded", Score::dot_product, Keys::padded}, kSoftCap{"soft_cap", Score::soft_cap},
    kAdditive{"additive", Score::additive};

struct AttentionCase {
    Form form;
    const char* name;
    std::int64_t length;
};
constexpr AttentionCase kCases[] = {{kFull, "length 512", 512},   {kFull, "length 1024", 1024},
                                    {kFull, "length 2048", 2048}, {kCausal, "causal", 1024},
                                    {kPadded, "padded", 1024},    {kSoftCap, "soft cap", 1024},
                                    {kAdditive, "additive", 256}};
constexpr AttentionCase kQuickCases[] = {{kFull, "length 24", 24},
                                         {kCausal, "causal", 24},
                                         {kPadded, "padded", 24},
                                         {kAdditive, "additive", 24}};

Graph bench_attention_graph(const Form& form) {
    Graph graph;
    Scope s{&graph};
    const bool additive = form.score == Score::additive;  // has one head
    auto vectors = [&](const char* name, const char* length) {
        return additive ? s.input(name, {"batch", length, kWidth})
                        : s.input(name, {"batch", kHeads, length, kWidth});
    };
    Tensor q = vectors("q", "queries"), k = vectors("k", "keys"), v = vectors("v", "keys");
    Mask mask = no_mask;
    if (form.keys == Keys::causal) mask = causal;
    if (form.keys == Keys::padded) mask = padding(s.input("lens", {"batch"}, i32));
    Tensor y;
    if (additive) {
        Tensor w = s.input("w_v", {kWidth});
        auto score = [=](Pair p) { return dot(w, tanh(p.q + p.k)); };
        y = attention(q, k, v, score, mask);
    } else if (form.score == Score::soft_cap) {
        auto score = [](Pair p) { return 30 * tanh(dot_product(p) / 30); };
        y = attention(q, k, v, score, mask);
    } else {
        y = attention(q, k, v, dot_product, mask);
    }
    s.output("output", y);
    return graph;
}

/// 64, 192, …, 960 of 1024 over a batch of 8.
std::vector<std::int32_t> padded_lengths(std::int64_t batch, std::int64_t keys) {
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < batch; ++b)
        lengths.push_back(std::int32_t(keys * (2 * b + 1) / (2 * batch)));
    return lengths;
}

/// (query, key) pairs that are seen, over the batch.
double visible_pairs(const Form& form, std::int64_t batch, std::int64_t length) {
    const auto n = double(length);
    if (form.keys == Keys::causal) return double(batch) * n * (n + 1) / 2;
    if (form.keys == Keys::all) return double(batch) * n * n;
    double keys = 0;
    for (std::int32_t seen : padded_lengths(batch, length)) keys += double(seen);
    return keys * n;
}

KernelCase case_of(const AttentionCase& given, bool backward, std::int64_t batch) {
    const Form& form = given.form;
    const double heads = form.score == Score::additive ? 1 : kHeads;
    const double tensor = 4 * heads * double(batch * given.length * kWidth);  // bytes of q
    KernelCase result{.program = form.program};
    Work& work = result.work;
    work.name = given.name;
    work.pass = backward ? "backward" : "forward";
    work.dims = {{"batch", batch}, {"queries", given.length}, {"keys", given.length}};
    work.flops = (backward ? 10 : 4) * heads * visible_pairs(form, batch, given.length) * kWidth;
    // q, k, v in, the output out; and with these its gradient in, those of q, k, v out.
    work.bytes = (backward ? 8 : 4) * tensor;
    if (form.keys == Keys::padded) result.given["lens"] = padded_lengths(batch, given.length);
    return result;
}

}  // namespace

std::vector<BenchRow> bench_attention(Bench& bench) {
    KernelSuite suite("attention");
    std::vector<AttentionCase> cases(std::begin(kCases), std::end(kCases));
    if (bench.quick()) cases.assign(std::begin(kQuickCases), std::end(kQuickCases));
    for (bool backward : {false, true})
        for (const AttentionCase& given : cases) {
            suite.add_program(given.form.program, bench_attention_graph(given.form), true);
            suite.add_case(case_of(given, backward, bench.quick() ? 2 : 8));
        }
    return suite.run(bench);
}

}  // namespace fovea::tool
