// A place in the user's source: what every node, module and error carries.
#pragma once

#include <string_view>

namespace fovea {

/// File, line and function of a call, as the compiler knows them. `line` is 0 where there is none.
struct Location {
    const char* file = "";
    int line = 0;
    const char* function = "";

    static constexpr Location here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                   const char* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
    /// The file's name without its folders.
    constexpr std::string_view file_name() const {
        std::string_view path = file;
        if (auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
        return path;
    }
};

}  // namespace fovea
