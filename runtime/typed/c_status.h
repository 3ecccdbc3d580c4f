// From exceptions to the codes of the C interface.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "../c.h"
#include "../error.h"
#include "../training/optimizer.h"
#include "../training_step.h"

namespace fovea::runtime {

/// Keeps what fovea_error() gives on this thread.
void keep_c_error(const char* text) noexcept;

/// Calls `body()` and turns what it throws into a status and a sentence.
template <class Body>
int c_status(Body&& body) noexcept {
    try {
        body();
        return FOVEA_OK;
    } catch (const UserError& error) {
        keep_c_error(error.what());
        return FOVEA_USER_ERROR;
    } catch (const std::bad_alloc&) {
        keep_c_error("there is not enough memory for these sizes");
        return FOVEA_USER_ERROR;
    } catch (const std::length_error&) {
        keep_c_error("there is not enough memory for these sizes");
        return FOVEA_USER_ERROR;
    } catch (const std::exception& error) {
        keep_c_error(error.what());
    } catch (...) {
        keep_c_error("an error of unknown kind");
    }
    return FOVEA_INTERNAL_ERROR;
}

/// UserError for a kind that there is not. Null: Adam.
OptimizerSettings settings_of(const fovea_optimizer* optimizer);
StepRule rule_of(const fovea_step_rule& rule);

/// UserError that names `what` when it is null.
void refuse_null(const void* address, const char* what);

}  // namespace fovea::runtime
