// The shape of a tensor: up to six dims. One that is wrong is refused by the op that uses it.
#pragma once

#include <initializer_list>

#include "codegen/base/dim.h"

namespace fovea {

/// Copied from `kNoDims`, since making each dim takes a compiler a step.
struct ShapeDims {
    static constexpr int kMost = 6;
    Dim dim[kMost]{};
};
inline constexpr ShapeDims kNoDims{};

class Shape {
  public:
    static constexpr int kMaxRank = ShapeDims::kMost;

    constexpr Shape() = default;
    constexpr Shape(std::initializer_list<Dim> dims) {
        const Dim* dim = dims.begin();
        for (const Dim* end = dim + dims.size(); dim != end; ++dim) push(*dim);
    }
    constexpr int rank() const { return rank_; }
    /// Axis `i`; negative ones count from the end.
    constexpr Dim& operator[](int i) { return dims_.dim[i < 0 ? rank_ + i : i]; }
    constexpr const Dim& operator[](int i) const { return dims_.dim[i < 0 ? rank_ + i : i]; }
    constexpr void push(const Dim& dim) {
        if (rank_ == kMaxRank) too_many_ = true;
        else dims_.dim[rank_++] = dim;
    }
    /// Whether an axis has a wrong or a negative size, or there are more than six.
    constexpr bool is_wrong() const {
        for (int i = 0; i < rank_; ++i)
            if (dims_.dim[i].is_no_size()) return true;
        return too_many_;
    }
    constexpr void write_mistake(Text& text) const {
        if (too_many_) text << "a tensor has at most " << kMaxRank << " axes";
        for (const Dim& dim : *this) {
            if (too_many_) return;
            dim.write_mistake(text);
            if (dim.mistake() != DimMistake::none) return;
            if (!dim.is_negative()) continue;
            text << "a size is " << dim << " in " << *this;
            return;
        }
    }
    constexpr const Dim* begin() const { return dims_.dim; }
    constexpr const Dim* end() const { return dims_.dim + rank_; }
    /// Whether it is seen at once that both are the same, names and all.
    constexpr bool is_plainly(const Shape& other) const {
        int i = 0;
        while (i < rank_ && dims_.dim[i].is_plainly(other.dims_.dim[i])) ++i;
        return i == rank_ && i == other.rank_;
    }
    constexpr bool fits(const Shape& other) const {
        if (rank_ != other.rank_) return false;
        for (int i = 0; i < rank_; ++i)
            if (!dims_.dim[i].fits(other.dims_.dim[i])) return false;
        return true;
    }
    constexpr bool operator==(const Shape& other) const {
        if (rank_ != other.rank_) return false;
        for (int i = 0; i < rank_; ++i)
            if (!(dims_.dim[i] == other.dims_.dim[i])) return false;
        return true;
    }

    friend constexpr Text& operator<<(Text& text, const Shape& shape) {
        text << "[";
        for (int i = 0; i < shape.rank_; ++i) text << (i ? ", " : "") << shape[i];
        return text << "]";
    }

  private:
    ShapeDims dims_ = kNoDims;
    int rank_ = 0;
    bool too_many_ = false;
};

inline constexpr Shape kScalar{};

/// Whether every pair of dims `fits`.
constexpr bool fits(const Shape& a, const Shape& b) { return a.fits(b); }

}  // namespace fovea
