// Weights of commands that read them and change none.
#pragma once

#include <cstddef>
#include <vector>

#include "../parameters.h"
#include "../safetensors.h"

namespace fovea::runtime {

class Team;

/// Takes floats from a file for programs that give no gradients, with little memory: float32
/// tensors of a mapped file stay there. Where programs read what they prepare of a parameter and
/// nothing else of it (TensorSpec::copied), its values are there while that is prepared, one
/// parameter at a time, and `Parameters::values` is not to be asked for them. Pages of the file are
/// let go, too, and come back where they are read. For a device all are copied.
class WeightsInFile {
  public:
    /// Both must outlive this, and this all runs over the parameters.
    WeightsInFile(Parameters& parameters, const SafetensorsFile& file);
    ~WeightsInFile();
    WeightsInFile(const WeightsInFile&) = delete;
    WeightsInFile& operator=(const WeightsInFile&) = delete;

    /// Takes all parameters, as `load_parameters` does.
    void load();
    /// Takes parameter i from its tensor; UserError as `verify_floats` has them.
    void take(std::size_t i, const TensorView& tensor);

  private:
    /// Called by all threads of a region, before what is shared of a parameter is prepared.
    void want(std::size_t parameter, Team& team);
    /// Gives back the memory of the parameter that was wanted last.
    void let_go();
    /// The same of all that stay in the file.
    void let_all_go();
    void give_back_file(const TensorView& tensor) const;

    Parameters& parameters_;
    const SafetensorsFile& file_;
    bool copies_ = false;  // for a device
    std::vector<const TensorView*> tensors_;  // of parameters; null: not taken
    std::vector<char> comes_;  // of each parameter whether its values come when they are wanted
    int wanted_ = -1;
};

}  // namespace fovea::runtime
