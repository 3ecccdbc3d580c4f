// Learns a sentence, and writes it letter by letter.
#include <cstdio>
#include <string>
#include <vector>

#include "letters.h"
#include "letters_step.h"

using namespace fovea;

namespace {

const std::string kText = "the quick brown fox jumps over the lazy dog";

int id_of(char letter) { return letter == ' ' ? 0 : letter - 'a' + 1; }
char letter_of(int id) { return id == 0 ? ' ' : char('a' + id - 1); }

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

    const auto written = letters_step::Model::load("letters.safetensors");
    letters_step::Session session(written);
    std::string text = "t";
    for (int position = 0; position < len; ++position) {
        const int id = id_of(text.back());
        const auto logits =
            session.forward({1, len}, {.id = {&id, 1}, .position = {&position, 1}}).logits;
        int best = 0;
        for (int letter = 1; letter < 27; ++letter)
            if (logits(0, letter) > logits(0, best)) best = letter;
        text += letter_of(best);
    }
    std::printf("%s\n", text.c_str());
}
