// How errors are printed.
#include "error.h"

#include <cstdio>
#include <cstring>

#include "files/printable.h"

namespace fovea::runtime {

UserError::UserError(std::string_view form, std::initializer_list<Piece> pieces)
    : std::runtime_error(format(form, pieces)) {}

InternalError::InternalError(std::string_view form, std::initializer_list<Piece> pieces)
    : std::logic_error(format(form, pieces)) {}

void print_error(const char* program, const char* kind, const char* text) {
    if (const char* slash = std::strrchr(program, '/')) program = slash + 1;
    const std::string shown = printable(text, LineFeeds::stay);
    std::fprintf(stderr, "%s: %s%s\n", program, kind, shown.c_str());
}

}  // namespace fovea::runtime
