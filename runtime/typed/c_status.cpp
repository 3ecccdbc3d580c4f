// The parts of the C interface that all models share.
#include "c_status.h"

#include <string>

namespace fovea::runtime {
namespace {

std::string& c_error() {
    thread_local std::string text;
    return text;
}

}  // namespace

void keep_c_error(const char* text) noexcept {
    try {
        c_error() = text;
    } catch (...) {
        c_error().clear();
    }
}

OptimizerSettings settings_of(const fovea_optimizer* optimizer) {
    OptimizerSettings settings;
    if (!optimizer) return settings;
    switch (optimizer->kind) {
        case FOVEA_ADAM: settings.kind = OptimizerKind::adam; break;
        case FOVEA_ADAMW: settings.kind = OptimizerKind::adamw; break;
        case FOVEA_SGD: settings.kind = OptimizerKind::sgd; break;
        default:
            throw UserError(
                "there is no optimizer of kind {}: it is FOVEA_ADAM, FOVEA_ADAMW or "
                "FOVEA_SGD",
                {optimizer->kind});
    }
    settings.beta1 = optimizer->beta1, settings.beta2 = optimizer->beta2;
    settings.epsilon = optimizer->epsilon, settings.momentum = optimizer->momentum;
    settings.weight_decay = optimizer->weight_decay;
    return settings;
}

StepRule rule_of(const fovea_step_rule& rule) {
    return {.learning_rate = rule.learning_rate,
            .clip = rule.clip,
            .gradient_scale = rule.gradient_scale == 0 ? 1 : rule.gradient_scale};
}

void refuse_null(const void* address, const char* what) {
    if (!address) throw UserError("{} is a null pointer", {what});
}

}  // namespace fovea::runtime

extern "C" {

const char* fovea_error(void) { return fovea::runtime::c_error().c_str(); }

fovea_optimizer fovea_default_optimizer(void) {
    const fovea::runtime::OptimizerSettings settings;
    return {FOVEA_ADAM,       settings.beta1,    settings.beta2,
            settings.epsilon, settings.momentum, settings.weight_decay};
}
}
