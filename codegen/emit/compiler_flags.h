// The flags that generated C++ is compiled with: by `fovea`, and by the CMakeLists.txt beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::emit {

struct CompilerFlag {
    enum class For { speed, all, gnu };

    std::string_view text;
    std::string_view reason;
    /// `speed`: left out where compiling is to be quick; `gnu`: g++ alone knows it.
    For what = For::all;
};

/// Those for every machine, besides the language's and OpenMP's.
const std::vector<CompilerFlag>& compiler_flags();

/// Those behind them for small code.
const std::vector<CompilerFlag>& small_flags();

/// Those for an instruction set (runtime/isa.h): none for `baseline` and `neon`, which all machines
/// of their kind have.
std::vector<std::string> machine_flags(std::string_view isa);

}  // namespace fovea::emit
