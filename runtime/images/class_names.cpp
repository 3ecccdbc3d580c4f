#include "class_names.h"

#include <optional>

#include "../checkpoint/checkpoint_folder.h"
#include "../error.h"
#include "../options.h"

namespace fovea::runtime {

std::map<std::int64_t, std::string> class_names_beside(const std::string& weights) {
    const std::optional<Json> config = object_beside(weights, "config.json");
    const Json* labels = config ? config->find("id2label") : nullptr;
    if (!labels || labels->is_null()) return {};
    const auto fail = [&](const std::string& is) {
        throw UserError("'{}/config.json': id2label should have a text for each number, not {}",
                        {weights, is});
    };
    if (!labels->is_object()) fail(labels->text());
    std::map<std::int64_t, std::string> names;
    for (const auto& [key, name] : labels->object()) {
        const std::optional<std::int64_t> id = parse_integer(key);
        if (!id || !name.is_string()) fail("'" + key + "': " + name.text());
        names[*id] = name.string();
    }
    return names;
}

}  // namespace fovea::runtime
