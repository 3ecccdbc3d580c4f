// A planned model: kernels in the order they run, and every tensor they touch with its lifetime.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/target/target.h"

namespace fovea::plan {

enum class Role { parameter, input, output, buffer, prepared, none };

/// How a parameter starts; the names are those of the runtime's `Initial`.
enum class Initial { zeros, ones, xavier_uniform, normal, linear_bias };

/// What i32 values are, as far as generated programs check it.
enum class Holds { ids, lengths };

/// A part of the positions along an axis.
struct AxisPart {
    Dim first{}, count{};
};

/// Ids are below `limit`, lengths at most that. Inputs are checked before a run, whole or in the
/// `parts` of their axes; buffers after it: `of` says what the values are of.
struct Check {
    Holds holds = Holds::ids;
    Dim limit{};
    std::vector<AxisPart> parts{};
    std::string of{};  // model.cpp:12: the ids of gather in encoder.embedding
};

struct Tensor {
    std::string name{};
    Role role = Role::buffer;
    DType dtype = DType::f32;
    std::vector<Dim> shape{};
    Initial initial = Initial::zeros;  // parameters
    std::int64_t fan_in = 0;           // linear biases
    std::int64_t zero_row = -1;        // parameters: this row starts as zeros; -1: none
    bool frozen = false;               // parameters: it is not trained
    WeightStorage storage{};           // parameters
    /// Parameters: programs read them where shared tensors are made of them, by their rows
    /// (`looked_up`), and in no other way, but for those with gradients or with a list (`whole`).
    bool copied = false, looked_up = false;
    bool state = false;  // inputs and outputs: it outlives a call
    /// Of a state the tensor of its old value, whose memory it may have; of a buffer the one whose
    /// memory it has.
    int over = -1;
    std::vector<Check> checks{};  // i32 inputs and buffers
    int first = 0, last = 0;  // buffers: the first and last phase that touch it; outputs: `first`
    int node = -1;  // the node of the fused graph that it holds
    int shared = -1;  // prepared: the number of what it holds, in all programs (share_prepared.h)
    bool replicated = false;  // buffers: each thread may have its own, at `slot` of its replicas
    int slot = -1;
};

/// Whether an i32 tensor is lengths (of these samples draw some that are 0, or all).
bool holds_lengths(const Tensor& tensor);

/// The largest value that passes the checks of a tensor, where `value_of(dim)` is a size; else
/// `otherwise`.
template <class ValueOf>
std::int64_t largest_value(const Tensor& tensor, ValueOf&& value_of, std::int64_t otherwise) {
    std::int64_t largest = INT64_MAX;
    for (const Check& check : tensor.checks)
        largest = std::min(largest, value_of(check.limit) - (check.holds == Holds::ids));
    return tensor.checks.empty() ? otherwise : largest;
}

/// One run of a kernel: `arguments[i]` is the tensor for its buffer i.
struct Step {
    int kernel = 0;  // into Model::kernels
    std::string name{};  // as the user reads it: module path and ops
    std::vector<int> arguments{};  // into Program::tensors
    int phase = 0;  // ascending; threads wait for each other between phases
    int round = 0;  // of its phase: between rounds they wait where replicated steps are shared
    bool replicated = false;  // each thread may run it for itself
    std::vector<int> sites{};  // where it draws: for those of its kernel, in their order
    std::vector<Dim> site_rows{};  // in shards: rows of a sequence at each of these sites
};

/// How the batch of a program is cut (runtime/parallel/shards.h).
struct Shards {
    int count = 1;  // 1: all threads share each kernel
    Dim sequences{};  // the symbol
    std::int64_t most_floats = 0;  // of outputs that are sums over the batch
    std::string reason{};  // why it is cut, or why not
};

/// What each thread computes for itself where the largest of the steps that do touches at most the
/// target's `replicated_numbers`: it touches `numbers` (replicate.h).
struct Replicas {
    Dim numbers{};
    int slots = 0;  // that each thread has; 0: no step is replicated
};

/// `size` positions from `first` on, of `extent`: checked before a run, since it depends on sizes.
struct Slice {
    Dim first{}, size{}, extent{};
    std::string place{};  // model.cpp:12
};

/// One computation. `tensors` starts with the model's parameters, in order, then inputs, outputs,
/// buffers (prepared ones among them), and last those of role `none`: they have no memory, and
/// kernels whose buffer is optional get none.
struct Program {
    std::string name{};
    std::vector<Tensor> tensors{};
    std::vector<Step> prepare{};  // what depends on dims and parameters alone
    std::vector<Step> steps{};
    Shards shards{};
    Replicas replicas{};
    bool reads_padding = false;  // how far its input `src` is padded matters
    std::vector<Slice> slices{};  // those that do not lie within their axes for all sizes
    /// For each output, by number among the inputs, those that it depends on. No list at all, as in
    /// programs that give gradients: every output needs every input.
    std::vector<std::vector<int>> needs{};
    std::vector<int> whole{};  // parameters that are `copied` and that it reads otherwise
};

struct Setting {
    std::string name, value;
    bool is_default = false;  // the value of a program where it is not set
    bool in_training = false;  // it matters in training alone
};

/// Another name under which files may hold a parameter (tied tensors).
struct Alias {
    std::string name, parameter;
};

/// Whether a kernel reads, writes or multiplies bfloat16, or float16: `half`.
bool has_halves(const kernel::Kernel& kernel, DType half);

/// Programs over the same parameters; a kernel that several steps share is held once.
struct Model {
    std::string name{};
    std::string source{};  // file of the user's function
    std::vector<std::string> dims{};  // the symbolic dims, in the order programs number them
    std::vector<Setting> settings{};
    std::vector<Tensor> parameters{};
    std::vector<Alias> aliases{};
    std::vector<kernel::Kernel> kernels{};
    std::vector<Program> programs{};
    target::Target target{};  // that its kernels were lowered for
    std::vector<std::string> config_fields{};  // as runtime::Model has them
};

/// Whether any parameter lies as whole numbers.
bool has_stored_weights(const Model& model);

/// Whether any kernel does: of bfloat16, there is a form of them for machines with products of it.
bool has_halves(const Model& model, DType half);

}  // namespace fovea::plan
