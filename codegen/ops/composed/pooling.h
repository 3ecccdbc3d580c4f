// The largest value and the mean of windows: PyTorch's max_pool1d, max_pool2d, avg_pool1d and
// avg_pool2d. Two axes are pooled one after the other.
#pragma once

#include "codegen/ops/composed/convolution.h"
#include "codegen/ops/composed/selection.h"

namespace fovea {

struct Pool1dOptions {
    int stride = 0;  // 0: the kernel's size
    int padding = 0;  // on both sides: positions that are never the largest, or zeros that count
};
struct Pool2dOptions {
    ForBoth stride = 0;
    ForBoth padding = 0;
};

namespace detail {

struct Pool {
    const char* name;
    bool is_mean;
    Location location;

    /// Whether the last `axes` axes of x can be pooled; what is wrong is said.
    constexpr bool takes(Tensor x, int axes) const {
        if (!is_usable(name, location, {x})) return false;
        // A window's elements need an axis of their own.
        if (is_float(x.dtype()) && x.rank() >= axes && x.rank() < Shape::kMaxRank) return true;
        Text text;
        text << name << ": expected f32, bf16 or f16 of " << axes << " to " << Shape::kMaxRank - 1
             << " axes, got " << name_of(x.dtype()) << " " << x.shape();
        movement_mistake(x, text, location);
        return false;
    }
    /// Axis `axis` of x, from the end, pooled.
    constexpr Tensor along(Tensor x, int axis, int kernel, int stride, int padding) const {
        if (x.is_poison()) return x;
        const int i = axis + x.rank();
        if (padding < 0 || 2 * padding > kernel) {
            Text text;
            text << name << " of " << x.shape() << ": a padding is from 0 to " << kernel / 2
                 << ", half of the kernel of " << kernel << ", not " << padding;
            return movement_mistake(x, text, location);
        }
        const WindowOptions options{.stride = stride ? stride : kernel};
        Tensor wide = padded(x, i, padding);
        if (has_no_windows(name, wide, axis, i, kernel, options, location)) return {x.graph, 0};
        Tensor elements = windows_of(wide, i, kernel, options, location);
        if (is_mean) return At{location}(sum(elements, i + 1, false, location)) * (1.0 / kernel);
        // The largest of several is the first, which takes the gradient.
        return squeeze(topk<1>(elements, i + 1, location).values, i + 1, location);
    }

  private:
    constexpr Tensor padded(Tensor x, int i, int padding) const {
        if (is_mean || padding == 0) return pad(x, i, padding, padding, location);
        Shape shape = x.shape();
        shape[i] = Dim(padding);
        Tensor none =
            full(*x.graph, shape, -std::numeric_limits<double>::infinity(), x.dtype(), location);
        return concat({none, x, none}, i, location);
    }
};

constexpr Tensor pool(const Pool& pool, Tensor x, int kernel, const Pool1dOptions& o) {
    if (!pool.takes(x, 1)) return poison_of({x});
    return pool.along(x, -1, kernel, o.stride, o.padding);
}
constexpr Tensor pool(const Pool& pool, Tensor x, const ForBoth& kernel, const Pool2dOptions& o) {
    if (!pool.takes(x, 2)) return poison_of({x});
    Tensor columns = pool.along(x, -1, kernel.width, o.stride.width, o.padding.width);
    return pool.along(columns, -2, kernel.height, o.stride.height, o.padding.height);
}

}  // namespace detail

/// The largest value of each window of `kernel` positions of the last axis: x [..., length] →
/// [..., positions], as many as conv1d gives. Of equal ones the first takes the gradient; NaN is
/// larger than all.
template <class = void>
constexpr Tensor max_pool1d(Tensor x, int kernel, Pool1dOptions options = {},
                            Location location = Location::here()) {
    return detail::pool({"max_pool1d", false, location}, x, kernel, options);
}
/// The same over the last two axes: x [..., height, width] → [..., rows, columns].
template <class = void>
constexpr Tensor max_pool2d(Tensor x, ForBoth kernel, Pool2dOptions options = {},
                            Location location = Location::here()) {
    return detail::pool({"max_pool2d", false, location}, x, kernel, options);
}
/// The mean of each window of `kernel` positions of the last axis, padding included: x [...,
/// length] → [..., positions].
template <class = void>
constexpr Tensor avg_pool1d(Tensor x, int kernel, Pool1dOptions options = {},
                            Location location = Location::here()) {
    return detail::pool({"avg_pool1d", true, location}, x, kernel, options);
}
/// The same over the last two axes.
template <class = void>
constexpr Tensor avg_pool2d(Tensor x, ForBoth kernel, Pool2dOptions options = {},
                            Location location = Location::here()) {
    return detail::pool({"avg_pool2d", true, location}, x, kernel, options);
}

}  // namespace fovea
