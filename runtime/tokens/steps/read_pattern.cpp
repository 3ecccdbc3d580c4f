// Patterns of files: text that stands for itself, or regular expressions.
#include "../../error.h"
#include "split.h"

namespace fovea::runtime::tokens {

Pattern read_split_pattern(const Field& field) {
    if (const auto text = field.find("String")) return Pattern::of_text(text->text());
    const Field expression = field["Regex"];
    try {
        return Pattern(expression.text());
    } catch (const UserError& error) {
        expression.refuse("is not taken: {}", {error.what()});
    }
}

}  // namespace fovea::runtime::tokens
