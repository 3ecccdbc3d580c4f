// A node of the graph, and the attributes that some ops add to it.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "codegen/base/dtype.h"
#include "codegen/base/elementwise.h"
#include "codegen/base/fixed_array.h"
#include "codegen/base/location.h"
#include "codegen/base/shape.h"
#include "codegen/base/weight_storage.h"
#include "codegen/graph/op.h"

namespace fovea {

/// How a parameter starts (see the runtime's `Initial`).
enum class Initial : unsigned char { zeros, ones, xavier_uniform, normal, linear_bias };

enum class Reduction : unsigned char { sum, max };

/// What a row whose mask hides every key becomes: uniform over all keys, or zero.
enum class MaskedRows : unsigned char { uniform, zero };

/// Axis labels of an einsum: label i of operand a is `a[i]`. Labels are small numbers.
struct EinsumAxes {
    struct List {
        FixedArray<signed char, Shape::kMaxRank> label{};
        int count = 0;

        constexpr void push(int value) { label[std::size_t(count++)] = (signed char)value; }
        constexpr bool contains(int value) const {
            for (int i = 0; i < count; ++i)
                if (label[std::size_t(i)] == value) return true;
            return false;
        }
    };
    List a{}, b{}, out{};
    std::string_view pattern{};  // as the user wrote it, for messages; may be empty
};

/// A rearrangement: the input's axes split into elementary axes (in order), and the output's axes
/// are groups of them. Elementary axis `i` has size `axis[i]`; input axis k is made of
/// `input_group[k]` of them; `order` lists them as the output has them, grouped by `output_group`
/// (a group of none is an axis of size 1).
struct RearrangeAxes {
    static constexpr int kMax = 10;
    FixedArray<Dim, kMax> axis{};
    int count = 0;
    FixedArray<signed char, Shape::kMaxRank> input_group{};
    FixedArray<signed char, kMax> order{};
    FixedArray<signed char, Shape::kMaxRank> output_group{};
    std::string_view pattern{};
};

struct ScoreFunction;
struct ScanFunction;

/// The keys that a query sees by their positions: from `before` in front of its own to `after`
/// behind it.
struct KeyWindow {
    static constexpr std::int64_t kUnlimited = std::int64_t(1) << 30;

    std::int64_t before = kUnlimited, after = kUnlimited;

    constexpr bool ends_before() const { return before < kUnlimited; }
    constexpr bool ends_after() const { return after < kUnlimited; }
    constexpr bool is_limited() const { return ends_before() || ends_after(); }
    constexpr bool operator==(const KeyWindow&) const = default;
    /// What both leave.
    friend constexpr KeyWindow operator&(const KeyWindow& a, const KeyWindow& b) {
        return {a.before < b.before ? a.before : b.before, a.after < b.after ? a.after : b.after};
    }
};
/// Up to its own position.
inline constexpr KeyWindow kCausal{.after = 0};

/// What attention adds: the score region and the mask.
struct AttentionAttributes {
    int score = 0;   // node of the region that is the score of a pair
    int region = 0;  // its number
    KeyWindow window{};
    bool has_lens = false, has_allowed = false, has_segments = false;  // inputs 3, 4 and 5
    double dropout = 0;
    int site = 0;    // of its dropout
    const ScoreFunction* function = nullptr;  // of a fused attention, instead of the region
    /// Of a fused attention: each head takes its keys in so many parts by themselves, results of
    /// which stand side by side as heads (key_parts.h).
    int parts = 1;
};

/// What a scan adds. While a model is traced its step is a region: `region`, and up to
/// `last_region` the regions inside it. After `seal_scans` it is `function`.
struct ScanAttributes {
    int region = 0, last_region = 0;
    Dim steps{};
    bool reverse = false;  // from the last step to the first
    const ScanFunction* function = nullptr;
};

/// Which value of a scan's step a node of Op::step is, in `Node::axis`: a sequence's slice of this
/// step, or a state before it. Of Op::scan: a state after each step, or a value of each step.
enum class StepPart : int { value, state };

/// What an input or an output is to the function whose graph it stands in: a step of a scan
/// (scan_function.h) or the score of a pair (score_function.h). Those of a model have their names.
enum class Role : unsigned char {
    none,
    value,  // of a step: its part of a sequence
    state,  // the state before it
    next,  // the state after it
    result,  // what it gives
    capture,  // of either: what it reads from outside
    query,  // of a score: a vector, as the key's
    key,
    batch,  // an index, as those behind it
    head,
    query_index,
    key_index,
    score,
};

/// A place in the signature of such a function, or the gradient of what stands there.
struct Port {
    Role role = Role::none;
    int number = 0;  // among those of its role
    bool gradient = false;

    constexpr auto operator<=>(const Port&) const = default;
};
inline constexpr Port kNoPort{};

/// What becomes of the numbers z of a product before a loss takes them as logits: `inner` z or,
/// where `outer` is not 0, `outer` tanh(`inner` z), which is a soft cap.
struct LogitCurve {
    double inner = 1, outer = 0;

