// One program of a generated model, bound to dims: its memory and its runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "memory/arena.h"
#include "memory/program_layout.h"
#include "memory/shard_layout.h"
#include "parameters.h"
#include "program.h"

namespace fovea::runtime {

class ProgramProfile;

/// Memory that a binding to dims takes, beside the parameters.
struct CallBytes {
    /// Of what lives during a run alone; a caller that lends so many, at any address, is heard.
    std::size_t workspace = 0;
    /// Of the instance's own: inputs and outputs, unless they lie elsewhere, what is prepared for
    /// it alone, and sums of shards. Kernels have more for each thread (memory/scratch.h).
    std::size_t owned = 0;
};

/// One program, bound to dims: its workspace, inputs and outputs. Rebinding to other dims reuses
/// the memory when it is large enough.
class Instance {
  public:
    /// UserError when the model has no program of this name. Model and parameters must outlive it.
    Instance(const Model& model, const std::string& program, Parameters& parameters);

    /// Plans and allocates for these dims. Every dim that the program mentions must be given,
    /// except those that the parameters fix, and the room of windows, `steps_of_window_N`, which
    /// follows from `steps`. After a change of dims addresses change and inputs
    /// hold nothing of use; prepared buffers stay filled as long as their shapes stay. Binding to
    /// the same dims again does nothing; to dims of an earlier binding, next to nothing.
    void bind(const DimValues& dims);
    /// The same with all sizes in the order of Model::dims; those that the parameters fix, or that
    /// the program does not mention, are not looked at.
    void bind_sizes(std::span<const std::int64_t> sizes);
    /// The memory of an input or output, row-major, at a multiple of 64 bytes; UserError for an
    /// unknown name. T is not checked against the tensor's dtype.
    template <class T>
    T* input(const std::string& name) {
        return static_cast<T*>(input_address(name));
    }
    template <class T>
    T* output(const std::string& name) {
        return static_cast<T*>(output_address(name));
    }
    /// All elements of an f32 output; UserError for an output of another type.
    std::span<const float> output_values(const std::string& name);
    /// Lets an output be written elsewhere (a prompt's keys into a cache). Survives rebinding.
    void place_output(const std::string& name, void* address);
    struct OutputPlace {
        std::string name;
        std::size_t offset = 0;  // bytes from the start of the workspace, a multiple of 64
    };
    /// Lets outputs lie in the first `bytes` of the workspace, in the order of their offsets.
    /// Buffers that are read last before such an output is written share its memory; what lies
    /// between them is not touched. They hold what the last run wrote, until the next run or
    /// binding. Unbinds.
    void place_in_workspace(std::span<const OutputPlace> outputs, std::size_t bytes);
    bool has_lent_workspace() const { return workspace_.is_lent(); }
    /// The start of the workspace, until the next binding.
    void* workspace() { return workspace_.as<std::byte>(); }
    /// Until the next binding to other sizes, tensor `i` in the order of Call::tensors lies at
    /// `address`: an input, which is read, or an output, which is written, in memory of the caller.
    void place_tensor(std::size_t i, void* address) { tensors_[i] = address; }
    /// What binding to these sizes, in the order of Model::dims, would take; allocates no memory of
    /// the program. UserError for sizes that are negative or too large.
    CallBytes bytes_for(std::span<const std::int64_t> sizes) const;
    /// From the next binding on, what lives during a run lies in `memory` of the caller, who may
    /// lend it to several instances of which one runs at a time; an empty span takes it back.
    /// Binding is UserError where it is too small. Unbinds.
    void use_workspace(std::span<std::byte> memory);
    enum class States { all, of_session };
    /// From now on a run finds the states that the run before it made: each lies over its old
    /// value, in an input or among the parameters. Those in inputs are zeros when the sizes change.
    /// Without this call, states are inputs and outputs like others; so are those among the
    /// parameters when it is for states of the session alone. Unbinds.
    void keep_states(States which = States::all);
    /// Sets the states that are inputs to zeros, where they are kept.
    void clear_states();
    /// From now on the states that are inputs, kept by `keep_states`, stay where kernels run: on a
    /// device, what a caller writes into their memory counts after `states_changed`, and what runs
    /// make of them is in that memory after `fetch_states`.
    void leave_states() { leaves_states_ = true; }
    void states_changed() { states_changed_ = true; }
    void fetch_states();
    bool has_input(const std::string& name) const;
    bool has_output(const std::string& name) const;
    std::vector<std::int64_t> shape_of(const TensorSpec& spec) const;
    const Model& model() const { return *model_; }
    const Program& program() const { return *program_; }
    /// How many tensors of a call are parameters: the first ones.
    std::size_t parameter_count() const { return parameters_->count(); }

