// Nested loops whose points the threads share.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/writer.h"

namespace fovea::emit {

/// One of the loops: `for (i64 variable = 0; variable < extent; variable += step)`.
struct SharedLoop {
    std::string variable;
    Expression extent;
    std::string step{};  // empty: 1
    bool last_first = false;  // from the last step down to 0
};

/// Opens one block, in which the variables are defined, for `Writer::close` to close:
/// `for (const auto at : my_points(batch, heads)) {`. Without loops it is the first thread's. How
/// threads get their points is a call without its last arguments: `my_points(`, in a row each;
/// `dealt_points(`, in turn; `taken_points(at_once`, so many in a row as they find time.
void open_shared_loops(const std::vector<SharedLoop>& loops, Signature& signature, Writer& writer,
                       std::string points = "my_points(");

}  // namespace fovea::emit
