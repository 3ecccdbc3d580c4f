// Patterns of rearrange and einsum, given to both with tensors of many ranks: what is accepted
// makes a tensor, what is refused is refused with a sentence.

#include <cstring>
#include <set>
#include <string>

#include <fovea.h>

#include "tests/readers/reader.h"

using namespace fovea;
using namespace fovea::readers;

namespace {

/// Of rank `rank`, its sizes by the bits of `kinds`: 1, static, symbolic, a sum.
Tensor input(Scope s, const char* name, int rank, unsigned kinds) {
    const Dim sizes[] = {Dim(1),
                         Dim(6),
                         Dim("batch"),
                         Dim("len"),
                         Dim("hidden", 12),
                         Dim(4),
                         Dim("len") + Dim(1),
                         Dim("batch") * Dim(4)};
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push(sizes[(kinds >> (3 * i)) % 8]);
    return s.input(name, shape);
}

/// A model that calls `op`, which refuses with a sentence or makes a tensor.
template <class Op>
void check(Op&& op) {
    accepts<UserError>([&] {
        Graph graph;
        const Tensor result = op(Scope{&graph});
        require(!result.is_poison() && graph.errors.empty(), "refused without a word");
        require(result.rank() <= Shape::kMaxRank, "too many axes");
    });
}

void check_arrow(const std::string& text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size() && text.substr(i, 2) != "->"; ++i)
        depth += (text[i] == '(') - (text[i] == ')');
    require(depth == 0, "an arrow between parentheses");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 9) return 0;
    unsigned kinds[2];
    std::memcpy(kinds, data, sizeof kinds);
    const int rank = data[8] % (Shape::kMaxRank + 1), other = data[8] / 8 % (Shape::kMaxRank + 1);
    // Symbols keep the pointer.
    static std::set<std::string>& texts = *new std::set<std::string>;
    if (texts.size() > 1000) texts.clear();
    const std::string& text = *texts.emplace(text_of(data + 9, size - 9)).first;
    const Pattern pattern = Pattern::at_run_time(text.c_str());
    if (pattern.parsed.mistake == PatternMistake::none) check_arrow(pattern.text.data());
    check([&](Scope s) {
        return rearrange(input(s, "x", rank, kinds[0]), pattern, {"h", Dim(data[8] % 5)},
                         {"d", Dim("heads")});
    });
    check([&](Scope s) { return rearrange(input(s, "x", rank, kinds[0]), pattern); });
    check([&](Scope s) {
        return einsum(pattern, input(s, "x", rank, kinds[0]), input(s, "y", other, kinds[1]));
    });
    return 0;
}
