#include "tools/fovea/files/verify_outputs.h"

#include "runtime/checkpoint/distinct_paths.h"

namespace fovea::tool {

void verify_outputs(const Arguments& given, const std::vector<std::string>& sources) {
    std::vector<runtime::NamedPath> written, read;
    for (const char* option : {"output", "outputs", "json", "svg", "depfile"})
        if (given.has(option)) written.push_back({std::string("--") + option, given.text(option)});
    for (const char* option : {"weights", kCheckpointOption})
        if (given.has(option)) read.push_back({std::string("--") + option, given.text(option)});
    for (const std::string& source : sources) read.push_back({"the model's source", source});
    runtime::verify_distinct(written, read);
}

}  // namespace fovea::tool
