// Each flag stands here alone, with its reason.
#include "codegen/emit/compiler_flags.h"

namespace fovea::emit {

const std::vector<CompilerFlag>& compiler_flags() {
    using For = CompilerFlag::For;
    static const std::vector<CompilerFlag> flags = {
        {"-O3",
         "loops of few steps are written out: small models train in 1 % less time than by -O2",
         For::speed},
        {"-ffp-contract=fast", "a product and a sum are one instruction"},
        {"-fno-math-errno", "so is a square root"},
        {"-Wno-psabi", "no notes on how vectors are passed: none goes to code from elsewhere"},
        {"-fno-tree-pre", "no copies of code before loops: a fifth of it all, and no faster",
         For::gnu},
    };
    return flags;
}

std::vector<std::string> machine_flags(std::string_view isa) {
    if (isa == "avx512_bf16") return {"-march=x86-64-v4", "-mavx512bf16"};
    if (isa == "avx512") return {"-march=x86-64-v4"};
    if (isa == "avx2") return {"-march=x86-64-v3"};
    return {};
}

}  // namespace fovea::emit
