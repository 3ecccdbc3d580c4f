// Errors of generated programs, and the one place that turns them into sentences and exit statuses.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace fovea::runtime {

/// A mistake of the user: its text is one sentence that says what is wrong and with which sizes.
class UserError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A bug of ours, found at run time.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

/// Calls `body()`, which returns an exit status, and reports what it throws on standard error as
/// one line after `program: `, without the program's folder. Returns 2 for a UserError and 3 for
/// anything else.
template <class Body>
int report_errors(const char* program, Body&& body) {
    if (const char* slash = std::strrchr(program, '/')) program = slash + 1;
    try {
        return body();
    } catch (const UserError& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: internal error: %s\n", program, error.what());
    } catch (...) {
        std::fprintf(stderr, "%s: internal error of unknown kind\n", program);
    }
    return 3;
}

}  // namespace fovea::runtime
