// Programs drawn at random, line by line: each line is built at once, so that the next ones know
// the shapes that are there.
#pragma once

#include <functional>
#include <set>

#include "runtime/training/random_stream.h"
#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

class Drawing {
  public:
    explicit Drawing(std::uint64_t seed);

    /// A whole number from 0 to `limit` - 1; true with a probability; one of a list.
    int below(int limit) { return int(random_.below(next_++, std::uint64_t(limit))); }
    bool chance(double probability) { return random_.uniform(next_++) < probability; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[std::size_t(below(int(list.size())))];
    }
    /// A number as models have them: mostly small, sometimes 0, 1, -1 or large.
    double number();

    /// One of the program's dims, of which there are few, so that shapes meet.
    const Dim& dim() { return one_of(dims_); }
    Shape shape(int rank);
    /// The width of an operand of a product, from 1 to `limit`, or, where kernels round, one that
    /// they take tensor cores for.
    std::int64_t width(int limit);
    /// That of a query and a key.
    std::int64_t head_width();
    std::int64_t size(const Dim& dim) const;
    std::int64_t size(const Shape& shape) const;

    const Tensor& tensor(int line) const { return made_[std::size_t(line)]; }
    /// An earlier line whose tensor fits, mostly one of the last; -1: there is none.
    int pick(const std::function<bool(const Tensor&)>& fits);
    /// An earlier float32 tensor of such a rank, or a new leaf.
    int floats(int least_rank, int most_rank);
    /// A float32 tensor of this shape: an earlier one, or a new leaf.
    int floats(const Shape& shape);
    /// A new input or parameter; ids are inputs.
    int leaf(const Shape& shape, DType type = f32);
    /// A shape that broadcasts to the given one: some axes are 1, some leading ones missing.
    Shape narrower(const Shape& shape);

    DType memory_of_next() const;
    /// Adds a line that is made of others.
    int add(Line line);
    Recipe take(int lines);

  private:
    bool try_line();
    void draw_outputs();
    void bear_sizes();
    void draw_checkpoint();

    runtime::RandomStream random_;
    std::uint64_t next_ = 0;
    std::vector<Dim> dims_;
    Recipe recipe_;
    Graph graph_;
    std::vector<Tensor> made_;
};

/// The program of a seed: as many lines as it says, leaves apart.
Recipe draw_recipe(std::uint64_t seed);

}  // namespace fovea::tool::fuzz
