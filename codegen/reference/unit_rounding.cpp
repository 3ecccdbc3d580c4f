#include "codegen/reference/unit_rounding.h"

#include <algorithm>
#include <cmath>

namespace fovea {

namespace {

/// The place of a label in a list.
std::size_t place_of(const EinsumAxes::List& list, int label) {
    std::size_t place = 0;
    while (list.label[place] != label) ++place;
    return place;
}

/// For each line along an axis calls take(where its first element lies, what its next ones are
/// apart).
template <class Take>
void for_lines(const Array& array, std::size_t axis, Take take) {
    std::size_t apart = 1, outer = 1;
    for (std::size_t i = 0; i < array.shape.size(); ++i)
        (i > axis ? apart : outer) *= i == axis ? 1 : std::size_t(array.shape[i]);
    const std::size_t count = std::size_t(array.shape[axis]);
    for (std::size_t i = 0; i < outer; ++i)
        for (std::size_t k = 0; k < apart; ++k) take(i * count * apart + k, apart);
}

}  // namespace

void add_unit_rounding(const Graph& graph, const Node& einsum, int number, const Array& value,
                       bool lies_in_halves, Array& bound) {
    const int weight = storage_of(graph[einsum.inputs[1]]) ? 1 : 0;
    const WeightStorage storage = storage_of(graph[einsum.inputs[std::size_t(weight)]]);
    if (!storage || number == weight) return;
    const EinsumAxes& axes = graph.einsums[std::size_t(einsum.attribute)];
    const int step = (weight ? axes.b : axes.a).label[1];
    const std::size_t axis = place_of(number ? axes.b : axes.a, step);
    const std::size_t count = std::size_t(value.shape[axis]), group = std::size_t(storage.group);
    const double lost = lies_in_halves ? kLostOfHalves : kLostOfFloats;
    for_lines(value, axis, [&](std::size_t first, std::size_t apart) {
        for (std::size_t begin = 0; begin < count; begin += group) {
            const std::size_t end = std::min(begin + group, count);
            double largest = 0;
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t at = first + k * apart;
                largest = std::max(largest, std::abs(value.values[at]) + bound.values[at]);
            }
            for (std::size_t k = begin; k < end; ++k)
                bound.values[first + k * apart] += lost * largest;
        }
    });
}

}  // namespace fovea
