// Taking options out of what Boost.Program_options parses by.
#include "tools/fovea/help/options_list.h"

namespace fovea::tool {

std::vector<OptionText> options_of(const Command& command) {
    const po::options_description all = with_help(command.options);
    std::vector<OptionText> list;
    for (const auto& option : all.options()) {
        const std::string dashed = option->canonical_display_name(
            po::command_line_style::
                allow_dash_for_short);  // `-o`; the long name where there is none
        list.push_back({option->long_name(),
                        dashed.size() == 2 && dashed[0] == '-' ? dashed[1] : char(0),
                        option->semantic()->max_tokens() == 0 ? "" : option->format_parameter(),
                        option->description()});
    }
    return list;
}

}  // namespace fovea::tool
