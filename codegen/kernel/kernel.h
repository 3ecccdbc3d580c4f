// Kernel IR: one fused kernel as a tile program over named axes.
//
// A tile's type is its set of axes, so broadcasting is implied: a map of a tile {k} and a tile {}
// is a tile {k}. A program holds no layout, memory space, barrier or tail; a target places it.
//
//   kernel  = name, axes, buffers, block
//   block   = node*
//   node    = constant v {axes} | extent d        a number; a size as a number
//           | index axis                          the position along an axis
//           | load access                         a buffer at the current position
//           | map f (tile...)                     elementwise; axes = union of the operands' axes
//           | random                              dropout's factor: 0 or 1 / (1 - p)
//           | reduce sum|max axes tile [by axis]  over whole axes; they leave the type
//           | contract axes (a, b)                sum over the axes of a * b
//           | store access = tile | += tile
//           | each axis block                     independent points: the axis leaves the types
//           | par axis block                      independent tiles: the axis stays in the types
//           | seq axis block                      points in order: the axis leaves the types
//           | tiles axis [lower, upper) carry {..} block next {..}
//                                                 tiles in order: inside, the axis is the part of
//                                                 it that the tile covers, reductions over it too
//           | valid axis                          whether a position lies within its loop's bounds
//           | carried | result                    a carried value inside, and after, its loop
//
// The bounds of `tiles` are tiles themselves, over other axes: a valid length is one number, a
// causal bound differs from row to row. The tiles cover every valid position and perhaps more, as
// many as a target likes; `valid` tells which they are, and a kernel's results depend on no other.
//
// Nodes are numbered in the order of their making; a node is in exactly one block and uses only
// nodes made before it in its block or an enclosing one.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "codegen/base/dim.h"
#include "codegen/base/dtype.h"
#include "codegen/base/elementwise.h"
#include "codegen/base/weight_storage.h"

namespace fovea::kernel {

using Id = int;
using AxisId = int;

/// A named range of positions, 0 to extent - 1.
struct Axis {
    std::string name;
    Dim extent;
    std::int64_t most = 0;  // positions of a chunk, where a loop takes so many; 0: of no loop
};

/// Memory that a kernel reads or writes, row-major in `shape`. Elements of a weight that lies as
/// whole numbers with scales are floats to the kernel, as others are: `storage` says how they lie.
struct Buffer {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Dim> shape;
    bool written = false;
    bool optional = false;  // stored to where there is such memory: some programs have none
    WeightStorage storage{};
    /// Rows that ids pick are all that is read of it: on a CPU it may lie as floats of 16 bits, as
    /// weights in a file do.
    bool looked_up = false;
};

/// `stride` elements per step along `axis`. With `panel` > 0 the axis lies in panels of so many,
/// `step` elements apart: position p at p / panel * stride + p % panel * step.
struct Stride {
    AxisId axis = 0;
    Dim stride;
    int panel = 0, step = 1;

