// Holes are filled from left to right.
#include "format.h"

#include <algorithm>

namespace fovea::runtime {

void Piece::append_to(std::string& text) const {
    switch (kind_) {
        case Kind::sized: text.append(text_, count_); break;
        case Kind::ended_by_zero: text += text_; break;
        case Kind::whole: text += std::to_string(static_cast<std::int64_t>(count_)); break;
        case Kind::natural: text += std::to_string(count_); break;
    }
}

std::string format(std::string_view form, std::initializer_list<Piece> pieces) {
    std::string text;
    for (const Piece& piece : pieces) {
        const std::size_t hole = std::min(form.find("{}"), form.size());
        text += form.substr(0, hole);
        piece.append_to(text);
        form.remove_prefix(std::min(hole + 2, form.size()));
    }
    return text += form;
}

}  // namespace fovea::runtime