    constexpr bool operator==(const LogitCurve&) const = default;
};

/// What a fused attention gives: its output, the statistics of its rows that the backward pass
/// recomputes the weights from, or one of its gradients.
enum class AttentionResult : unsigned char { output, statistics, query, key, value, capture };

/// A scan has many: sequences, initial states, and everything that its step reads besides.
inline constexpr std::size_t kMaxInputs = 64;
/// Most ops that models write read at most so many: attention, with all that masks read. A
/// concatenation reads more, and looks for poison among its parts itself.
inline constexpr std::size_t kMostOperands = 6;
using Inputs = FixedArray<int, kMaxInputs>;
/// Made once: to fill 64 numbers for every node is most of a compiler's work on a model.
inline constexpr Inputs kNoInputs = [] {
    Inputs inputs{};
    for (int& id : inputs) id = -1;
    return inputs;
}();
template <std::size_t Count>
constexpr Inputs inputs_of(const int (&ids)[Count]) {
    static_assert(Count <= kMostOperands);
    Inputs inputs = kNoInputs;
    for (std::size_t i = 0; i < Count; ++i) inputs.values[i] = ids[i];
    return inputs;
}
/// Whether an input is poison. The ops of a model read few values; those of passes may read all.
constexpr bool has_poison(const Inputs& inputs) {
    const auto& ids = inputs.values;
    if (!ids[0] || !ids[1] || !ids[2] || !ids[3] || !ids[4] || !ids[5]) return true;
    if (__builtin_is_constant_evaluated()) return false;
    for (std::size_t i = kMostOperands; i < kMaxInputs; ++i)
        if (ids[i] == 0) return true;
    return false;
}
static_assert(kMostOperands == 6);

inline constexpr std::string_view kNoName;

struct Node {
    Op op = Op::poison;
    Elementwise function = Elementwise::identity;  // elementwise
    DType dtype = DType::f32;
    Shape shape = kScalar;
    Inputs inputs = kNoInputs;
    int scope = 0;  // of the module that made it
    int region = 0;  // 0: the graph itself; others: a score region
    Location location{};
    std::string_view name = kNoName;  // input, parameter (leaf), output
    double value = 0;  // constant, dropout and random (probability), norms (eps);
        // smoothed_cross_entropy, linear_cross_entropy (smoothing)
    Dim dim = kNoDim;  // extent; slice, pad (first); gather (rows); output (see is_check); input of
        // a program that was derived: what its whole numbers are below
    int axis = 0;  // iota, softmax, slice, windows, sum_windows, concat, pad, batch_norm; reduce:
        // bits; layer_norm: first axis; smoothed_cross_entropy: the padding id;
        // linear_cross_entropy: a LossResult; output: as is_check; parameter: bits of its numbers,
        // 0: it lies as floats
    int stride = 1;  // slice, windows, sum_windows: positions from one to the next; parameter: the
        // numbers that have a scale together
    int dilation = 1;  // windows, sum_windows: from one element of a window to the next
    int attribute = -1;  // index into the table that OpDef::attribute names
    int site = 0;  // random, dropout: the number of the place where numbers are drawn
    Initial initial = Initial::zeros;  // parameter
    int zero_row = -1;  // parameter: this row starts as zeros; -1: none
    bool frozen = false;  // parameter: it is not trained, and has no gradient
    bool state =
        false;  // parameter, input: a state, which outlives a call; output: what it becomes
    Reduction reduction = Reduction::sum;  // reduce
    MaskedRows masked_rows = MaskedRows::uniform;
    Port port = kNoPort;  // pair; input, output: of a step or a score
    AttentionResult result = AttentionResult::output;  // fused_attention
    Op composite = Op::poison;  // the composite that this node comes from, poison for none
    bool backward = false;  // made by add_gradients
    int checkpoint = 0;  // the checkpoint that it was made in (composed/checkpoint.h); 0: none
    bool recomputed = false;  // a value of a checkpoint, made again for the gradient
};

/// Whether a node of Op::stop_gradient passes on a gradient of the model's own (custom_gradient.h):
/// its inputs are the value, what stands for the value's gradient, an operand, and the operand's
/// gradient. With `Node::axis` the value is such a node, too, for another operand.
constexpr bool has_own_gradient(const Node& node) {
    return node.op == Op::stop_gradient && node.inputs[2] > 0;
}

/// How a parameter lies in memory.
constexpr WeightStorage storage_of(const Node& node) {
    if (node.op != Op::parameter || node.axis == 0) return {};
    return {node.axis, node.stride};
}

/// Whether a value stays as it is while a program runs: a parameter that is no state.
inline bool is_weight(const Node& node) { return node.op == Op::parameter && !node.state; }

}  // namespace fovea