    bool operator==(const Stride&) const = default;
};

/// An element of a buffer: offset + sum of position * stride (+ row * row_stride).
struct Access {
    int buffer = 0;
    std::vector<Stride> strides{};
    Dim offset{};
    Id row = -1;  // an i32 tile whose value picks a row (gather, scatter-add); -1: none
    Dim row_stride{};  // elements per row
};

enum class Reduction { sum, max };

struct Constant {
    double value = 0;
    std::vector<AxisId> axes = {};
};
struct Extent {
    Dim dim;
};
struct Index {
    AxisId axis = 0;
};
struct Load {
    Access access;
};
/// With `cast_to`, of identity: the value as that type. To i32, the whole part of a number, i32's
/// smallest where i32 cannot hold it. To bf16 or f16, a tile of f32 whose values are rounded.
struct Map {
    Elementwise function = Elementwise::identity;
    std::vector<Id> operands;
    std::optional<DType> cast_to = {};
};
/// The factor of dropout at (row, column): drawn from the counter (step, site, row, column / 4).
/// A kernel is given its sites when it runs, so that steps that differ in nothing else share it.
struct Random {
    int site = 0;
    double probability = 0;
    std::vector<Stride> row, column;
};
/// With `blocks`, an axis that only results have, the positions along `axes`, one after the other
/// as in memory, are cut into that many blocks of nearly the same length, each with its own sum.
struct Reduce {
    Reduction reduction = Reduction::sum;
    std::vector<AxisId> axes;
    Id operand = -1;
    AxisId blocks = -1;
};
/// What the operands of a product may be rounded to, if they do not lie so in memory, to be
/// multiplied in pairs or as matrices: bfloat16, float16, or tf32, a float with 10 bits of
/// fraction, where a target multiplies that. Sums are float32.
enum class Factors { f32, bf16, f16, tf32 };
constexpr bool is_half(Factors factors) {
    return factors == Factors::bf16 || factors == Factors::f16;
}
/// What memory holds of such factors.
constexpr DType dtype_of(Factors factors) {
    return factors == Factors::bf16  ? DType::bf16
           : factors == Factors::f16 ? DType::f16
                                     : DType::f32;
}
/// Those of what memory holds: of f32, floats.
constexpr Factors factors_of(DType dtype) {
    return dtype == DType::bf16 ? Factors::bf16 : dtype == DType::f16 ? Factors::f16 : Factors::f32;
}
/// With `blocks`, as a sum: each position along it has the products of one block of positions.
struct Contract {
    std::vector<AxisId> axes;
    Id a = -1, b = -1;
    Factors factors = Factors::f32;
    AxisId blocks = -1;
};
struct Store {
    Access access;
    Id value = -1;
    bool accumulate = false;
};
/// Whether a position along the axis of a `tiles` loop around lies within the loop's bounds.
struct Valid {
    AxisId axis = 0;
    Id lower = -1, upper = -1;  // those of the loop
};
/// A loop-carried value of a `tiles` loop: `argument` is the Carried node inside, `next` its value
/// after the tile; both have the axes of `initial`.
struct Carry {
    Id initial = -1, argument = -1, next = -1;
};
struct Carried {
    Id initial = -1;
};
/// Value `number` among those that the loop carries, after its last tile.
struct Result {
    Id loop = -1;
    int number = 0;
};
enum class LoopKind { each, par, seq, tiles };
struct Loop {
    LoopKind kind = LoopKind::each;
    AxisId axis = 0;
    std::vector<Id> body;
    Id lower = -1, upper = -1;  // i32 tiles without the axis; -1: its first and last position
    std::vector<Carry> carries = {};
};

using Operation = std::variant<Constant, Extent, Index, Load, Map, Random, Reduce, Contract, Store,
                               Loop, Valid, Carried, Result>;

struct Node {
    Operation operation;
    std::vector<AxisId>
        axes;  // of its tile, ascending, without the `each` and `seq` axes around it
    DType dtype = DType::f32;
    std::string name;  // for printing and for variables; may be empty
};

struct Steps;

/// Which loops a kernel has, by which every target writes it in a way of its own.
enum class Form {
    rows,  // points outside, passes over the axes of one tile inside
    contraction,  // a product with an epilogue
    scatter,  // points in order: rows added to a table
    tiles,  // loops over tiles
    scan,  // other kernels, once for each step or each chunk
};

struct Kernel {
    std::string name;  // encoder_block0_attention_softmax
    std::string formula;  // one line for readers: y = softmax(where(keep, x, -1e6))
    std::vector<std::string> sources;  // "transformer.cpp:21", the user's lines it comes from
    std::vector<Axis> axes;
    std::vector<Buffer> buffers;  // in the order of the arguments
    std::vector<Node> nodes;
    std::vector<Id> body;
    std::shared_ptr<const Steps> steps = {};  // instead of a body: others, once for each step
    Form form = Form::rows;  // as it was built; rewrites keep it
    bool ends_early = false;  // its last tasks have less to do than its first, or nothing
};

/// What a kernel of a step is given for one of its buffers: the elements of `buffer` from
/// offset + number of the step * step + first row * row on.
struct StepArgument {
    int buffer = 0;
    Dim offset{}, step{}, row{};
};
struct StepCall {
    int kernel = 0;  // into Steps::kernels
    std::vector<StepArgument> arguments;  // for its buffers
    bool waits = false;  // for what the calls before it wrote
};
/// Before the first step, `from` is copied to `to`: `size` elements for each row. Zeros where
/// `from` has no buffer (-1).
struct StepStart {
    StepArgument from, to;
    Dim size;
};
/// A scan: its kernels run in the order of `calls`, once for each step. With `chunk` > 0, a loop
/// over `count` positions: each step takes `chunk` of them, the last one the rest; symbol
/// `positions` is how many, in its kernels.
struct Steps {
    Dim count;
    std::int64_t chunk = 0;
    Symbol positions{};
    bool reverse = false;  // from the last step to the first
    /// The first dim of every value of a step, along which steps are independent (the batch): each
    /// thread runs some of its positions through all steps. Empty: threads share each kernel.
    Symbol rows{};
    std::vector<Kernel> kernels;
    std::vector<StepCall> calls;
    std::vector<StepStart> starts;
};

/// Whether the axis of such a loop leaves the types of the tiles inside.
constexpr bool leaves_types(LoopKind kind) {
    return kind == LoopKind::each || kind == LoopKind::seq;
}

/// The operation of node `id` as a T, or null.
template <class T>
const T* as(const Kernel& kernel, Id id) {
    return std::get_if<T>(&kernel.nodes[std::size_t(id)].operation);
}
template <class T>
T* as(Kernel& kernel, Id id) {
    return std::get_if<T>(&kernel.nodes[std::size_t(id)].operation);
}

/// What node `id` loads or stores, or null.
inline const Access* access_of(const Kernel& kernel, Id id) {
    if (const auto* load = as<Load>(kernel, id)) return &load->access;
    if (const auto* store = as<Store>(kernel, id)) return &store->access;
    return nullptr;
}

/// The form that a kernel's loops make: what `Kernel::form` is set to when a kernel is built.
Form form_of_loops(const Kernel& kernel);

/// The sites at which a kernel draws, each once, in the order of its nodes.
std::vector<int> sites_of(const Kernel& kernel);

/// The tiles that a node reads (those of its access, the bounds and initial values of a loop
/// included, those inside a loop not).
std::vector<Id> operands_of(const Kernel& kernel, Id id);

/// The stride of the first of `strides` along the axis, of neighbours within a panel where it lies
/// in panels; 0 where there is none.
Dim stride_along(const std::vector<Stride>& strides, AxisId axis);

/// Adds a node and all that it is made of to `found`; negative: none.
void add_with_operands(const Kernel& kernel, Id id, std::set<Id>& found);

}  // namespace fovea::kernel
