#include "storage_name.h"

#include "../error.h"
#include "../options.h"

namespace fovea::runtime {

std::string type_name(WeightStorage storage) {
    return storage ? "int" + std::to_string(storage.bits) : "float32";
}

std::string long_name(WeightStorage storage) {
    if (!storage) return type_name(storage);
    return type_name(storage) + " in groups of " + std::to_string(storage.group);
}

std::string storage_text(WeightStorage storage) {
    return type_name(storage) + ":" + std::to_string(storage.group);
}

WeightStorage parse_weight_storage(std::string_view text, std::string_view where) {
    const std::size_t colon = text.find(':');
    for (const int bits : {8, 4}) {
        if (text.substr(0, colon) != type_name({bits, 1}) || colon == text.npos) continue;
        const auto group = parse_integer(std::string(text.substr(colon + 1)));
        if (group && *group >= 16 && *group <= 4096 && *group % 16 == 0)
            return {bits, static_cast<int>(*group)};
    }
    throw UserError("{} should be int8 or int4 with the size of its groups, as int8:32, not '{}'",
                    {where, text});
}

}  // namespace fovea::runtime
