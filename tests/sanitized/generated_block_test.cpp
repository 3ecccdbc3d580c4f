// A generated model under the sanitizers: every kernel of lessons/block.cpp, forward and backward,
// at odd sizes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "block.h"
#include "fovea/session.h"

using namespace fovea::runtime;

namespace {

void fill_inputs_of(Instance& instance, std::int64_t length) {
    for (const TensorSpec& spec : instance.program().inputs) {
        std::int64_t count = 1;
        for (std::int64_t extent : instance.shape_of(spec)) count *= extent;
        for (std::int64_t i = 0; i < count; ++i)
            if (spec.dtype == DType::i32)
                instance.input<std::int32_t>(spec.name)[i] = std::int32_t((i + 1) % (length + 1));
            else instance.input<float>(spec.name)[i] = 0.01F * float(i % 37) - 0.2F;
    }
}

}  // namespace

TEST_CASE("the programs of a generated model read and write inside their memory") {
    const Model& model = block_model();
    Parameters parameters(model, {});
    parameters.initialize(3);
    for (const Program& program : model.programs)
        for (auto [batch, length] : {std::pair{1, 1}, {3, 7}, {2, 17}, {1, 33}, {2, 0}, {0, 5}}) {
            CAPTURE(program.name);
            CAPTURE(batch);
            CAPTURE(length);
            Instance instance(model, program.name, parameters);
            instance.bind({{"batch", batch}, {"len", length}});
            fill_inputs_of(instance, length);
            instance.run(5, 1);
            const float* output = instance.output<float>("output");
            for (int i = 0; i < batch * length * 64; ++i) REQUIRE(std::isfinite(output[i]));
        }
}
