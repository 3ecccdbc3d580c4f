// Convolutions as products over windows (PyTorch's conv1d and conv2d, its layouts and options): the
// windows are a view, so that no copy of them is stored.
#pragma once

#include "codegen/ops/composed/composed.h"
#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/windows.h"

namespace fovea {

/// A number for the height and one for the width, or one for both: `.stride = 2`, `{2, 1}`.
struct ForBoth {
    int height = 0, width = 0;

    constexpr ForBoth(int both) : height(both), width(both) {}
    constexpr ForBoth(int of_height, int of_width) : height(of_height), width(of_width) {}
};

struct Conv1dOptions {
    int stride = 1;
    int padding = 0;  // zeros on both sides
    int dilation = 1;
    Dim groups = 1;  // each takes its part of the channels and gives its part of the outputs
};
struct Conv2dOptions {
    ForBoth stride = 1;
    ForBoth padding = 0;
    ForBoth dilation = 1;
    Dim groups = 1;
};

namespace detail {

/// A convolution over one axis behind [batch, channels], or over two.
struct Convolution {
    const char* name;
    int axes;
    int stride[2], padding[2], dilation[2];
    Dim groups;

    constexpr Convolution(const Conv1dOptions& o)
        : name("conv1d"),
          axes(1),
          stride{o.stride, 1},
          padding{o.padding, 0},
          dilation{o.dilation, 1},
          groups(o.groups.without_label()) {}
    constexpr Convolution(const Conv2dOptions& o)
        : name("conv2d"),
          axes(2),
          stride{o.stride.height, o.stride.width},
          padding{o.padding.height, o.padding.width},
          dilation{o.dilation.height, o.dilation.width},
          groups(o.groups.without_label()) {}

