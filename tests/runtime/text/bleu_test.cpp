// BLEU against values worked out by hand and the d2l chapter's.
#include "../../../runtime/text/bleu.h"

#include <doctest/doctest.h>

#include <cmath>

#include "../../../runtime/text/preprocess.h"

using namespace fovea::runtime;

namespace {

double score(const char* prediction, const char* reference, int k) {
    return bleu(split_words(prediction), split_words(reference), k);
}

}  // namespace

TEST_CASE("equal sentences score 1") {
    CHECK(score("va !", "va !", 2) == doctest::Approx(1));
    CHECK(score("je l'ai emporté .", "je l'ai emporté .", 2) == doctest::Approx(1));
}

TEST_CASE("the chapter's predictions score what it prints") {
    CHECK(score("je suis chez moi .", "je suis chez moi .", 2) == doctest::Approx(1));
    CHECK(score("il est riche .", "il est calme .", 2) ==
          doctest::Approx(std::pow(3.0 / 4, 0.5) * std::pow(1.0 / 3, 0.25)));
    CHECK(score("il est mouillé .", "il est calme .", 2) == doctest::Approx(0.658).epsilon(1e-3));
    CHECK(score("i lost .", "j'ai perdu .", 2) == 0);
}

TEST_CASE("a short prediction is penalized") {
    CHECK(score("a b", "a b c d", 2) == doctest::Approx(std::exp(-1.0)));
    CHECK(score("a b c d", "a b", 2) ==
          doctest::Approx(std::pow(0.5, 0.5) * std::pow(1.0 / 3, 0.25)));
}

TEST_CASE("an n-gram of the reference matches once") {
    CHECK(score("a a a a", "a b", 1) == doctest::Approx(std::pow(0.25, 0.5)));
}

TEST_CASE("a prediction too short for an n-gram scores 0") {
    CHECK(score("va", "va", 2) == 0);
    CHECK(score("", "va !", 2) == 0);
    CHECK(score("va", "va", 1) == 1);
}
