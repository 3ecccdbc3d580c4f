// The shape of a tensor: up to six dims.
#pragma once

#include <initializer_list>
#include <stdexcept>

#include "codegen/base/dim.h"

namespace fovea {

class Shape {
  public:
    static constexpr int kMaxRank = 6;

    constexpr Shape() = default;
    constexpr Shape(std::initializer_list<Dim> dims) {
        for (const Dim& dim : dims) push(dim);
    }
    constexpr int rank() const { return rank_; }
    /// Axis `i`; negative ones count from the end.
    constexpr Dim& operator[](int i) { return dims_[std::size_t(i < 0 ? rank_ + i : i)]; }
    constexpr const Dim& operator[](int i) const {
        return dims_[std::size_t(i < 0 ? rank_ + i : i)];
    }
    constexpr void push(const Dim& dim) {
        if (rank_ == kMaxRank) throw std::length_error("a tensor has at most six axes");
        dims_[std::size_t(rank_++)] = dim;
    }
    constexpr const Dim* begin() const { return dims_; }
    constexpr const Dim* end() const { return dims_ + rank_; }
    constexpr bool operator==(const Shape& other) const {
        if (rank_ != other.rank_) return false;
        for (int i = 0; i < rank_; ++i)
            if (!((*this)[i] == other[i])) return false;
        return true;
    }

    friend constexpr Text& operator<<(Text& text, const Shape& shape) {
        text << "[";
        for (int i = 0; i < shape.rank_; ++i) text << (i ? ", " : "") << shape[i];
        return text << "]";
    }

  private:
    Dim dims_[kMaxRank];
    int rank_ = 0;
};

/// Whether every pair of dims `fits`.
constexpr bool fits(const Shape& a, const Shape& b) {
    if (a.rank() != b.rank()) return false;
    for (int i = 0; i < a.rank(); ++i)
        if (!fits(a[i], b[i])) return false;
    return true;
}

}  // namespace fovea
