// Names of instruction sets on the command line.
#include "tools/fovea/isa_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "codegen/base/error.h"
#include "runtime/isa.h"
#include "tools/fovea/compiler.h"

namespace fovea::tool {

namespace {

/// Whether code with such products is another one for this instruction set.
bool gains(std::string_view isa, Products products) {
    if (runtime::multiplies_pairs(isa)) return products.dtype == DType::bf16;
    return !runtime::multiplies_bytes(isa) || products.of_numbers;
}

bool wants_portable(const Arguments& given) {
    return given.choice("bits", {"fastest", "portable"}) == "portable";
}

/// UserError where this machine has none that `is_wanted` takes.
std::string_view best_isa(const std::function<bool(std::string_view)>& is_wanted) {
    for (std::string_view isa : runtime::isa_names())
        if (is_wanted(isa) && runtime::machine_has(isa)) return isa;
    throw UserError("this machine has no instruction set with portable bits");
}
std::string_view best_isa(Products products) {
    return best_isa([&](std::string_view isa) { return gains(isa, products); });
}

bool has_portable(std::string_view isa) { return !runtime::portable_of(isa).empty(); }

/// What an instruction set without a portable form rounds otherwise than the others.
std::string_view what_it_rounds(std::string_view isa) {
    if (runtime::multiplies_pairs(isa)) return "products of pairs in a way of its own";
    if (runtime::multiplies_bytes(isa)) return "what weights of 8 and 4 bits are multiplied with";
    return "a product and a sum apart";
}

/// The portable forms of `isas`; where none was named, of those that have one.
std::vector<std::string> portable_forms(const std::vector<std::string>& isas, bool are_named) {
    std::vector<std::string> forms;
    for (const std::string& isa : isas) {
        if (has_portable(isa)) forms.emplace_back(runtime::portable_of(isa));
        else if (are_named)
            throw UserError(
                fmt::format("--bits portable takes avx512, avx2 and neon, not {}, which rounds {}",
                            isa, what_it_rounds(isa)));
    }
    return forms;
}

}  // namespace

void add_isa_option(po::options_description& options) {
    auto add = options.add_options();
    add("isa", po::value<std::string>()->value_name("avx512,avx2,baseline|neon|wasm|native"),
        "instruction sets that the program chooses among when it starts; by default all of the "
        "machine that the compiler is for, native is the best one of this machine");
    add("bits", po::value<std::string>()->value_name("fastest|portable"),
        "portable: the same bits with AVX-512, AVX2 and NEON, in training, too; fastest by "
        "default");
}

Products products_of(const LoadedModel& model) {
    return {model.dtype, static_cast<bool>(model.weights)};
}

std::vector<std::string> wanted_isas(const Arguments& given, Products products) {
    const auto names = runtime::isa_names();
    const std::vector<std::string> list = given.list("isa");
    const bool is_portable = wants_portable(given);
    const std::string_view best = is_portable ? best_isa(has_portable) : best_isa(products);
    std::vector<std::string> isas;
    for (std::string_view name : given.has("isa") ? names : runtime::isas_of(compiled_for())) {
        const auto is_it = [&](const std::string& wanted) {
            return wanted == name || (wanted == "native" && name == best);
        };
        if (given.has("isa") ? std::ranges::any_of(list, is_it) : gains(name, products))
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
    return is_portable ? portable_forms(isas, given.has("isa")) : isas;
}

std::string isa_of_this_machine(Products products) {
    const char* chosen = std::getenv("FOVEA_ISA");
    if (!chosen || !*chosen) return std::string(best_isa(products));
    const bool is_portable = std::string_view(chosen).ends_with("_portable");
    const auto names = is_portable ? runtime::portable_isa_names() : runtime::isa_names();
    return std::string(names[runtime::choose_isa(names)]);
}

}  // namespace fovea::tool
