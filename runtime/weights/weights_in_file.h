// Weights of programs that read them and change none.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../memory/arena.h"
#include "../parameters.h"
#include "../safetensors.h"

namespace fovea::runtime {

class Team;

/// Takes floats from a file for programs that give no gradients, with little memory: float32
/// tensors of a mapped file stay there. Where programs read what they prepare of a parameter and
/// nothing else of it (TensorSpec::copied), its values are there while that is prepared, one
/// parameter at a time; rows that are looked up are read in the file, as they lie there. Pages of
/// the file are let go, too, and come back where they are read. Values that are asked for
/// (`Parameters::values`), as runs do of programs that read all of them, are there from then on,
/// and may be written; the file stays as it is. For a device all are copied.
class WeightsInFile : private OutsideValues {
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
    /// Where the values of a parameter are.
    enum class Place { apart, in_file, in_file_until_wanted, kept };

    /// Called by all threads of a region, before what is shared of a parameter is prepared.
    void want(std::size_t parameter, Team& team);
    /// Gives back the memory of the parameter that was wanted last.
    void let_go();
    /// The same of all that stay in the file.
    void let_all_go();
    void give_back_file(std::size_t i) const;
    void keep(std::size_t i) override;
    void changed() override;
    const HalfFloats* halves() const override { return halves_.data(); }
    void bring(std::size_t i);
    std::span<float> floats(std::size_t i);

    Parameters& parameters_;
    const SafetensorsFile& file_;
    bool copies_ = false;  // for a device
    std::vector<const TensorView*> tensors_;  // of parameters; null: not taken
    std::vector<Place> places_;
    std::vector<HalfFloats> halves_;  // of parameters; null: rows are looked up where they start
    std::vector<std::size_t> brought_;  // of those, for whom may write them
    std::vector<Arena> apart_;  // values that were copied
    std::mutex mutex_;  // of those who have values kept
    int wanted_ = -1;
};

/// What models link that had better leave weights in a file, and others do not.
struct FileWeights {
    /// The parameters of a model with these sizes, in a mapped file, which they take and keep.
    /// UserError as `load_parameters` has them, and by runs and for values after somebody has
    /// written to it. Null, and the file is untouched, where a program gives gradients or the file
    /// is not mapped.
    std::shared_ptr<Parameters> (*load)(const Model& model, const DimValues& dims,
                                        SafetensorsFile& file);
    /// Has all parameters taken by a WeightsInFile, which is returned.
    std::shared_ptr<const WeightsInFile> (*take)(Parameters& parameters,
                                                 const SafetensorsFile& file);
};

}  // namespace fovea::runtime
