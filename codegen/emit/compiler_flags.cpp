// The rows of compiler_flags.def.
#include "codegen/emit/compiler_flags.h"

namespace fovea::emit {

const std::vector<CompilerFlag>& compiler_flags() {
    using For = CompilerFlag::For;
    static const std::vector<CompilerFlag> flags = {
#define FLAG(what, text, reason) {text, reason, For::what},
#include "codegen/emit/compiler_flags.def"
    };
    return flags;
}

const std::vector<CompilerFlag>& small_flags() {
    using For = CompilerFlag::For;
    static const std::vector<CompilerFlag> flags = {
#define SMALL_FLAG(what, text, reason) {text, reason, For::what},
#include "codegen/emit/compiler_flags.def"
    };
    return flags;
}

std::vector<std::string> machine_flags(std::string_view isa) {
    std::vector<std::string> flags;
    const auto add = [&](std::string_view owner, const char* text) {
        if (owner == isa) flags.emplace_back(text);
    };
#define MACHINE_FLAG(owner, text) add(#owner, text);
#include "codegen/emit/compiler_flags.def"
    return flags;
}

}  // namespace fovea::emit
