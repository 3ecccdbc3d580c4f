// The parameters of a model, as its generated header has them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../error.h"  // IWYU pragma: export
#include "../parameters.h"

namespace fovea::runtime {

/// What `NAME::Model` is made of. Copies share the parameters. Sessions on any threads read them at
/// the same time; whoever writes them, as a trainer does, waits until none of them runs. One that
/// is moved from stays a model.
class TypedModel {
  public:
    TypedModel(const TypedModel&) = default;
    TypedModel& operator=(const TypedModel&) = default;
    ~TypedModel() = default;
    /// The number of floats of all parameters.
    std::int64_t parameter_count() const;
    /// Every name, in the order of the header.
    std::vector<std::string> parameter_names() const;
    /// The values of one parameter, row-major; UserError for a name that the model has not. Those
    /// that stay in a file are in memory from then on.
    std::span<const float> parameter(std::string_view name) const;
    const std::vector<std::int64_t>& parameter_shape(std::string_view name) const;
    /// Writes one parameter, while no session over this model or a copy of it runs. UserError
    /// unless there are as many values as it has.
    void set_parameter(std::string_view name, std::span<const float> values);
    /// Writes a safetensors file, which `load` reads. UserError when the file cannot be written.
    void save(const std::string& file) const;

    const std::shared_ptr<Parameters>& parameters() const { return parameters_; }

  protected:
    /// From a safetensors file, by name. Sizes that the model leaves open are those of the file.
    /// UserError with the file and the parameter that is missing or has another shape. Where no
    /// program gives gradients, weights stay in the file (FileWeights): another may take its name,
    /// but when somebody has written to it, runs and looks at parameters are UserErrors.
    TypedModel(const runtime::Model& model, const std::string& file);
    /// Drawn, as PyTorch draws those of such layers; the same numbers on every machine.
    TypedModel(const runtime::Model& model, const DimValues& sizes, std::uint64_t seed);

  private:
    std::size_t find(std::string_view name) const;

    std::shared_ptr<Parameters> parameters_;
};

}  // namespace fovea::runtime
