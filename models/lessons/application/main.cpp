// Learns a sentence, and writes it letter by letter.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "letters.h"

using namespace fovea;

namespace {

const std::string kText = "the quick brown fox jumps over the lazy dog";

int id_of(char letter) { return letter == ' ' ? 0 : letter - 'a' + 1; }
char letter_of(int id) { return id == 0 ? ' ' : char('a' + id - 1); }

/// logits: [1, 1, letters].
int likeliest(letters::View<const float, 3> logits) {
    return int(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

int main() {
    std::vector<int> ids;
    for (char letter : kText) ids.push_back(id_of(letter));
    const int len = int(ids.size()) - 1;

    const auto model = letters::Model::random(1);
    letters::Trainer trainer(model);
    for (int step = 0; step < 200; ++step)
        trainer.step({1, len}, {.ids = std::span(ids).first(len), .next = std::span(ids).last(len)},
                     {.learning_rate = 0.01});
    model.save("letters.safetensors");

    letters::Session session(letters::Model::load("letters.safetensors"));
    const letters::Dims dims = {.batch = 1, .len = 1, .steps = len};
    std::string text = "t";
    int id = id_of('t');
    auto logits = session.prefill(dims, {.ids = {&id, 1}}).logits;
    for (int position = 1; position <= len; ++position) {
        id = likeliest(logits);
        text += letter_of(id);
        if (position < len)
            logits =
                session.decode_step(dims, {.position = {&position, 1}, .ids = {&id, 1}}).logits;
    }
    std::printf("%s\n", text.c_str());
}
