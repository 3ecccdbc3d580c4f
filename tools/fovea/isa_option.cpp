// Names of instruction sets on the command line.
#include "tools/fovea/isa_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/base/error.h"
#include "runtime/isa.h"
#include "tools/fovea/compiler.h"

namespace fovea::tool {

namespace {

/// Whether code with products of `dtype` is another one for this instruction set.
bool gains(std::string_view isa, DType dtype) {
    return isa != "avx512_bf16" || dtype == DType::bf16;
}

std::string_view best_isa(DType dtype) {
    return *std::ranges::find_if(runtime::isa_names(), [&](std::string_view isa) {
        return gains(isa, dtype) && runtime::machine_has(isa);
    });
}

}  // namespace

void add_isa_option(po::options_description& options) {
    options.add_options()(
        "isa", po::value<std::string>()->value_name("avx512,avx2,baseline|neon|native"),
        "instruction sets that the program chooses among when it starts; by default all of the "
        "machine that the compiler is for, native is the best one of this machine");
}

std::vector<std::string> wanted_isas(const Arguments& given, DType dtype) {
    const auto names = runtime::isa_names();
    const std::vector<std::string> list = given.list("isa");
    const std::string_view best = best_isa(dtype);
    std::vector<std::string> isas;
    for (std::string_view name : given.has("isa") ? names : runtime::isas_of(compiled_for())) {
        const auto is_it = [&](const std::string& wanted) {
            return wanted == name || (wanted == "native" && name == best);
        };
        if (given.has("isa") ? std::ranges::any_of(list, is_it) : gains(name, dtype))
            isas.emplace_back(name);
    }
    for (const std::string& wanted : list)
        if (wanted != "native" && std::ranges::find(names, wanted) == names.end())
            throw UserError(
                fmt::format("--isa takes {} or native, not '{}'", fmt::join(names, ", "), wanted));
    if (isas.empty()) throw UserError("--isa takes at least one name");
    if (const auto &first = isas.front(), &last = isas.back();
        runtime::machine_of(first) != runtime::machine_of(last))
        throw UserError(fmt::format(
            "--isa takes instruction sets of one kind of machine: {} is of {}, {} of {}", first,
            runtime::machine_of(first), last, runtime::machine_of(last)));
    return isas;
}

std::string isa_of_this_machine(DType dtype) {
    const auto names = runtime::isa_names();
    const char* chosen = std::getenv("FOVEA_ISA");
    return std::string(chosen && *chosen ? names[runtime::choose_isa(names)] : best_isa(dtype));
}

}  // namespace fovea::tool
