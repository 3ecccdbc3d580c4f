// All that a model file includes: `#include <fovea.h>`.
#pragma once

#include "codegen/ops/attention.h"
#include "codegen/ops/batch_norm.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/cross_entropy.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/layer_norm.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/sinusoids.h"
#include "codegen/ops/softmax.h"
#include "dsl/modules.h"
#include "dsl/scope.h"
#include "dsl/well_formed.h"