    constexpr const char* layout_of_x() const {
        return axes == 1 ? "[batch, channels, length]" : "[batch, channels, height, width]";
    }
    constexpr const char* layout_of_weight() const {
        return axes == 1 ? "[out, channels / groups, kernel]"
                         : "[out, channels / groups, kernel height, kernel width]";
    }
    /// Says what is wrong with x, without the sizes of a weight; false where nothing is.
    constexpr bool refuses(Tensor x, Location location) const {
        Text text;
        if (x.rank() != axes + 2 || !is_float(x.dtype())) {
            text << name << ": expected f32, bf16 or f16 " << layout_of_x() << ", got "
                 << name_of(x.dtype()) << " " << x.shape();
        } else if (!groups.is_static()) {
            text << name << ": the number of groups is static, not " << groups;
        } else if (groups.value() < 1 || !x.dim(1).without_label().divisible_by(groups)) {
            text << name << ": " << groups << " groups do not divide the channels of " << x.shape();
        } else {
            for (int i = 0; i < axes; ++i)
                if (padding[i] < 0 && !text.size())
                    text << name << " of " << x.shape() << ": a padding is 0 or more, not "
                         << padding[i];
        }
        if (!text.size()) return false;
        movement_mistake(x, text, location);
        return true;
    }
    /// The same of both.
    constexpr bool refuses(Tensor x, Tensor weight, Location location) const {
        if (refuses(x, location)) return true;
        const Dim channels = x.dim(1).without_label() / groups;
        bool fits_x = weight.rank() == axes + 2 && weight.dtype() == x.dtype();
        fits_x = fits_x && (groups.is_one() ? fits(x.dim(1), weight.dim(1))
                                            : weight.dim(1).without_label() == channels);
        bool is_known = fits_x;
        for (int i = 0; is_known && i < axes; ++i)
            is_known = weight.dim(2 + i).is_static() && weight.dim(2 + i).value() > 0;
        const bool divides = fits_x && weight.dim(0).without_label().divisible_by(groups);
        Text text;
        if (!fits_x) {
            text << name << ": expected a weight " << name_of(x.dtype()) << " "
                 << layout_of_weight() << " for " << groups
                 << (groups.is_one() ? " group" : " groups") << " of " << x.shape();
            x.graph->write_origin(text, x.id);
            text << ", got " << name_of(weight.dtype()) << " " << weight.shape();
        } else if (!is_known) {
            text << name << ": a kernel has a static size of 1 or more, not that of "
                 << weight.shape();
        } else if (!divides) {
            text << name << ": " << groups << " groups do not divide the outputs of "
                 << weight.shape();
        } else {
            return false;
        }
        movement_mistake(weight, text, location);
        return true;
    }
    /// x with its padding; poison where it has no windows, which is said.
    constexpr Tensor padded(Tensor x, Tensor weight, Location location) const {
        for (int i = 0; i < axes; ++i) x = pad(x, 2 + i, padding[i], padding[i], location);
        for (int i = 0; i < axes && !x.is_poison(); ++i)
            if (has_no_windows(name, x, 2 + i, 2 + i, size(weight, i), at(i), location))
                return {x.graph, 0};
        return x;
    }
    static constexpr int size(Tensor weight, int i) { return int(weight.dim(2 + i).value()); }
    constexpr WindowOptions at(int i) const { return {stride[i], dilation[i]}; }
    constexpr Tensor windows(Tensor x, Tensor weight, int i, Location location) const {
        // Those of the height have put in an axis.
        return windows_of(x, x.rank() - axes + i, size(weight, i), at(i), location);
    }
};

/// Each channel by itself: weight [(g m), 1, kernel...], x with windows → [batch, (g m), ...].
constexpr Tensor convolve_channels(const Convolution& c, Tensor x, Tensor weight,
                                   Location location) {
    const Dim channels = x.dim(1).without_label();
    Tensor of_channel = squeeze(weight, 1, location);
    const bool is_one = weight.dim(0).without_label() == channels;
    if (is_one)
        return c.axes == 1 ? einsum("b g l k, g k -> b g l", x, of_channel, location)
                           : einsum("b g y i x j, g i j -> b g y x", x, of_channel, location);
    const Dim outputs = weight.dim(0).without_label() / channels;
    of_channel = unflatten(of_channel, 0, {channels, outputs}, location);
    Tensor y = c.axes == 1 ? einsum("b g l k, g m k -> b g m l", x, of_channel, location)
                           : einsum("b g y i x j, g m i j -> b g m y x", x, of_channel, location);
    return flatten(y, 1, 2, location);
}

/// Groups of several channels: of two axes, a product for each row of the kernel, since a tensor
/// has no room for the axes of all of them.
constexpr Tensor convolve_groups(const Convolution& c, Tensor x, Tensor weight, Location location) {
    const Dim groups = c.groups, channels = x.dim(1).without_label() / groups;
    const Dim outputs = weight.dim(0).without_label() / groups;
    Tensor parts = unflatten(weight, 0, {groups, outputs}, location);
    if (c.axes == 1) {
        Tensor split =
            unflatten(c.windows(x, weight, 0, location), 1, {groups, channels}, location);
        Tensor y = einsum("b g c l k, g o c k -> b g o l", split, parts, location);
        return flatten(y, 1, 2, location);
    }
    const int height = Convolution::size(weight, 0);
    const Dim rows = count_windows(x.dim(2), covered_by(height, c.at(0)), c.stride[0]);
    Tensor total;
    for (int i = 0; i < height; ++i) {
        Tensor row = slice_in_steps(x, 2, i * c.dilation[0], rows, c.stride[0], location);
        row = windows_of(row, 3, Convolution::size(weight, 1), c.at(1), location);
        row = unflatten(row, 1, {groups, channels}, location);
        Tensor of_row = squeeze(slice(parts, 3, i, 1, location), 3, location);
        Tensor y = einsum("b g c y x j, g o c j -> b g o y x", row, of_row, location);
        total = i ? At{location}(total) + y : y;
    }
    return flatten(total, 1, 2, location);
}

constexpr Tensor convolve(const Convolution& c, Tensor x, Tensor weight, Location location) {
    if (!is_usable(c.name, location, {x, weight})) return poison_of({x, weight});
    if (c.refuses(x, weight, location)) return {x.graph, 0};
    x = c.padded(x, weight, location);
    if (x.is_poison()) return x;
    const bool is_alone = weight.dim(1).is_one();
    if (!c.groups.is_one() && !is_alone) return convolve_groups(c, x, weight, location);
    for (int i = 0; i < c.axes; ++i) x = c.windows(x, weight, i, location);
    if (!c.groups.is_one()) return convolve_channels(c, x, weight, location);
    return c.axes == 1 ? einsum("b c l k, o c k -> b o l", x, weight, location)
                       : einsum("b c y i x j, o c i j -> b o y x", x, weight, location);
}

/// y with the bias [out] of its outputs.
constexpr Tensor with_bias(const Convolution& c, Tensor y, Tensor bias, Location location) {
    if (!is_usable(c.name, location, {y, bias})) return poison_of({y, bias});
    if (bias.rank() != 1 || bias.dtype() != y.dtype() || !fits(y.dim(1), bias.dim(0))) {
        Text text;
        text << c.name << ": a bias " << name_of(bias.dtype()) << " " << bias.shape()
             << " does not match the product " << name_of(y.dtype()) << " " << y.shape();
        return movement_mistake(bias, text, location);
    }
    for (int i = 0; i < c.axes; ++i) bias = unsqueeze(bias, 1 + i, location);
    return At{location}(y) + bias;
}

}  // namespace detail

/// x [batch, channels, length], weight [out, channels / groups, kernel] → [batch, out, positions]
/// with positions = (length + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down; a
/// quotient of symbolic sizes is exact. PyTorch's conv1d: nothing is flipped.
template <class = void>
constexpr Tensor conv1d(Tensor x, Tensor weight, Conv1dOptions options = {},
                        Location location = Location::here()) {
    return detail::convolve(options, x, weight, location);
}
/// The same plus a bias [out].
template <class = void>
constexpr Tensor conv1d(Tensor x, Tensor weight, Tensor bias, Conv1dOptions options = {},
                        Location location = Location::here()) {
    return detail::with_bias(options, conv1d(x, weight, options, location), bias, location);
}

/// x [batch, channels, height, width] by weight [out, channels / groups, kernel height, kernel
/// width] → [batch, out, rows, columns], whose numbers are those of conv1d for each axis.
template <class = void>
constexpr Tensor conv2d(Tensor x, Tensor weight, Conv2dOptions options = {},
                        Location location = Location::here()) {
    return detail::convolve(options, x, weight, location);
}
/// The same plus a bias [out].
template <class = void>
constexpr Tensor conv2d(Tensor x, Tensor weight, Tensor bias, Conv2dOptions options = {},
                        Location location = Location::here()) {
    return detail::with_bias(options, conv2d(x, weight, options, location), bias, location);
}

}  // namespace fovea
