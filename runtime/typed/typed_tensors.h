// The arguments and the results of one program, as generated headers pass them: by number, without
// the states, which a session keeps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "../instance.h"
#include "view.h"

namespace fovea::runtime {

/// All elements of an input, where the caller has them: they are read there, and not copied.
struct GivenInput {
    static constexpr std::int64_t kUncounted = -1;

    template <class T>
    GivenInput(std::span<const T> values)
        : data(values.data()), count(static_cast<std::int64_t>(values.size())) {}
    /// From C: as many as the sizes say.
    explicit GivenInput(const void* values) : data(values) {}

    const void* data = nullptr;
    std::int64_t count = kUncounted;
};

/// Binds a program to the sizes, inputs and outputs of a call. A call with the sizes of the one
/// before allocates nothing.
class TypedTensors {
  public:
    /// The instance must outlive it.
    explicit TypedTensors(Instance& instance) : instance_(instance) {}

    /// Calls do not see output `name`. Unbinds.
    void hide(const std::string& name);
    /// Binds to the sizes of a call, in the order of Model::dims.
    void bind_to(std::span<const std::int64_t> sizes) {
        if (!is_bound_ || !std::equal(sizes.begin(), sizes.end(), sizes_.begin(), sizes_.end()))
            bind(sizes);
    }
    /// `sizes` in the order of Model::dims; inputs in the order of the program, without its states;
    /// outputs likewise, null where the memory is the session's own, and none at all where all are.
    /// UserError when an input has another number of elements than the sizes say.
    void place(std::span<const std::int64_t> sizes, std::initializer_list<GivenInput> inputs,
               std::initializer_list<void*> outputs = {});
    /// The instance was unbound.
    void unbind() { is_bound_ = false; }

    /// Output `i` of the last call, among those that are no states.
    template <class T, std::size_t Rank>
    View<T, Rank> view(std::size_t i) const {
        std::array<std::int64_t, Rank> shape{};
        for (std::size_t axis = 0; axis < Rank; ++axis) shape[axis] = outputs_[i].shape[axis];
        return {static_cast<T*>(instance_.tensor(outputs_[i].tensor)), shape};
    }
    template <class T>
    std::span<T> row(std::size_t i) const {
        return {static_cast<T*>(instance_.tensor(outputs_[i].tensor)),
                static_cast<std::size_t>(outputs_[i].shape[0])};
    }
    template <class T>
    T value(std::size_t i) const {
        return *static_cast<const T*>(instance_.tensor(outputs_[i].tensor));
    }
    /// Copies output `i` to `address`, unless that is null.
    void copy(std::size_t i, void* address) const;
    /// Bytes of the workspace and of what is prepared of the parameters, as of the last call.
    std::size_t workspace_bytes() const {
        return instance_.workspace_bytes() + instance_.prepared_bytes();
    }

  private:
    /// A tensor that calls see: its number in Call::tensors, and what binding made of it.
    struct Seen {
        std::size_t tensor = 0;
        const TensorSpec* spec = nullptr;
        std::vector<std::int64_t> shape;
        std::int64_t count = 0;
        void* own = nullptr;
    };
    void bind(std::span<const std::int64_t> sizes);
    std::vector<Seen> seen(const std::vector<TensorSpec>& specs, std::size_t first) const;
    [[noreturn]] void refuse(const Seen& input, std::int64_t given) const;

    Instance& instance_;
    std::vector<std::int64_t> sizes_;
    std::vector<Seen> inputs_, outputs_;
    std::vector<std::string> hidden_;  // outputs
    bool is_bound_ = false;
};

}  // namespace fovea::runtime
