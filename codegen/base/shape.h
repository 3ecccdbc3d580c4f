// The shape of a tensor: up to six dims. One that is wrong is refused by the op that uses it.
#pragma once

#include <initializer_list>

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
        if (rank_ == kMaxRank) too_many_ = true;
        else dims_[std::size_t(rank_++)] = dim;
    }
    /// Whether an axis has a wrong or a negative size, or there are more than six.
    constexpr bool is_wrong() const {
        if (too_many_) return true;
        for (const Dim& dim : *this)
            if (dim.mistake() != DimMistake::none || (dim.value() < 0 && dim.is_static()))
                return true;
        return false;
    }
    constexpr void write_mistake(Text& text) const {
        if (too_many_) text << "a tensor has at most " << kMaxRank << " axes";
        for (const Dim& dim : *this) {
            if (too_many_) return;
            dim.write_mistake(text);
            if (dim.mistake() != DimMistake::none) return;
            if (!dim.is_static() || dim.value() >= 0) continue;
            text << "a size is " << dim << " in " << *this;
            return;
        }
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
    bool too_many_ = false;
};

/// Whether every pair of dims `fits`.
constexpr bool fits(const Shape& a, const Shape& b) {
    if (a.rank() != b.rank()) return false;
    for (int i = 0; i < a.rank(); ++i)
        if (!fits(a[i], b[i])) return false;
    return true;
}

}  // namespace fovea
