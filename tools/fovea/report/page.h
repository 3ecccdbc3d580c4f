// The page of `fovea report`: HTML that needs nothing from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/bench/machine.h"
#include "tools/fovea/compare/compare_report.h"
#include "tools/fovea/report/attention_picture.h"
#include "tools/fovea/report/measure_kernels.h"
#include "tools/fovea/report/training_log.h"

namespace fovea::tool {

/// What a report says of a model at one set of sizes.
struct Report {
    std::string model, program, source;  // source: the file of the model's function
    SampleDims dims;
    std::size_t parameters = 0;          // numbers
    Machine machine;
    double gb_s = 0;  // at which memory of the program's size is read: from caches, where it fits
    const CompiledModel* compiled = nullptr;  // of the program alone
    Graph graph;  // as the model's function made it
    MeasuredProgram measured;
    CompareRow forms;  // fused beside unfused
    std::vector<LoggedTraining> trainings;
    std::vector<AttentionPicture> attentions;
};

/// One HTML document, for wide and narrow windows, light and dark, without scripts.
std::string report_page(const Report& report);

}  // namespace fovea::tool
