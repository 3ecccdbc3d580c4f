// Names of instruction sets on the command line.
#include "tools/fovea/isa_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "runtime/isa.h"

namespace fovea::tool {

void add_isa_option(po::options_description& options) {
    options.add_options()(
        "isa", po::value<std::string>()->value_name("avx512,avx2,baseline|native"),
        "instruction sets that the program chooses among when it starts; all by default,\n"
        "native is the best one of this machine");
}

std::vector<std::string> wanted_isas(const Arguments& given) {
    const auto names = runtime::isa_names();
    const std::vector<std::string> list = given.list("isa");
    std::vector<std::string> isas;
    for (std::string_view name : names) {
        const bool native = name == std::ranges::find_if(names, runtime::machine_has)[0];
        const auto is_it = [&](const std::string& wanted) {
            return wanted == name || (wanted == "native" && native);
        };
        if (!given.has("isa") || std::ranges::any_of(list, is_it)) isas.emplace_back(name);
    }
    for (const std::string& wanted : list)
        if (wanted != "native" && std::ranges::find(names, wanted) == names.end())
            throw UserError(
                fmt::format("--isa takes {} or native, not '{}'", fmt::join(names, ", "), wanted));
    if (isas.empty()) throw UserError("--isa takes at least one name");
    return isas;
}

std::string isa_of_this_machine() {
    const auto names = runtime::isa_names();
    return std::string(names[runtime::choose_isa(names)]);
}

}  // namespace fovea::tool
