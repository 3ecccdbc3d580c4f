// Composition works on a common refinement of the axes that lie between the two rearrangements.
#include "codegen/ops/rearrange_axes.h"

#include <span>
#include <vector>

namespace fovea {

namespace {

int groups_of(const FixedArray<signed char, Shape::kMaxRank>& group) {
    int count = 0;
    while (count < Shape::kMaxRank && group[std::size_t(count)] >= 0) ++count;
    return count;
}

/// A rearrangement with lists in place of fixed arrays: pieces[i] makes up elementary axis i.
struct Refinement {
    std::vector<Dim> sizes;                // of all pieces
    std::vector<std::vector<int>> pieces;  // of each elementary axis, major first
};

/// Splits two lists of axes with the same product until they agree; false when they do not nest.
bool refine(std::span<const int> first, std::span<const int> second, const RearrangeAxes& a,
            const RearrangeAxes& b, Refinement& in_a, Refinement& in_b) {
    std::size_t i = 0, k = 0;
    Dim rest_a(1), rest_b(1);
    for (;;) {
        while (rest_a.is_one() && i < first.size()) rest_a = a.axis[std::size_t(first[i++])];
        while (rest_b.is_one() && k < second.size()) rest_b = b.axis[std::size_t(second[k++])];
        if (rest_a.is_one() && rest_b.is_one()) return true;
        bool a_is_smaller = rest_b.divisible_by(rest_a);
        if (!a_is_smaller && !rest_a.divisible_by(rest_b)) return false;
        Dim piece = a_is_smaller ? rest_a : rest_b;
        int number = int(in_a.sizes.size());
        in_a.sizes.push_back(piece);
        in_a.pieces[std::size_t(first[i - 1])].push_back(number);
        in_b.pieces[std::size_t(second[k - 1])].push_back(number);
        rest_a = rest_a == piece ? Dim(1) : rest_a / piece;
        rest_b = rest_b == piece ? Dim(1) : rest_b / piece;
    }
}

}  // namespace

RearrangeAxes inverse(const RearrangeAxes& axes) {
    RearrangeAxes result;
    result.count = axes.count;
    result.input_group = axes.output_group;
    result.output_group = axes.input_group;
    for (int i = 0; i < axes.count; ++i) {
        int from = axes.order[std::size_t(i)];
        result.axis[std::size_t(i)] = axes.axis[std::size_t(from)];
        result.order[std::size_t(from)] = (signed char)i;
    }
    return result;
}

std::optional<RearrangeAxes> compose(const RearrangeAxes& first, const RearrangeAxes& second) {
    Refinement a{{}, std::vector<std::vector<int>>(std::size_t(first.count))};
    Refinement b{{}, std::vector<std::vector<int>>(std::size_t(second.count))};
    int at_a = 0, at_b = 0;
    for (int g = 0; g < groups_of(first.output_group); ++g) {
        std::vector<int> middle_a, middle_b;
        for (int i = 0; i < first.output_group[std::size_t(g)]; ++i)
            middle_a.push_back(first.order[std::size_t(at_a++)]);
        for (int i = 0; i < second.input_group[std::size_t(g)]; ++i) middle_b.push_back(at_b++);
        if (!refine(middle_a, middle_b, first, second, a, b)) return {};
    }
    if (a.sizes.size() > RearrangeAxes::kMax) return {};
    RearrangeAxes result;
    result.input_group = first.input_group;
    result.output_group = second.output_group;
    std::vector<int> number(a.sizes.size());
    int at = 0;
    for (int g = 0, e = 0; g < groups_of(first.input_group); ++g) {
        int before = result.count;
        for (int i = 0; i < first.input_group[std::size_t(g)]; ++i, ++e)
            for (int piece : a.pieces[std::size_t(e)]) {
                number[std::size_t(piece)] = result.count;
                result.axis[std::size_t(result.count++)] = a.sizes[std::size_t(piece)];
            }
        result.input_group[std::size_t(g)] = (signed char)(result.count - before);
    }
    for (int g = 0, e = 0; g < groups_of(second.output_group); ++g) {
        int before = at;
        for (int i = 0; i < second.output_group[std::size_t(g)]; ++i, ++e)
            for (int piece : b.pieces[std::size_t(second.order[std::size_t(e)])])
                result.order[std::size_t(at++)] = (signed char)number[std::size_t(piece)];
        result.output_group[std::size_t(g)] = (signed char)(at - before);
    }
    return simplified(result);
}

RearrangeAxes simplified(const RearrangeAxes& axes) {
    std::array<int, RearrangeAxes::kMax> output_of{},
        place{};  // the group and the place in `order`
    for (int g = 0, at = 0; g < groups_of(axes.output_group); ++g)
        for (int i = 0; i < axes.output_group[std::size_t(g)]; ++i, ++at) {
            std::size_t e = std::size_t(axes.order[std::size_t(at)]);
            output_of[e] = g;
            place[e] = at;
        }
    RearrangeAxes result = axes;
    result.count = 0;
    std::array<int, RearrangeAxes::kMax> merged{};  // the new number of each axis; -1: gone
    for (int g = 0, e = 0; g < groups_of(axes.input_group); ++g) {
        int before = result.count, last = -1;
        for (int i = 0; i < axes.input_group[std::size_t(g)]; ++i, ++e) {
            std::size_t k = std::size_t(e);
            merged[k] = -1;
            if (axes.axis[k].is_one()) continue;
            bool joins = last >= 0 && output_of[std::size_t(last)] == output_of[k] &&
                         place[k] == place[std::size_t(last)] + 1;
            last = e;
            if (joins) {
                Dim& size = result.axis[std::size_t(result.count - 1)];
                size = size * axes.axis[k];
                continue;
            }
            merged[k] = result.count;
            result.axis[std::size_t(result.count++)] = axes.axis[k];
        }
        result.input_group[std::size_t(g)] = (signed char)(result.count - before);
    }
    for (int g = 0, at = 0, to = 0; g < groups_of(axes.output_group); ++g) {
        int before = to;
        for (int i = 0; i < axes.output_group[std::size_t(g)]; ++i, ++at) {
            int number = merged[std::size_t(axes.order[std::size_t(at)])];
            if (number >= 0) result.order[std::size_t(to++)] = (signed char)number;
        }
        result.output_group[std::size_t(g)] = (signed char)(to - before);
    }
    result.pattern = {};
    return result;
}

bool is_permutation(const RearrangeAxes& axes) {
    for (int i = 0; i < Shape::kMaxRank; ++i) {
        std::size_t k = std::size_t(i);
        if (axes.input_group[k] != axes.output_group[k]) return false;
        if (axes.input_group[k] >= 0 && axes.input_group[k] != 1) return false;
    }
    return true;
}

bool is_identity(const RearrangeAxes& axes) {
    RearrangeAxes simple = simplified(axes);
    if (simple.input_group != simple.output_group) return false;
    for (int i = 0; i < simple.count; ++i)
        if (simple.order[std::size_t(i)] != i) return false;
    return true;
}

}  // namespace fovea
