#include "tools/fovea/fuzz/shrink_recipe.h"

#include <algorithm>

namespace fovea::tool::fuzz {

namespace {

bool is_leaf(const Line& line) { return line.operands.empty(); }

/// The tensors of all lines, in `graph`.
std::vector<Tensor> tensors_of(const Recipe& recipe, Graph& graph) {
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < recipe.lines.size(); ++i)
        made.push_back(
            recipe.lines[i].op->make(Maker(graph, recipe.lines[i], int(i), made)).tensor);
    return made;
}

class Shrinker {
  public:
    Shrinker(const Recipe& recipe, const std::function<bool(const Recipe&)>& fails, int tries)
        : recipe_(without_unused_lines(recipe)), fails_(fails), tries_(tries) {}

    Recipe run() {
        if (!recipe_.schedule.empty()) {
            Recipe candidate = recipe_;
            candidate.schedule.clear();
            take(candidate);
        }
        if (rounds(recipe_)) {
            Recipe candidate = recipe_;
            candidate.dtype = f32;
            candidate.tf32 = false;
            take(candidate);
        }
        for (bool shorter = true; shorter && tries_ > 0;)
            shorter = fewer_outputs() || earlier_outputs() || replaced_lines() || smaller_sizes();
        return recipe_;
    }

  private:
    /// Takes `candidate` if it fails, too.
    bool take(const Recipe& candidate) {
        if (tries_-- <= 0) return false;
        const Recipe shorter = without_unused_lines(candidate);
        if (!fails_(shorter)) return false;
        recipe_ = shorter;
        return true;
    }
    bool fewer_outputs() {
        if (recipe_.outputs.size() < 2) return false;
        for (std::size_t i = 0; i < recipe_.outputs.size(); ++i) {
            Recipe candidate = recipe_;
            candidate.outputs.erase(candidate.outputs.begin() + std::ptrdiff_t(i));
            if (take(candidate)) return true;
        }
        return false;
    }
    /// What an output is made of in its place.
    bool earlier_outputs() {
        Graph graph;
        const std::vector<Tensor> made = tensors_of(recipe_, graph);
        for (std::size_t i = 0; i < recipe_.outputs.size(); ++i)
            for (int operand : recipe_.lines[std::size_t(recipe_.outputs[i])].operands) {
                if (is_leaf(recipe_.lines[std::size_t(operand)]) ||
                    made[std::size_t(operand)].dtype() == DType::boolean)
                    continue;
                Recipe candidate = recipe_;
                candidate.outputs[i] = operand;
                if (take(candidate)) return true;
            }
        return false;
    }
    bool replaced_lines() {
        for (int i = int(recipe_.lines.size()); i-- > 0;)
            if (!is_leaf(recipe_.lines[std::size_t(i)]) && (bypassed(i) || cut(i))) return true;
        return false;
    }
    /// An operand of the same shape in the place of line i.
    bool bypassed(int i) {
        Graph graph;
        const std::vector<Tensor> made = tensors_of(recipe_, graph);
        const Tensor& result = made[std::size_t(i)];
        for (int operand : recipe_.lines[std::size_t(i)].operands) {
            const Tensor& other = made[std::size_t(operand)];
            if (other.dtype() != result.dtype() || !(other.shape() == result.shape())) continue;
            Recipe candidate = recipe_;
            for (Line& line : candidate.lines)
                std::replace(line.operands.begin(), line.operands.end(), i, operand);
            std::replace(candidate.outputs.begin(), candidate.outputs.end(), i, operand);
            if (!is_leaf(recipe_.lines[std::size_t(operand)]) && take(candidate)) return true;
        }
        return false;
    }
    /// An input in the place of line i, unless that is an output.
    bool cut(int i) {
        Graph graph;
        const Tensor result = tensors_of(recipe_, graph)[std::size_t(i)];
        const bool is_output =
            std::find(recipe_.outputs.begin(), recipe_.outputs.end(), i) != recipe_.outputs.end();
        if (is_output || result.dtype() == DType::boolean) return false;
        Recipe candidate = recipe_;
        Line& line = candidate.lines[std::size_t(i)];
        line = {.op = &fuzz_op(result.dtype() == f32 ? "input" : "ids")};
        for (const Dim& dim : result.shape()) line.dims.push_back(dim);
        return take(candidate);
    }
    bool smaller_sizes() {
        for (auto& [name, size] : recipe_.sizes)
            for (std::int64_t smaller : {1, 2, 3, 5}) {
                if (smaller >= size) continue;
                Recipe candidate = recipe_;
                candidate.sizes[name] = smaller;
                if (take(candidate)) return true;
            }
        return false;
    }

    Recipe recipe_;
    const std::function<bool(const Recipe&)>& fails_;
    int tries_;
};

}  // namespace

Recipe without_unused_lines(const Recipe& recipe) {
    std::vector<bool> used(recipe.lines.size(), false);
    for (int output : recipe.outputs) used[std::size_t(output)] = true;
    for (std::size_t i = recipe.lines.size(); i-- > 0;)
        if (used[i])
            for (int operand : recipe.lines[i].operands) used[std::size_t(operand)] = true;
    Recipe result = recipe;
    result.lines.clear();
    std::vector<int> number(recipe.lines.size(), -1);
    for (std::size_t i = 0; i < recipe.lines.size(); ++i) {
        if (!used[i]) continue;
        number[i] = int(result.lines.size());
        Line line = recipe.lines[i];
        for (int& operand : line.operands) operand = number[std::size_t(operand)];
        result.lines.push_back(std::move(line));
    }
    for (int& output : result.outputs) output = number[std::size_t(output)];
    return result;
}

Recipe shrink_recipe(const Recipe& recipe, const std::function<bool(const Recipe&)>& fails,
                     int tries) {
    return Shrinker(recipe, fails, tries).run();
}

}  // namespace fovea::tool::fuzz
