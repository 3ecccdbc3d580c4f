#include "tools/fovea/adapt/lora_option.h"

#include <fmt/format.h>

#include "codegen/base/error.h"
#include "codegen/decode/source_values.h"
#include "runtime/options.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

constexpr const char* kLora = "lora";
constexpr const char* kAlpha = "lora-alpha";
constexpr std::int64_t kMostRank = 4096;

std::optional<Lora> wanted_lora(const Arguments& given) {
    if (!given.has(kLora)) {
        if (given.has(kAlpha)) throw UserError("--lora-alpha is for --lora RANK");
        return std::nullopt;
    }
    Lora lora;
    lora.rank = int(given.whole(kLora, {1, kMostRank}, 0));
    lora.alpha = 2 * lora.rank;
    if (!given.has(kAlpha)) return lora;
    const std::optional<double> alpha = runtime::parse_number(given.text(kAlpha));
    if (!alpha || !(*alpha > 0))
        throw UserError(
            fmt::format("--lora-alpha takes a number above 0, not '{}'", given.text(kAlpha)));
    lora.alpha = *alpha;
    return lora;
}

}  // namespace

void add_lora_options(po::options_description& options) {
    auto add = options.add_options();
    add(kLora, po::value<std::string>()->value_name("RANK"),
        "each linear layer of a language model gets a pair of matrices of this rank, which alone "
        "are trained");
    add(kAlpha, po::value<std::string>()->value_name("X"),
        "their product is times X / RANK (default 2 RANK)");
}

void take_lora(const Arguments& given, LoadedModel& model) {
    const std::optional<Lora> lora = wanted_lora(given);
    if (!lora) return;
    if (model.weights)
        throw UserError("--lora is for weights that are trained: leave out --set weights");
    if (const auto why = why_not_decoded(model))
        throw UserError(fmt::format("--lora is for models that go on with texts: {}", *why));
    if (!is_trained(model.graph))
        throw UserError(
            fmt::format("--lora is for models with a loss: {} has none", model.entry.name));
    if (const auto why = why_no_lora(model.graph))
        throw UserError(fmt::format("--lora: {} has no layer for it: {}", model.entry.name, *why));
    model.merge = merge_lora(model.graph, *lora);
    model.graph = add_lora(model.graph, *lora);
    model.settings.push_back({"lora_rank", std::to_string(lora->rank)});
    model.settings.push_back({"lora_alpha", fmt::format("{}", lora->alpha)});
    model.has_lora = true;
}

}  // namespace fovea::tool
