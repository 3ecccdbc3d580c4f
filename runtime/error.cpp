// How errors are printed.
#include "error.h"

#include <cstdio>
#include <cstring>

#include "files/printable.h"

namespace fovea::runtime {

void print_error(const char* program, const char* kind, const char* text) {
    if (const char* slash = std::strrchr(program, '/')) program = slash + 1;
    const std::string shown = printable(text, LineFeeds::stay);
    std::fprintf(stderr, "%s: %s%s\n", program, kind, shown.c_str());
}

}  // namespace fovea::runtime
