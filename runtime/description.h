// What a generated file says about its model, in tables of plain types: a compiler reads them in a
// fraction of the time that it takes for the standard headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "call.h"
#include "dtypes.h"

namespace fovea::runtime {

struct Model;

/// Parts of the runtime that some models alone need. A generated file names those of its model, so
/// that a linker leaves the others out of its programs.
struct StoredWeights;  // parameters that lie as whole numbers (weights/stored_weights.h)
struct OpenSizes;      // sizes of parameters that the model leaves open (runner/bind_dims.h)
struct VerifiedConfigs;  // settings beside a config.json (checkpoint/verify_config.h)
struct SharedBuffers;  // what all programs prepare of parameters (memory/shared_buffers.h)
struct FileWeights;    // weights that stay in their file (weights/weights_in_file.h)
struct ShardedRuns;    // a batch in shards (memory/shard_layout.h)
struct ProfiledRuns;   // FOVEA_PROFILE (profile/program_profile.h); not with FOVEA_SMALL
extern const StoredWeights kStoredWeights;
extern const OpenSizes kOpenSizes;
extern const VerifiedConfigs kVerifiedConfigs;
extern const SharedBuffers kSharedBuffers;
extern const FileWeights kFileWeights;
extern const ShardedRuns kShardedRuns;
extern const ProfiledRuns kProfiledRuns;
#ifdef FOVEA_SMALL
constexpr const ProfiledRuns* kProfile = nullptr;
#else
constexpr const ProfiledRuns* kProfile = &kProfiledRuns;
#endif

/// How a parameter starts. `fan_in` and `fan_out` come from its shape ([out, in]).
enum class Initial {
    zeros,
    ones,
    xavier_uniform,      // U(-a, a), a = sqrt(6 / (in + out)); Glorot and Bengio 2010
    normal,              // N(0, 1)
    linear_bias,         // U(-a, a), a = 1 / sqrt(in of the layer); PyTorch's nn.Linear
};

/// A table is a text: rows that end with '\0', none of them empty. A name stands last in its row,
/// since it may hold anything; a shape is written `[batch, 64*src_len+1, 8]`, with the names of the
/// model's dims. So a program holds no addresses of names, which would have to be set when it
/// starts.
using Rows = const char*;

/// The kernels of a model for one instruction set: a ProgramCode per program.
struct IsaPart {
    const char* isa;
    const ProgramCode* programs;
};

/// A table's rows, which the generated file keeps.
template <class Row>
struct Table {
    const Row* rows = nullptr;
    std::size_t count = 0;

    constexpr Table() = default;
    template <std::size_t N>
    constexpr Table(const Row (&table)[N]) : rows(table), count(N) {}
    const Row* begin() const { return rows; }
    const Row* end() const { return rows + count; }
};

/// The batch of a program whose threads need not wait for each other within it (parallel/shards.h).
struct ShardRule {
    int count = 1;  // shards; fewer where there are fewer sequences; 1: the batch is not cut
    int dim = -1;  // of Model::dims, how many sequences there are: the first dim of what has it
    std::int64_t most_floats = 0;  // of the sums over the batch: where they are more, it is not cut
    const ShardedRuns* runs = nullptr;  // null: the batch is not cut
};

/// As Program has it; `needs` lists the inputs of one output after the other, -1 behind each list.
struct ProgramRow {
    const char* name;
    Rows inputs, outputs;  // f32 [batch, 8] x; or `state f32 …`, or `12 f32 …`: the first phase
    Table<int> needs;
    Rows buffers;  // 0 3 f32 [batch, 8] hidden: the first and the last phase; or `prepared f32 …`,
        // or `shared 2 f32 …`: the number of what is prepared for all programs
    Rows kernels;  // encoder.attention
    Rows computed;  // 2 ids 8*batch model.cpp:12: the ids of gather; or `2 lengths …`
    void (*check_inputs)(const Call&) = nullptr;
    ShardRule shards = {};
    bool reads_padding = false;
    Table<int> whole = {};
};

/// As Model has it, with the parts to choose among.
struct Description {
    const char* name;
    Rows dims;
    Rows settings;  // hidden 8 default training: that it is the default, in training alone
    Rows parameters;  // f32 [64, 8] xavier_uniform 8 -1 dense.weight: the fan in, the row of zeros;
        // `frozen`, `copied` and `looked_up` stand before
    Table<ProgramRow> programs;
    Rows aliases;  // the name in files, and in a row of its own the parameter
    Table<IsaPart> parts;
    const ProfiledRuns* profiled_runs = nullptr;  // null: FOVEA_PROFILE asks for nothing
    const OpenSizes* open_sizes = nullptr;  // null where the model has none
    const StoredWeights* stored_weights = nullptr;
    Rows config_fields = "";  // hidden_act silu: the values that the model is right for
    const VerifiedConfigs* verified_configs = nullptr;  // null where the model has no settings
    const SharedBuffers* shared_buffers = nullptr;
    const FileWeights* file_weights = nullptr;  // null where weights had better be copied
};

/// The model of these tables with the part that `choose_isa` chooses, whose UserError it passes on.
/// The caller keeps it as long as the process lasts.
const Model& new_model(const Description& description);

}  // namespace fovea::runtime
