// Cross entropy of logits and labels over padded sequences.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// d2l's masked loss: logits [batch, steps, classes], labels i32 [batch, steps], lens i32 [batch] →
/// [batch]: for each sequence the mean over all steps of the terms inside its length, in nats.
constexpr Tensor cross_entropy(Tensor logits, Tensor labels, Tensor lens,
                               Location location = Location::here()) {
    if (!is_usable("cross_entropy", location, {logits, labels, lens}))
        return poison_of({logits, labels, lens});
    const Shape& x = logits.shape();
    const Shape& y = labels.shape();
    const Shape& n = lens.shape();
    bool ok = x.rank() == 3 && y.rank() == 2 && fits(x[0], y[0]) && fits(x[1], y[1]) &&
              n.rank() == 1 && fits(n[0], x[0]) && labels.dtype() == i32 && lens.dtype() == i32 &&
              is_float(logits.dtype());
    if (!ok) {
        Text text;
        text << "cross_entropy: logits " << name_of(logits.dtype()) << " " << x;
        logits.graph->write_origin(text, logits.id);
        text << " do not match labels " << name_of(labels.dtype()) << " " << y << " and lengths "
             << name_of(lens.dtype()) << " " << n
             << " (expected [batch, steps, classes], i32 [batch, steps], i32 [batch])";
        return fail(*logits.graph, location, logits.graph->scope_of(logits.id), text);
    }
    return make(*logits.graph, {.op = Op::cross_entropy,
                                .dtype = f32,
                                .shape = {x[0]},
                                .inputs = inputs_of({logits.id, labels.id, lens.id}),
                                .location = location});
}

/// The padding of labels without any.
inline constexpr int kNoLabel = -1;

/// The loss of "Attention is all you need" (section 5.4; Szegedy et al. 2016): logits [batch,
/// steps, classes], labels i32 [batch, steps] → [batch]: for each sequence the sum over the steps
/// whose label is not `padding` of the cross entropy with 1 - `smoothing` at the label and the rest
/// spread over the other classes, in nats.
constexpr Tensor smoothed_cross_entropy(Tensor logits, Tensor labels, int padding,
                                        double smoothing = 0,
                                        Location location = Location::here()) {
    if (!is_usable("smoothed_cross_entropy", location, {logits, labels}))
        return poison_of({logits, labels});
    const Shape& x = logits.shape();
    const Shape& y = labels.shape();
    bool ok = x.rank() == 3 && y.rank() == 2 && fits(x[0], y[0]) && fits(x[1], y[1]) &&
              labels.dtype() == i32 && is_float(logits.dtype());
    Text text;
    if (!ok) {
        text << "smoothed_cross_entropy: logits " << name_of(logits.dtype()) << " " << x;
        logits.graph->write_origin(text, logits.id);
        text << " do not match labels " << name_of(labels.dtype()) << " " << y
             << " (expected [batch, steps, classes], i32 [batch, steps])";
    } else if (!(smoothing >= 0 && smoothing < 1)) {
        text << "smoothed_cross_entropy: label smoothing must be in [0, 1)";
    } else if (padding < kNoLabel) {
        text << "smoothed_cross_entropy: padding " << padding
             << " is no label: labels are 0 or above (cross_entropy takes an .ignored one)";
    } else {
        return make(*logits.graph, {.op = Op::smoothed_cross_entropy,
                                    .dtype = f32,
                                    .shape = {x[0]},
                                    .inputs = inputs_of({logits.id, labels.id}),
                                    .location = location,
                                    .value = smoothing,
                                    .axis = padding});
    }
    return fail(*logits.graph, location, logits.graph->scope_of(logits.id), text);
}

}  // namespace fovea
