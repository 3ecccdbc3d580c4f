// What a generated file says about its model, in tables of plain types: a compiler reads them in a
// fraction of the time that it takes for the standard headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "call.h"
#include "dtypes.h"

namespace fovea::runtime {

struct Model;

/// How a parameter starts. `fan_in` and `fan_out` come from its shape ([out, in]).
enum class Initial {
    zeros,
    ones,
    xavier_uniform,      // U(-a, a), a = sqrt(6 / (in + out)); Glorot and Bengio 2010
    normal,              // N(0, 1)
    linear_bias,         // U(-a, a), a = 1 / sqrt(in of the layer); PyTorch's nn.Linear
};

/// A shape is written `[batch, 64*src_len+1, 8]`, with the names of the model's dims.
struct ParameterRow {
    const char* name;
    DType dtype;
    const char* shape;
    Initial initial;
    std::int64_t fan_in;
    std::int64_t zero_row = -1;
};
struct TensorRow {
    const char* name;
    DType dtype;
    const char* shape;
};
struct BufferRow {
    const char* name;
    DType dtype;
    const char* shape;
    int first, last;
    bool prepared;
};

/// Ids or lengths that the program computes; `of` is where the model reads them.
struct CheckRow {
    int buffer;
    bool lengths;
    const char* limit;
    const char* of;
};

/// The kernels of a model for one instruction set: a ProgramCode per program.
struct IsaPart {
    const char* isa;
    const ProgramCode* programs;
};

struct SettingRow {
    const char *name, *value;
};
struct AliasRow {
    const char *name, *parameter;
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

/// As Program has it; `needs` lists the inputs of one output after the other, -1 behind each list.
struct ProgramRow {
    const char* name;
    Table<TensorRow> inputs, outputs;
    Table<int> needs;
    Table<BufferRow> buffers;
    Table<const char*> kernels;
    Table<CheckRow> computed;
    void (*check_inputs)(const Call&) = nullptr;
};

/// As Model has it, with the parts to choose among.
struct Description {
    const char* name;
    Table<const char*> dims;
    Table<SettingRow> settings;
    Table<ParameterRow> parameters;
    Table<ProgramRow> programs;
    Table<AliasRow> aliases;
    Table<IsaPart> parts;
};

/// The model of these tables with the part that `choose_isa` chooses, whose UserError it passes on.
/// The caller keeps it as long as the process lasts.
const Model& new_model(const Description& description);

}  // namespace fovea::runtime
