// A Python package around the C interface of a model.
#pragma once

#include <vector>

#include "codegen/emit/cpp/interface/interface.h"
#include "codegen/emit/emitter.h"

namespace fovea::emit {

/// The files of a folder that `pip install` takes, but for the library `NAME/libNAME.so` and the
/// modules of the runtime beside it. The library is for `machine`: `x86_64` or `aarch64`.
std::vector<File> python_package(const Interface& interface, const std::string& machine);

/// What the library shows: for the linker, as a version script.
std::string exported_symbols(const Interface& interface);

}  // namespace fovea::emit
