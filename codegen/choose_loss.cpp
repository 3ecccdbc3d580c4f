#include "codegen/choose_loss.h"

#include <fmt/format.h>

#include "codegen/lower/loss_chunks.h"

namespace fovea {

namespace {

std::string size_text(const Dim& dim) {
    Text text;
    text << dim.without_label();
    return std::string(text.view());
}

}  // namespace

LossChoice choose_loss(const LossProduct& product, DType dtype, AttentionForm form,
                       const target::LossChoices& target) {
    LossChoice choice{product.rows, product.classes, product.width, true, {}};
    const auto store = [&](std::string reason) {
        choice.fused = false;
        choice.reason = std::move(reason);
        return choice;
    };
    if (form == AttentionForm::fused) {
        choice.reason = "asked for";
        return choice;
    }
    if (form == AttentionForm::plain) return store("asked for");
    if (is_half(dtype))
        return store(
            fmt::format("products of {} are faster than those of chunks", long_name_of(dtype)));
    if (!product.classes.is_static())
        return store("the size of " + size_text(product.classes) +
                     " is known only when the program runs, and for few classes that is faster");
    if (product.classes.value() < target.least_classes)
        return store(fmt::format("of {} classes, fewer than {}, that is faster",
                                 product.classes.value(), target.least_classes));
    const std::int64_t rows = lower::loss_chunk_rows(product.classes, target);
    if (product.rows.is_static() && product.rows.value() <= rows)
        return store(fmt::format("those of {} tokens are no more than those of a chunk, {}",
                                 product.rows.value(), rows));
    choice.reason =
        fmt::format("logits of {} tokens at a time, of {}", rows, size_text(product.rows));
    return choice;
}

}  // namespace fovea
