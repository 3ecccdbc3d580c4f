// Cross entropy of logits with any leading axes, as PyTorch has it.
#pragma once

#include <optional>

#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/losses/cross_entropy.h"
#include "codegen/ops/reduction.h"

namespace fovea {

struct CrossEntropyOptions {
    std::optional<int> ignored = std::nullopt;  // the label of what has no loss
    double label_smoothing = 0;  // spread evenly over all classes, whose number is then static
    bool mean = true;  // over the labels that are not ignored; false: the terms, [...]
};

namespace detail {

constexpr bool are_logits_and_labels(Tensor logits, Tensor labels,
                                     const CrossEntropyOptions& options, Location location) {
    const Shape &x = logits.shape(), &y = labels.shape();
    bool ok = x.rank() == y.rank() + 1 && is_float(logits.dtype()) && labels.dtype() == i32;
    for (int i = 0; ok && i < y.rank(); ++i) ok = fits(x[i], y[i]);
    Text text;
    if (!ok) {
        text << "cross_entropy: logits " << name_of(logits.dtype()) << " " << x;
        logits.graph->write_origin(text, logits.id);
        text << " do not match labels " << name_of(labels.dtype()) << " " << y
             << " (expected [..., classes], i32 [...])";
    } else if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
        text << "cross_entropy: label smoothing must be in [0, 1]";
    } else if (options.label_smoothing > 0 && (!x[-1].is_static() || x[-1].value() < 2)) {
        text << "cross_entropy: label smoothing needs a static number of classes, at least 2, got "
             << x[-1];
    } else {
        return true;
    }
    fail(*logits.graph, location, logits.graph->scope_of(logits.id), text);
    return false;
}

}  // namespace detail

/// -ln softmax(logits) at the labels, in nats: logits [..., classes], labels i32 [...] → [], the
/// mean, NaN of none; or each term. A label that is ignored may be no class.
template <class = void>
constexpr Tensor cross_entropy(Tensor logits, Tensor labels, CrossEntropyOptions options = {},
                               Location location = Location::here()) {
    if (!is_usable("cross_entropy", location, {logits, labels})) return poison_of({logits, labels});
    if (!detail::are_logits_and_labels(logits, labels, options, location)) return {logits.graph, 0};
    const detail::At at{location};
    const Shape shape = labels.shape();
    const Dim classes = logits.dim(-1);
    const auto in_rows = [&](Tensor x) {  // [rows, 1, ...]
        return unsqueeze(
            shape.rank() ? flatten(x, 0, shape.rank() - 1, location) : unsqueeze(x, 0, location), 1,
            location);
    };
    Tensor counts, targets = labels;
    if (options.ignored) {
        counts = logical_not(eq(at(labels), *options.ignored), location);
        targets = where(counts, at(labels), 0);
    }
    // The op below spreads ε over the other classes alone.
    double smoothing = options.label_smoothing;
    if (smoothing > 0) smoothing *= double(classes.value() - 1) / double(classes.value());
    Tensor rows = in_rows(logits), of_rows = in_rows(targets);
    Tensor terms = smoothed_cross_entropy(rows, of_rows, kNoLabel, smoothing, location);
    terms = shape.rank() ? unflatten(terms, 0, shape, location) : squeeze(terms, 0, location);
    if (options.ignored) terms = where(counts, at(terms), 0.0);
    if (!options.mean) return terms;
    Tensor total = flatten(terms, 0, -1, location);
    if (!options.ignored) return mean(total, 0, false, location);
    Tensor count = flatten(cast(counts, f32, location), 0, -1, location);
    return at(sum(total, 0, false, location)) / sum(count, 0, false, location);
}

}  // namespace fovea
