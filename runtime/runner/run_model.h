// One run of a model from files: choose the program, bind, fill the inputs, run, write outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../instance.h"
#include "../program.h"
#include "../safetensors.h"
#include "bind_dims.h"

namespace fovea::runtime {

/// What `run` is asked for.
struct RunRequest {
    bool gradients = false;
    bool train = false;              // dropout on
    std::uint64_t seed = 1, step = 0;
    std::vector<std::string> only;   // outputs to write; empty: all
};

/// The program for a request: "forward" or "gradient", with `_train` when training and the model
/// has such a program (it has none when it has no dropout). UserError when it has none that fits.
const Program& choose_program(const Model& model, const RunRequest& request);

/// Which outputs of the program are written: all, or those of `request.only`. With gradients, all
/// `<name>.grad` stay unless `only` names some of them. UserError for a name that is no output.
std::vector<bool> wanted_outputs(const Program& program, const RunRequest& request);

/// Copies the inputs of a bound instance from the file. Of cotangents (`<output>.grad`) those that
/// are absent become zeros, but one must be there; other absent inputs are mistakes unless no
/// wanted output needs them (`Program::needs`), when they become zeros. UserError for these and
/// for a wrong shape or dtype. Tensors of the file that are no inputs give one warning.
void fill_inputs(Instance& instance, const SafetensorsFile& inputs,
                 const std::vector<bool>& wanted);

/// The wanted outputs of an instance that has run; views into its memory.
std::vector<TensorView> output_tensors(Instance& instance, const std::vector<bool>& wanted);

/// What `run_model` checks before it runs anything, for which the model needs no code: UserError
/// for missing inputs, outputs that are none, missing weights and shapes that disagree. Gives the
/// dims.
DimValues verify_run(const Model& model, const RunRequest& request, const SafetensorsFile& inputs,
                     const SafetensorsFile* weights);

/// Runs the model on the files' tensors and writes the outputs to `output_path`. `weights` may be
/// null when the model has no parameters.
void run_model(const Model& model, const RunRequest& request, const SafetensorsFile& inputs,
               const SafetensorsFile* weights, const std::string& output_path);

}  // namespace fovea::runtime
