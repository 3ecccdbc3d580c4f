// A loop over chunks of positions as one kernel: small graphs are fused and lowered, each value a
// place in memory that moves from chunk to chunk. Loops stand inside each other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/graph/graph.h"
#include "codegen/lower/memories.h"

namespace fovea::lower {

/// What an input or an output of a chunk's graph is: what the loop is given as `operand`, from its
/// first element on, and `step` further with each chunk. Several may be the same place: a sum is
/// read and written.
struct ChunkPlace {
    int operand = 0;
    Dim step{};
};
using ChunkPlaces = std::map<std::string, ChunkPlace>;

class ChunkLoop {
  public:
    /// `chunk` of `count` positions at a time; `positions` is the dim that says how many in the
    /// graphs. Without `around`, what it needs besides is memory of the program.
    ChunkLoop(Memories& memories, std::string_view positions, std::int64_t chunk, const Dim& count,
              ChunkLoop* around = nullptr);

    /// Something that a loop of the program reads or writes: a memory, or room for what each chunk
    /// makes for itself, where a dim that is the size of a chunk stands for that of a whole one.
    int operand(int memory);
    int scratch(const std::string& name, DType dtype, const std::vector<Dim>& shape);
    /// Of a loop in another: what that one has as `place`, of this name and shape.
    int operand(const std::string& name, DType dtype, const std::vector<Dim>& shape,
                const ChunkPlace& place);

    /// `size` elements from the first of an operand on are zero before the first chunk.
    void clear(int operand, const Dim& size);
    /// Runs the kernels of a graph for each chunk, `name` and so on; `places` by the names of its
    /// inputs and outputs.
    void add(const std::string& name, const Graph& graph, const ChunkPlaces& places);
    /// Runs a loop in this one.
    void add(ChunkLoop& inner, const std::string& name, const std::string& formula);

    /// The loop, and the memories of its buffers.
    LoweredKernel finish(const std::string& name, const std::string& formula);

  private:
    struct Operand {
        kernel::Buffer buffer;
        int memory = -1;  // of the program
        ChunkPlace place{};  // in the loop around
    };
    struct Argument {
        int operand = 0;
        Dim step{};
        bool written = false;
    };
    int add_operand(Operand operand);
    void call(kernel::Kernel kernel, const std::vector<Argument>& arguments);
    /// Operands in the order of the kernel's buffers: those that are only read first.
    std::vector<int> order() const;
    kernel::Kernel make(const std::string& name, const std::string& formula,
                        const std::vector<int>& order) const;

    Memories& memories_;
    ChunkLoop* around_;
    kernel::Steps steps_;
    std::vector<Operand> operands_;
    std::vector<int> wrote_, read_;  // by the calls since the last wait
    std::vector<std::string> sources_;
};

}  // namespace fovea::lower
