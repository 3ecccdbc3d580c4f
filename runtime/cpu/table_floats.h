// Tables of which rows are looked up, as they lie: as float32, or as floats of 16 bits in a file of
// weights.
#pragma once

#include "../call.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Widens the elements from number `at` on. Not inlined: loops over float32 stay small.
__attribute__((noinline, cold)) inline void widen_some(float* to, runtime::HalfFloats from, i64 at,
                                                       Lanes lanes) {
    if (from.type == runtime::DType::bf16)
        store(to, load(static_cast<const bf16*>(from.address) + at, lanes));
    else store(to, load(static_cast<const f16*>(from.address) + at, lanes));
}

/// A table, addressed by its elements as an array of floats is.
class TableFloats {
  public:
    FOVEA_INLINE TableFloats(const float* start) : floats_(start) {}
    FOVEA_INLINE explicit TableFloats(runtime::HalfFloats start) : halves_(start) {}

    FOVEA_INLINE TableFloats operator+(i64 elements) const {
        TableFloats result = *this;
        result.at_ += elements;
        return result;
    }
    FOVEA_INLINE float operator[](i64 element) const {
        if (floats_) return floats_[at_ + element];
        float values[kLanes];
        widen_some(values, halves_, at_ + element, Lanes{1});
        return values[0];
    }
    template <class Some>
    FOVEA_INLINE floats load_lanes(Some lanes) const {
        if (floats_) return load(floats_ + at_, lanes);
        float values[kLanes];
        widen_some(values, halves_, at_, lanes);
        return load(values);
    }

  private:
    const float* floats_ = nullptr;  // null: they lie as halves
    runtime::HalfFloats halves_;
    i64 at_ = 0;
};

template <class Some>
FOVEA_INLINE floats load(TableFloats from, Some lanes) {
    return from.load_lanes(lanes);
}
FOVEA_INLINE floats load(TableFloats from) { return from.load_lanes(AllLanes{}); }
FOVEA_INLINE floats load_strided(TableFloats from, i64 stride, Lanes lanes) {
    float values[kLanes]{};
    for (i64 lane = 0; lane < lanes.count; ++lane) values[lane] = from[lane * stride];
    return load(values);
}
FOVEA_INLINE floats load_rows(TableFloats from, ints rows, i64 row_stride, i64 stride,
                              Lanes lanes) {
    float values[kLanes]{};
    for (i64 lane = 0; lane < lanes.count; ++lane)
        values[lane] = from[i64(rows[lane]) * row_stride + lane * stride];
    return load(values);
}

/// Parameter `number` of a call, for kernels that look its rows up.
inline TableFloats table_floats(const runtime::Call& call, int number) {
    if (call.halves && call.halves[number].address) return TableFloats(call.halves[number]);
    return TableFloats(static_cast<const float*>(call.tensors[number]));
}

}  // namespace fovea::cpu::inline FOVEA_ISA
