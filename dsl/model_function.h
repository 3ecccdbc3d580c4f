// What a library of one model is made of: its source includes the model's file and this one, and
// exports
//
//     extern "C" void fovea_entry(fovea::ModelEntry* entry) {
//         *entry = fovea::entry_of<fovea::model_function(&::my_model)>("my_model", "my_model.cpp");
//     }
#pragma once

#include "dsl/model_entry.h"

namespace fovea {

/// Of all functions of one name, C's among them, the one that is a model.
constexpr auto model_function(void (*model)(Scope)) { return model; }
template <class Settings>
constexpr auto model_function(void (*model)(Scope, Settings)) {
    return model;
}

}  // namespace fovea
