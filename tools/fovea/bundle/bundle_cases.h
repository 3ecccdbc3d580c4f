// The cases that a bundle can have.
#pragma once

#include <string>

#include "tools/fovea/bundle/bundle_writer.h"

namespace fovea::tool {

/// Adds the cases of a stage; all of them for `all`; for `quick` a few of each, which take seconds
/// on the interpreter.
void add_cases(BundleWriter& writer, const std::string& suite);

/// Those that measure, of the suite `all` or `quick`.
void add_measurements(BundleWriter& writer, bool quick);

}  // namespace fovea::tool
