// Weights of commands that read them and change none.
#pragma once

#include <cstddef>
#include <vector>

#include "../parameters.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// Takes floats from a file for programs that give no gradients, with little memory: float32
/// tensors of a mapped file stay there. Where programs read what they prepare of a parameter and
/// nothing else of it (TensorSpec::copied), its values are let go once that stands, and had again
/// before more is prepared: meanwhile `Parameters::values` is not to be asked for them. Pages of
/// the file are let go then, too, and come back where they are read. For a device all are copied.
class WeightsInFile {
  public:
    /// Both must outlive this, and this all runs over the parameters.
    WeightsInFile(Parameters& parameters, const SafetensorsFile& file);
    ~WeightsInFile();
    WeightsInFile(const WeightsInFile&) = delete;
    WeightsInFile& operator=(const WeightsInFile&) = delete;

    /// Takes all parameters, as `load_parameters` does.
    void load();
    /// Takes parameter i from its tensor; UserError as `copy_floats` has them.
    void take(std::size_t i, const TensorView& tensor);

  private:
    struct Taken {
        std::size_t parameter = 0;
        const TensorView* tensor = nullptr;
        bool stays = false;  // in the file
        bool is_gone = false;  // from the flat array
    };

    void have_again();
    void let_go();

    Parameters& parameters_;
    const SafetensorsFile& file_;
    bool on_device_ = false;
    std::vector<Taken> taken_;  // of those that can be let go
};

}  // namespace fovea::runtime
