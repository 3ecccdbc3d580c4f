#include "codegen/reference/rounded_to.h"

namespace fovea {

Array rounded_to(const NumberFormat& format, Array array) {
    for (double& value : array.values) value = format.nearest(value);
    return array;
}

}  // namespace fovea
