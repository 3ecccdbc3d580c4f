#include <cstdio>

#include "fovea/load_parameters.h"
#include "fovea/training_step.h"
#include "tagger.h"
using namespace fovea::runtime;

int main() {
    Parameters parameters(tagger_model(), {});
    parameters.initialize(1);
    Optimizer adam(parameters.trained_size());
    TrainingStep training(tagger_model(), parameters, adam);
    Instance forward(tagger_model(), "forward", parameters);
    for (Instance* each : {&training.instance(), &forward}) {
        each->bind({{"batch", 2}, {"len", 3}});
        for (int i = 0; i < 6; ++i)
            each->input<int>("words")[i] = each->input<int>("tags")[i] = i % 5;
    }
    for (int step = 0; step < 20; ++step) {
        training.run(1, step, {.learning_rate = 0.01});
        forward.run();
        std::printf("loss %a\n", forward.output_values("loss")[0]);
    }
    write_safetensors("weights.safetensors", parameter_tensors(parameters));
}
