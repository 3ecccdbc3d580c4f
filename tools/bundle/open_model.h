// The model of a case on a device.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/code.h"
#include "runtime/device/device.h"
#include "runtime/instance.h"
#include "tools/bundle/case_file.h"

namespace fovea::bundle {

/// Null `model` where the device runs none of its architectures; `architecture` is what it runs.
struct OpenModel {
    std::shared_ptr<const runtime::Model> model;
    std::string architecture;
};

/// `architecture`: whose PTX; empty: the best that the device runs.
OpenModel open_model(const CaseFile& from, std::shared_ptr<runtime::device::Device> device,
                     const std::string& architecture);

/// Parameters from the tensors `parameter NAME` of the case.
void read_parameters(const CaseFile& from, runtime::Parameters& parameters);

/// Inputs of a bound instance from the tensors `input NAME`.
void read_inputs(const CaseFile& from, runtime::Instance& instance);

}  // namespace fovea::bundle
