#include <cstdio>
#include "tagger.h"
using namespace fovea;

int main() {
    const auto model = tagger::Model::random(1);
    tagger::Trainer trainer(model);
    tagger::Session session(model);
    const int ids[] = {0, 1, 2, 3, 4, 0};
    for (int step = 0; step < 20; ++step) {
        trainer.step({2, 3}, {.words = ids, .tags = ids}, {.learning_rate = 0.01});
        std::printf("loss %a\n", session.forward({2, 3}, {.words = ids, .tags = ids}).loss);
    }
    model.save("weights.safetensors");
}
