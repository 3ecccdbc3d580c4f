// Tensors in memory as generated headers hand them out: row-major, typed, of a rank that the
// compiler knows.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace fovea::runtime {

/// `Rank` axes over elements of somebody else's memory; the last axis is the fastest. A contiguous
/// range of all elements, so a span can be made of it.
template <class T, std::size_t Rank>
class View {
  public:
    View() = default;
    /// Extents are not negative; `data` has room for their product.
    View(T* data, const std::array<std::int64_t, Rank>& shape) : data_(data), shape_(shape) {}

    /// The element at one index for each axis. Indices are not checked.
    template <std::integral... Index>
        requires(sizeof...(Index) == Rank)
    T& operator()(Index... index) const {
        std::int64_t at = 0;
        std::size_t axis = 0;
        ((at = at * shape_[axis++] + static_cast<std::int64_t>(index)), ...);
        return data_[at];
    }
    std::int64_t extent(std::size_t axis) const { return shape_[axis]; }
    const std::array<std::int64_t, Rank>& shape() const { return shape_; }
    T* data() const { return data_; }
    /// How many elements there are.
    std::size_t size() const {
        std::int64_t count = 1;
        for (const std::int64_t extent : shape_) count *= extent;
        return static_cast<std::size_t>(count);
    }
    T* begin() const { return data_; }
    T* end() const { return data_ + size(); }

  private:
    T* data_ = nullptr;
    std::array<std::int64_t, Rank> shape_{};
};

}  // namespace fovea::runtime
