// A program made at random: a list of lines, each an op on the results of earlier ones. It builds
// its graph with the functions that models use, and prints itself as a model file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.h"
#include "dsl/scope.h"

namespace fovea::tool::fuzz {

struct FuzzOp;

struct Line {
    const FuzzOp* op = nullptr;
    std::vector<int> operands{};        // numbers of earlier lines
    std::vector<std::int64_t> whole{};  // axes, kinds and other choices
    std::vector<double> numbers{};
    std::vector<Dim> dims{};
    bool checkpoint = false;  // in one with the lines beside it that are, too
    DType memory = f32;  // that an input of the program is cast from, an output to
};

struct Recipe {
    std::string name;
    std::vector<Line> lines{};
    std::vector<int> outputs{};                // lines
    std::map<std::string, std::int64_t> sizes{};  // of symbolic dims
    std::uint64_t seed = 0;                    // of the values
    double scale = 1;                          // of the float inputs
    DType dtype = f32;       // of weights and activations in memory
    bool tf32 = false;       // products on a GPU round their operands to tf32
    std::string schedule{};  // lines that change numbers of the targets
};

/// Whether kernels round to fewer digits than float32 has.
inline bool rounds(const Recipe& recipe) { return recipe.dtype != f32 || recipe.tf32; }

/// What a line makes: its tensor, and the expression that makes it in a model file.
struct Made {
    Tensor tensor;
    std::string text;
};

/// What a row's `make` is given: the line, and the results of the lines before it.
class Maker {
  public:
    Maker(Graph& graph, const Line& line, int number, const std::vector<Tensor>& made)
        : graph_(graph), line_(line), number_(number), made_(made) {}

    Graph& graph() const { return graph_; }
    const Line& line() const { return line_; }

    Tensor tensor(int i) const { return made_[std::size_t(line_.operands[std::size_t(i)])]; }
    /// `t3`
    std::string name(int i) const { return "t" + std::to_string(line_.operands[std::size_t(i)]); }
    /// `part` and the line's number, for parameters, inputs and modules.
    std::string own_name(const std::string& part) const { return part + std::to_string(number_); }
    int whole(int i) const { return int(line_.whole[std::size_t(i)]); }
    double value(int i) const { return line_.numbers[std::size_t(i)]; }
    const Dim& dim(int i) const { return line_.dims[std::size_t(i)]; }
    Scope scope() const { return Scope{&graph_}; }

  private:
    Graph& graph_;
    const Line& line_;
    int number_;
    const std::vector<Tensor>& made_;
};

class Drawing;

/// One kind of line.
struct FuzzOp {
    const char* name;
    int weight;  // how often it is drawn
    /// Fills operands and choices; false where no earlier result fits.
    bool (*draw)(Drawing&, Line&);
    Made (*make)(const Maker&);
};

/// All rows.
const std::vector<FuzzOp>& fuzz_ops();
const FuzzOp& fuzz_op(std::string_view name);

struct Built {
    Graph graph;
    std::string source;
};

/// The graph and the model file. UserError where the model is refused.
Built build(const Recipe& recipe);

/// As a model file has them.
std::string text_of(const Dim& dim);
std::string text_of(const Shape& shape);
std::string text_of(double number);

}  // namespace fovea::tool::fuzz
