#include "tools/fovea/model/pytorch_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

namespace fovea::tool {

namespace {

struct PytorchName {
    std::string_view theirs, here;
};

constexpr std::array kPytorchNames = std::to_array<PytorchName>({
    {"arange", "iota(s, ...)"},
    {"bmm", "einsum"},
    {"cat", "concat"},
    {"expand", "broadcast"},
    {"interpolate", "repeat_interleave"},
    {"masked_fill", "where(mask, value, x)"},
    {"matmul", "einsum"},
    {"mm", "einsum"},
    {"narrow", "slice"},
    {"repeat", "tile"},
    {"reshape", "rearrange, flatten or unflatten"},
    {"transpose", "permute or rearrange"},
    {"var", "variance"},
    {"view", "rearrange, flatten or unflatten"},
});
/// Members of PyTorch's tensors that are functions of the same name.
constexpr std::array kPytorchMembers = std::to_array<std::string_view>(
    {"abs",     "amax", "argmax",  "clamp", "cumsum", "exp",      "flatten", "gather",
     "log",     "mean", "permute", "pow",   "prod",   "sigmoid",  "softmax", "sqrt",
     "squeeze", "sum",  "tanh",    "topk",  "relu",   "unsqueeze"});

}  // namespace

std::string advice_of_pytorch_name(const std::string& error) {
    static const std::regex unknown(
        R"('(\w+)' was not declared|undeclared identifier '(\w+)'|no member named '(\w+)')");
    std::smatch found;
    if (!std::regex_search(error, found, unknown)) return "";
    const std::string name = found.str(1) + found.str(2) + found.str(3);
    const auto known = std::ranges::find(kPytorchNames, name, &PytorchName::theirs);
    if (known != kPytorchNames.end())
        return fmt::format("; PyTorch's {} is {} here", name, known->here);
    const bool is_member = found[3].matched && std::ranges::count(kPytorchMembers, name) > 0;
    return is_member ? fmt::format("; {} is a function here: {}(x, ...)", name, name) : "";
}

}  // namespace fovea::tool
