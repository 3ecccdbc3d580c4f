// Losses of a product, which store no logits where that is asked for.
#include <fmt/format.h>

#include "codegen/ops/composed/losses.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

/// Which loss it is: of lengths, or of options (bits 1, 2, 4: ignored, smoothed, the mean).
enum Kind { of_lens, of_padding, of_options };
/// What becomes of the product; other numbers: nothing.
enum Curve { capped = 2, scaled };

bool draw_product_loss(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && t.rank() > 0 && t.rank() < 4 && t.dim(-1).is_static() &&
               t.dim(-1).value() > 0;
    });
    if (x < 0) return false;
    const Shape shape = d.tensor(x).shape();
    const int kind = shape.rank() == 3 ? d.below(3) : int(of_options);
    int options = d.below(8);
    Shape steps;
    for (int i = 0; i + 1 < shape.rank(); ++i) steps.push(shape[i].without_label());
    if (d.size(steps) == 0 || options & 1) options &= 3;  // the mean of none is no number
    const Dim classes(2 + d.below(d.chance(0.3) ? 60 : 12));
    const int weight = d.leaf({classes, shape[-1]}), bias = d.leaf({classes}),
              labels = d.leaf(steps, i32);
    line.operands = {x, weight, bias, labels};
    if (kind == of_lens) line.operands.push_back(d.leaf({steps[0]}, i32));
    line.whole = {kind, options, d.below(2), d.below(4)};
    return true;
}
Made make_product_loss(const Maker& m) {
    const bool has_bias = m.whole(2) == 1;
    Tensor logits = linear_product(m.tensor(0), m.tensor(1));
    if (has_bias) logits = logits + m.tensor(2);
    std::string product =
        fmt::format("linear({}, {}{})", m.name(0), m.name(1), has_bias ? ", " + m.name(2) : "");
    if (m.whole(3) == capped) {
        logits = tanh(logits / 2.5) * 2.5;
        product = fmt::format("tanh({} / 2.5) * 2.5", product);
    } else if (m.whole(3) == scaled) {
        logits = 0.5 * logits;
        product = fmt::format("0.5 * {}", product);
    }
    const bool ignores = m.whole(0) == of_options && m.whole(1) & 1;
    Tensor labels = m.tensor(3);
    std::string name = m.name(3);
    if (ignores) {  // what stands for an ignored label is computed, and is not drawn in range
        labels = minimum(maximum(labels, 0), 1);
        name = fmt::format("minimum(maximum({}, 0), 1)", name);
    }
    if (m.whole(0) == of_lens)
        return {cross_entropy(logits, labels, m.tensor(4)),
                fmt::format("cross_entropy({}, {}, {})", product, name, m.name(4))};
    const bool smooths = m.whole(1) & 2, mean = m.whole(1) & 4;
    if (m.whole(0) == of_padding) {
        const double smoothing = smooths ? 0.1 : 0;
        return {smoothed_cross_entropy(logits, labels, 1, smoothing),
                fmt::format("smoothed_cross_entropy({}, {}, 1, {})", product, name,
                            text_of(smoothing))};
    }
    CrossEntropyOptions options{.label_smoothing = smooths ? 0.1 : 0, .mean = mean};
    if (ignores) options.ignored = 1;
    return {cross_entropy(logits, labels, options),
            fmt::format("cross_entropy({}, {}, {{{}{}.mean = {}}})", product, name,
                        ignores ? ".ignored = 1, " : "", smooths ? ".label_smoothing = 0.1, " : "",
                        mean)};
}

}  // namespace

void append_loss_lines(std::vector<FuzzOp>& ops) {
    ops.push_back({"product loss", 4, draw_product_loss, make_product_loss});
}

}  // namespace fovea::tool::fuzz
