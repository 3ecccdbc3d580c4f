// Memory for a generated model: flat parameters and, per program, a planned workspace.
#pragma once

#include "instance.h"    // IWYU pragma: export
#include "parameters.h"  // IWYU pragma: export
