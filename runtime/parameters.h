// The parameters of a generated model in one flat array.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/arena.h"
#include "program.h"

namespace fovea::runtime {

class HeldBuffers;  // memory/shared_buffers.h

/// Values of dims by name.
using DimValues = std::map<std::string, std::int64_t>;

/// Values of parameters that are not where these start, as those in a file.
class OutsideValues {
  public:
    /// Has the values of parameter i stand where it starts, to be read and written from then on:
    /// called before they are handed out, from any thread.
    virtual void keep(std::size_t i) = 0;
    /// Values were written.
    virtual void changed() = 0;
    /// As Call::halves.
    virtual const HalfFloats* halves() const = 0;

  protected:
    ~OutsideValues() = default;
};

/// The parameters of a model in one flat, aligned array; every parameter starts at a multiple of
/// 64 bytes, the gaps are zero. Those that are trained come first; gradients and optimizer moments
/// have their offsets.
class Parameters {
  public:
    /// Frozen parameters start at a multiple of this many floats, which kernels of optimizers take
    /// as a whole.
    static constexpr std::size_t kChunk = 1024;

    /// Dims that parameter shapes mention (vocabularies) must be among `dims`; UserError otherwise.
    /// All values are zero. The model must outlive the parameters.
    Parameters(const Model& model, const DimValues& dims);

    const Model& model() const { return *model_; }
    /// The dims that parameter shapes mention.
    const DimValues& dims() const { return dims_; }
    std::size_t count() const { return offsets_.size(); }
    std::size_t flat_size() const { return flat_size_; }  // floats, gaps included
    std::size_t trained_size() const { return trained_size_; }  // the same, up to the frozen ones
    std::span<float> flat();
    std::span<float> trained() { return flat().first(trained_size_); }
    std::size_t offset(std::size_t i) const { return offsets_[i]; }  // floats from the start
    /// Row-major; InternalError for those that lie as whole numbers.
    std::span<float> values(std::size_t i);
    /// The same of any parameter, as a copy.
    std::vector<float> floats(std::size_t i);
    /// Gives a parameter other values, of which there are as many; whole numbers are the nearest.
    /// UserError where these have none.
    void set_values(std::size_t i, std::span<const float> values);
    /// The words of a parameter that lies as whole numbers, and their order.
    std::span<std::uint32_t> words(std::size_t i);
    WeightLayout layout(std::size_t i) const;
    const std::vector<std::int64_t>& shape(std::size_t i) const { return shapes_[i]; }
    /// Whoever writes values says so, once they stand: every instance over these parameters then
    /// prepares its buffers anew before its next run. `initialize` and `load_parameters` do.
    void mark_changed() {
        ++version_;
        if (outside_) outside_->changed();
    }
    std::uint64_t version() const { return version_; }  // from 1
    /// Where the flat array starts; the values there are those of the last `flat` or `values`.
    float* address() { return values_.as<float>(); }
    /// Where parameter i starts: in the flat array, or where `lie_at` says.
    float* address(std::size_t i) {
        return elsewhere_.empty() || !elsewhere_[i] ? address() + offsets_[i] : elsewhere_[i];
    }
    /// Lets a parameter lie elsewhere, in memory that outlives these parameters; before instances
    /// are bound. Then there is no flat array to be had: `flat` and `trained` are InternalErrors.
    void lie_at(std::size_t i, float* address);
    /// Null: all values stand where parameters start.
    void set_outside(OutsideValues* outside) { outside_ = outside; }
    /// As Call::halves.
    const HalfFloats* halves() const { return outside_ ? outside_->halves() : nullptr; }
    /// Copies the values back from a device that updates them, called before each access and each
    /// run, or throws where they are lost. Empty: the values are in host memory.
    void set_fetch(std::function<void()> fetch) { fetch_ = std::move(fetch); }
    void fetch() {
        if (fetch_) fetch_();
    }
    /// Index by name, or -1.
    int find(const std::string& name) const;
    /// What programs prepare of these parameters for all instances; null: the model's prepare
    /// nothing such.
    HeldBuffers* shared_buffers() const { return shared_buffers_.get(); }
    /// Draws initial values: the i-th parameter by name from Philox stream i of `seed`, the same on
    /// every machine, whatever order the model makes its parameters in.
    void initialize(std::uint64_t seed);

  private:
    void place(std::size_t i);
    std::span<float> block(std::size_t i, std::int64_t count);
    WeightStorage storage(std::size_t i) const { return model_->parameters[i].storage; }

    const Model* model_;
    DimValues dims_;
    std::vector<std::vector<std::int64_t>> shapes_;
    std::vector<const TensorSpec*> by_name_;
    std::vector<std::size_t> offsets_;
    std::size_t flat_size_ = 0, trained_size_ = 0;
    std::uint64_t version_ = 1;
    Arena values_;
    std::vector<float*> elsewhere_;  // null: in the flat array
    OutsideValues* outside_ = nullptr;
    std::function<void()> fetch_;
    std::shared_ptr<HeldBuffers> shared_buffers_;
};

}  // namespace fovea::runtime
