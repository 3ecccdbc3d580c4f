// Writes a bundle: cases, in the order of their stages, with tensors, models and PTX in files that
// cases share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/pipeline.h"
#include "runtime/files/json.h"
#include "tools/bundle/case_file.h"
#include "tools/bundle/probe.h"
#include "tools/fovea/bundle/tolerances.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool {

/// The stages of a bundle, in their order: load, layouts, rows, contractions, attention, gradients,
/// models, training, bench.
const std::vector<std::string>& bundle_stages();

/// One run of a program.
struct ProgramCase {
    std::string stage, name;
    std::size_t program = 0;  // of the model
    bool training = false;  // dropout is drawn
    Sample sample;
    std::vector<std::int64_t> lengths = {};  // of every input that holds lengths, in turns
    Tolerances bounds;
};

/// Ten steps of the program `training_step`, the first of its model.
struct TrainingCase {
    std::string name;
    Sample sample;
    std::string optimizer = "adam";
    int steps = 10;
    bool in_halves = false;
};

/// A measurement of the first program.
struct BenchCase {
    std::string name;
    SampleDims dims, small_dims;
    double flops = 0;
    runtime::Json work = {};  // for those who measure something else beside it
    std::vector<std::string> counted = {};  // kernels; empty: all
};

class BundleWriter {
  public:
    explicit BundleWriter(std::filesystem::path folder);

    /// After which a wait of a kernel that is checked is an error, long before the case is a hang.
    static constexpr int kWaitSeconds = 10;

    /// Compiles the model's kernels for every architecture; the cases that follow are its own. Adds
    /// the case that loads them. Kernels that are measured have no bound of their waits.
    void begin_model(const CompiledModel& model, const std::string& name,
                     const emit::PtxOptions& options = {.wait_seconds = kWaitSeconds});
    void add(const ProgramCase& given);
    void add(const TrainingCase& given);
    void add(const BenchCase& given);
    void add(const bundle::Probe& probe);

    /// Numbers the cases and writes them. How many there are.
    std::size_t finish();

  private:
    struct Case {
        std::size_t stage;
        int limit;  // seconds
        runtime::Json json;
    };
    void add_case(const std::string& stage, int limit, runtime::Json::Object members);
    std::string write_ptx(const std::string& text);
    /// Bytes that are the same are written once.
    runtime::Json write_tensors(const std::vector<bundle::CaseTensor>& tensors);

    std::filesystem::path folder_;
    std::vector<Case> cases_;
    const CompiledModel* model_ = nullptr;
    std::string model_file_;
    int files_ = 0;
};

}  // namespace fovea::tool
