// Errors of generated programs, and the one place that turns them into sentences and exit statuses.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "format.h"

namespace fovea::runtime {

/// A mistake of the user: its text is one sentence that says what is wrong and with which sizes,
/// with or without holes (format.h).
class UserError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    UserError(std::string_view form, std::initializer_list<Piece> pieces);
};

/// A bug of ours, found at run time.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
    InternalError(std::string_view form, std::initializer_list<Piece> pieces);
};

/// Prints `program: kind text` on standard error, without the program's folder. Control characters
/// of the text, which may come from a file, are printed as `printable` has them; line feeds stay.
void print_error(const char* program, const char* kind, const char* text);

/// Calls `body()`, which returns an exit status, and reports what it throws on standard error.
/// Returns 2 for a UserError and where memory is short, 3 for anything else.
template <class Body>
int report_errors(const char* program, Body&& body) {
    try {
        return body();
    } catch (const UserError& error) {
        print_error(program, "", error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        print_error(program, "", "there is not enough memory for these sizes");
        return 2;
    } catch (const std::length_error&) {
        print_error(program, "", "there is not enough memory for these sizes");
        return 2;
    } catch (const std::exception& error) {
        print_error(program, "internal error: ", error.what());
    } catch (...) {
        print_error(program, "internal error", " of unknown kind");
    }
    return 3;
}

}  // namespace fovea::runtime
