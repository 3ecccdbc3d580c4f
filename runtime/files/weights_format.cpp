// Comparing the format of a file with this program's.
#include "weights_format.h"

#include "../error.h"
#include "../options.h"

namespace fovea::runtime {

namespace {

constexpr const char* kKey = "fovea_format";

}  // namespace

Metadata weights_format() { return {{kKey, std::to_string(kWeightsFormat)}}; }

void verify_weights_format(const SafetensorsFile& file) {
    const auto found = file.metadata().find(kKey);
    if (found == file.metadata().end()) return;
    const auto format = parse_integer(found->second);
    if (!format || *format < 1)
        throw UserError("'{}': {} in its __metadata__ is '{}', but should be a whole number from 1",
                        {file.path(), kKey, found->second});
    if (*format > kWeightsFormat)
        throw UserError(
            "'{}' has weights of format {}, and this program reads formats up to {}: build it "
            "again "
            "with the fovea that wrote the weights, or a newer one",
            {file.path(), found->second, std::to_string(kWeightsFormat)});
}

}  // namespace fovea::runtime
