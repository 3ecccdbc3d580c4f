// What is wrong with a program, on the way from the check that finds it.
#pragma once

#include <string>

#include "codegen/base/error.h"
#include "runtime/error.h"

namespace fovea::tool::fuzz {

/// The stage and the kind of output, without numbers, and the whole of it.
struct Wrong {
    std::string where, what;
};

/// Calls `f`; an exception of it is what is wrong with a stage.
template <class F>
auto at(const std::string& where, F&& f) {
    try {
        return f();
    } catch (const InternalError& error) {
        throw Wrong{where + ": internal error", error.what()};
    } catch (const UserError& error) {
        throw Wrong{where + ": refused", error.what()};
    } catch (const runtime::UserError& error) {
        throw Wrong{where + ": refused", error.what()};
    } catch (const std::exception& error) {
        throw Wrong{where + ": exception", error.what()};
    }
}

}  // namespace fovea::tool::fuzz
