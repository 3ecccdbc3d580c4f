// What a generated file says about itself: its model, the tensors, and the planned programs over
// them.
//
// A generated `<model>.cpp` defines one function `const Model& <name>_model()`. A host (the built
// translator, the generic runner, `fovea run`) binds values to the dims, allocates, and runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call.h"
#include "description.h"
#include "dtype.h"
#include "memory/extent.h"
#include "memory/weight_storage.h"

namespace fovea::runtime {

/// A tensor that has a name outside the program: a parameter, an input or an output.
struct TensorSpec {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Extent> shape;
    Initial initial = Initial::zeros;  // parameters only
    std::int64_t fan_in = 0;           // for linear_bias: the width of the layer's input
    std::int64_t zero_row = -1;        // this row starts as zeros (the padding id); -1: none
    bool frozen = false;               // a parameter that is not trained
    /// Of a parameter: programs read what is shared of it (memory/shared_buffers.h), rows of it if
    /// it is `looked_up` (Call::halves), and nothing else, but for those that give gradients and
    /// those that say so (Program::whole).
    bool copied = false, looked_up = false;
    WeightStorage storage{};  // of a parameter
    /// An input or an output that outlives a call. The output has the name of the input or the
    /// parameter that it may lie over: the program has read that before it writes.
    bool state = false;
    int first = 0;  // of an output: the phase that writes it first
};

/// A tensor inside the workspace: written first in phase `first`, read last in phase `last`.
/// Buffers of the prepared part (`prepared == true`) live as long as the instance.
struct BufferSpec {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Extent> shape;
    int first = 0, last = 0;
    bool prepared = false;
    int shared =
        -1;  // prepared: its number among the model's, where it depends on parameters alone
    int over = -1;  // the buffer whose memory it has, whose last phase is its first; -1: none
};

/// Ids or lengths that the program computes, in a buffer that nothing overwrites: read after a run.
/// Kernels read rows in range in place of those that are not.
struct ComputedCheck {
    int buffer = 0;  // among Program::buffers
    bool lengths = false;  // at most `limit`; else ids, below it
    Extent limit = 0;
    std::string of;  // model.cpp:12: the ids of gather in encoder.embedding
};

/// Runs the calls of one instance elsewhere than on this machine's cores.
class Executor {
  public:
    virtual ~Executor() = default;
    /// As a ProgramCode; the tensors of the call are on the host: parameters and inputs are read,
    /// outputs written.
    virtual void run(const Call& call) = 0;
    /// Copies the states that stayed on the device in the last run, whose call this was, to the
    /// host.
    virtual void fetch_states(const Call&) {}
};

/// One planned computation. Functions are called from one thread and open their own parallel
/// region.
struct Program {
    std::string name;  // "forward", "training_step", "prefill", "decode_step", …
    std::vector<TensorSpec> inputs, outputs;
    std::vector<BufferSpec> buffers;
    std::vector<std::string> kernels;  // names, in the order they run
    ProgramCode run = nullptr;
    /// Throws UserError when an input holds an id or a length out of range.
    std::function<void(const Call&)> check_inputs = nullptr;
    std::vector<ComputedCheck> computed = {};
    /// needs[o]: the numbers of the inputs that output o reads. Empty: every output reads them all.
    std::vector<std::vector<int>> needs = {};
    ShardRule shards = {};
    bool reads_padding = false;  // how far its input `src` is padded matters
    std::span<const int> whole = {};  // parameters that are `copied` and that it reads otherwise
    /// Where set, makes what runs the calls of an instance, instead of `run`.
    std::function<std::unique_ptr<Executor>()> executor = nullptr;
};

struct Setting {
    std::string name, value;
    bool is_default = false;  // the value where it is not set
    bool in_training = false;  // it matters in training alone
};

/// Another name under which files may hold a parameter (tied tensors).
struct Alias {
    std::string name;  // in the file
    std::string parameter;  // in Model::parameters
};

/// A generated model: parameters shared by all its programs.
struct Model {
    std::string name;
    std::vector<std::string> dims;  // names of the symbolic dims
    std::vector<Setting> settings;  // as `--set` takes them
    std::vector<TensorSpec> parameters;
    std::vector<Program> programs;
    std::vector<Alias> aliases = {};
    std::string isa = {};  // the instruction set of its kernels, see isa.h
    /// Where set: the model as it runs on a GPU, or a UserError that says why it does not. Programs
    /// without kernels for GPUs leave it empty, and hold nothing of the CUDA driver's interface.
    std::function<Model(const Model&)> on_cuda = nullptr;
    const ProfiledRuns* profiled_runs = nullptr;  // as Description has them
    const OpenSizes* open_sizes = nullptr;
    const StoredWeights* stored_weights = nullptr;
    const SharedBuffers* shared_buffers = nullptr;
    const FileWeights* file_weights = nullptr;
    const VerifiedConfigs* verified_configs = nullptr;
    /// Where set: the command `quantize` of its program (language/quantize_command.h).
    int (*quantize)(const std::string& program, const Model& model,
                    std::span<const char* const> arguments) = nullptr;
    /// `hidden_act silu swish`: a field of a checkpoint's `config.json` that is no setting, and the
    /// values that the model is right for, as it is where the field is missing.
    std::vector<std::string> config_fields = {};
};

}  // namespace fovea::runtime
