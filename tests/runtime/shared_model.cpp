#include "tests/runtime/shared_model.h"

#include <atomic>

#include "runtime/memory/shared_buffers.h"
#include "runtime/parallel/team.h"

namespace fovea::test {
namespace {

using namespace fovea::runtime;

std::atomic<int> g_fills = 0;

// Tensors: 0 weight, 1 bias, 2 y, 3 the buffer.
void sum_prepared(const Call& call, int parameter, float factor) {
    const auto* const from = static_cast<const float*>(call.tensors[parameter]);
    auto* const prepared = static_cast<float*>(call.tensors[3]);
    if (call.prepare && !(call.stands && call.stands[3])) {
        Team team = Team::alone();
        if (call.want) call.want(call.want_state, parameter, team);
        ++g_fills;
        for (std::int64_t i = 0; i < kSharedWidth; ++i) prepared[i] = factor * from[i];
    }
    if (call.only_prepares) return;
    float sum = 0;
    for (std::int64_t i = 0; i < kSharedWidth; ++i) sum += prepared[i];
    for (std::int64_t b = 0; b < call.dims[0]; ++b) static_cast<float*>(call.tensors[2])[b] = sum;
}

Program sharing_program(const char* name, int shared, ProgramCode code) {
    Program result;
    result.name = name;
    result.outputs = {{.name = "y", .shape = {Extent::dim(0)}}};
    result.buffers = {
        {.name = "prepared", .shape = {kSharedWidth}, .prepared = true, .shared = shared}};
    result.run = code;
    return result;
}

Model build_shared_model() {
    const ProgramCode double_weight = [](const Call& call) { sum_prepared(call, 0, 2); };
    Model model;
    model.name = "shared";
    model.dims = {"batch"};
    model.parameters = {{.name = "weight", .shape = {kSharedWidth}, .copied = true},
                        {.name = "bias", .shape = {kSharedWidth}, .copied = true}};
    model.programs = {
        sharing_program("first", 0, double_weight), sharing_program("second", 0, double_weight),
        sharing_program("third", 1, [](const Call& call) { sum_prepared(call, 1, 3); })};
    model.shared_buffers = &kSharedBuffers;
    return model;
}

}  // namespace

const Model& shared_model() {
    static const Model model = build_shared_model();
    return model;
}

int fill_count() { return g_fills; }

}  // namespace fovea::test
