#include "tests/runtime/shared_model.h"

#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "runtime/memory/halves.h"
#include "runtime/memory/shared_buffers.h"
#include "runtime/parallel/team.h"
#include "runtime/safetensors.h"

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
    result.needs = {{}};
    result.buffers = {
        {.name = "prepared", .shape = {kSharedWidth}, .prepared = true, .shared = shared}};
    result.run = code;
    return result;
}

// Tensors: 0 weight, 1 bias, 2 y.
void look_up(const Call& call) {
    const HalfFloats table = call.halves ? call.halves[0] : HalfFloats();
    const float number =
        table.address
            ? float_of_half(table.type, static_cast<const std::uint16_t*>(table.address)[7])
            : static_cast<const float*>(call.tensors[0])[7];
    for (std::int64_t b = 0; b < call.dims[0]; ++b)
        static_cast<float*>(call.tensors[2])[b] = number;
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

Model build_looking_up_model() {
    Model model = build_shared_model();
    model.parameters[0].looked_up = true;
    Program program;
    program.name = "fourth";
    program.outputs = model.programs[0].outputs;
    program.needs = model.programs[0].needs;
    program.run = look_up;
    model.programs.push_back(program);
    return model;
}

}  // namespace

const Model& looking_up_model() {
    static const Model model = build_looking_up_model();
    return model;
}

const Model& shared_model() {
    static const Model model = build_shared_model();
    return model;
}

std::string write_shared_weights(const TemporaryFolder& folder, bool halves, float weight) {
    const std::string path = folder.file("weights.safetensors");
    std::vector<float> floats[2];
    std::vector<std::uint16_t> bits[2];
    std::vector<TensorView> tensors;
    for (const int i : {0, 1}) {
        const float value = i ? 2.F : weight;
        floats[i].assign(kSharedWidth, value);
        bits[i].assign(kSharedWidth, half_of_float(DType::bf16, value));
        const Bytes bytes =
            halves ? std::as_bytes(std::span(bits[i])) : std::as_bytes(std::span(floats[i]));
        tensors.push_back({i ? "bias" : "weight", halves ? "BF16" : "F32", {kSharedWidth}, bytes});
    }
    write_safetensors(path, std::move(tensors));
    return path;
}

int fill_count() { return g_fills; }

}  // namespace fovea::test
