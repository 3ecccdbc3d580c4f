// The two kinds of errors: the user's and ours.
#pragma once

#include <stdexcept>
#include <string>

namespace fovea {

/// A mistake in a model, a file or an option. The text says what is wrong, the sizes, where, and
/// what to do; programs print it and end with status 2.
struct UserError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A bug of fovea's own; programs end with status 3.
struct InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

}  // namespace fovea