    /// Parameters changed: the prepared buffers of every instance over them are filled again
    /// before its next run.
    void parameters_changed() { parameters_->mark_changed(); }
    /// Throws UserError when an input holds an id or a length out of range.
    void check_inputs();
    /// Checks the inputs, prepares if needed, runs, and checks what ids and lengths were computed.
    void run(std::uint64_t seed = 0, std::uint64_t step = 0);
    /// The same with the seed, step and callbacks of `call`; the rest of it is not looked at. What
    /// is observed are kernels on the whole batch, in this run and in all later ones.
    void run_call(Call call);
    /// The same with `work` in the place of the program's code.
    void run_call(Call call, const std::function<void(const Call&)>& work);
    /// What runs the calls on a device; null: this machine's cores do.
    Executor* executor() const { return executor_.get(); }
    /// Address of tensor number i in the order of Call::tensors.
    void* tensor(std::size_t i) const { return tensors_[i]; }
    /// How many shards of the batch a run has (parallel/shards.h); 1: threads share each kernel.
    int shards() const { return layout_ ? layout_->shards.count : 1; }
    /// Bytes of the planned workspace of all shards, without inputs, outputs and prepared buffers.
    std::size_t workspace_bytes() const { return workspace_bytes_; }
    /// Bytes of the prepared buffers, without those that all instances share; in shards each thread
    /// has its own.
    std::size_t prepared_bytes() const { return prepared_bytes_; }

    /// Throws UserError when an id or a length that the last run computed is out of range.
    void check_computed(const Call& call) const;

  private:
    class CheckedFinish;

    std::vector<std::int64_t> values_of(const DimValues& dims) const;
    std::vector<std::int64_t> values_of(std::span<const std::int64_t> sizes) const;
    ProgramLayout layout_for(std::span<const std::int64_t> values) const;
    void place_tensors(const ProgramLayout& layout);
    void place_buffers(const ProgramLayout& layout);
    void unbind();
    /// The place of a tensor among others, or -1.
    static int find_tensor(std::span<const TensorSpec> specs, const std::string& name);
    void* input_address(const std::string& name);
    void* output_address(const std::string& name);
    void bind_values(std::vector<std::int64_t> values);
    bool is_kept(const TensorSpec& output) const;
    void place_states();
    Call complete(Call call);
    void prepare(Call call, std::uint64_t version);
    void do_work(const Call& call, const std::function<void(const Call&)>& work);
    void bind_whole();

    /// What binding to dims gave: valid as long as the arenas do not move.
    struct Binding {
        std::vector<std::int64_t> dims;
        std::vector<void*> tensors;
        std::vector<std::int64_t> prepared_sizes;
        std::size_t workspace_bytes = 0, prepared_bytes = 0;
        std::shared_ptr<const ShardLayout> layout;
    };
    bool bind_again(const std::vector<std::int64_t>& values);
    using Addresses = std::array<const void*, 5>;
    void remember_binding(const Addresses& arenas_before);
    Addresses arena_addresses() const;
    using Bindings = std::vector<std::unique_ptr<Binding>>;
    Bindings::iterator binding_of(const std::vector<std::int64_t>& dims);
    bool is_placed(const TensorSpec& output) const;

    const Model* model_;
    const Program* program_;
    Parameters* parameters_;
    std::unique_ptr<Executor> executor_;  // null: the program's own code runs
    HeldBuffers* shared_ = nullptr;  // where shared buffers lie; null: among those of the instance
    std::shared_ptr<ProgramProfile> profile_;  // null: none is wanted
    std::vector<int> mentioned_dims_;  // that the program's tensors depend on
    Bindings bindings_;  // in the order of their dims
    std::vector<std::int64_t> dims_;  // in the order of Model::dims; empty before the first bind
    std::vector<void*> tensors_;
    struct PlacedOutput {
        std::size_t number = 0;  // among the program's outputs
        void* address = nullptr;
    };
    std::vector<PlacedOutput> placed_;
    OutputsInWorkspace in_workspace_;
    bool keeps_states_ = false, keeps_parameters_ = false;
    bool leaves_states_ = false, states_changed_ = true;  // on the host, since the last run
    std::vector<std::int64_t> prepared_sizes_;  // as ProgramLayout has them
    Arena inputs_, outputs_, workspace_, prepared_memory_, sums_of_shards_;
    std::shared_ptr<const ShardLayout> layout_;  // null: the batch is not cut
    bool is_whole_ = false;  // it never is
    std::size_t workspace_bytes_ = 0, prepared_bytes_ = 0;
    std::uint64_t prepared_version_ = 0;  // of the parameters; 0: nothing is prepared
};

}  // namespace fovea::runtime
