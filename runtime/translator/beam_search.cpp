// Each step takes the likeliest `beam` continuations of a sentence's live hypotheses. Those that
// end leave the beam; the search ends when no live one can still beat the worst that is kept.
#include "beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../decoding/likeliest_continuations.h"
#include "../error.h"
#include "../text/vocabulary.h"

namespace fovea::runtime {

namespace {

/// A live hypothesis, in the decoder's row of the same number.
struct Live {
    std::vector<std::int32_t> tokens;
    double log_probability = 0;
};

/// What makes logits logarithms of probabilities. UserError where there is no such number.
double checked_normalizer(std::span<const float> logits) {
    const double normalizer = log_normalizer(logits);
    if (!std::isfinite(normalizer))
        throw UserError(
            "the scores of the next word are not finite: the weights are of a training that "
            "diverged; train again with a smaller --lr");
    return normalizer;
}

/// The search of one sentence.
class Search {
  public:
    explicit Search(const BeamSettings& settings) : settings_(settings), live_(1) {}

    bool is_done() const { return live_.empty(); }
    std::int32_t last_token(std::size_t row) const {
        if (row >= live_.size() || live_[row].tokens.empty()) return kBegin;
        return live_[row].tokens.back();
    }

    /// Takes the logits of its live rows at least, [.., tgt_vocab]; `parents` are rows to go on
    /// from.
    void advance(std::span<const float> logits, std::size_t words, bool is_last,
                 std::span<std::int32_t> parents) {
        std::vector<Live> next;
        for (const Continuation& candidate : best_candidates(logits, words)) {
            Live longer = live_[std::size_t(candidate.parent)];
            longer.log_probability = candidate.log_probability;
            if (candidate.token == kEnd) {
                const std::size_t length = longer.tokens.size() + 1;
                finish(std::move(longer), length);
                continue;
            }
            longer.tokens.push_back(candidate.token);
            if (is_last) {
                const std::size_t length = longer.tokens.size();
                finish(std::move(longer), length);
                continue;
            }
            parents[next.size()] = candidate.parent;
            next.push_back(std::move(longer));
        }
        live_ = std::move(next);
        if (!can_improve()) live_.clear();
    }

    std::vector<Hypothesis> take() { return std::move(ended_); }

  private:
    std::size_t beam() const { return std::size_t(settings_.beam); }
    std::size_t best() const { return std::size_t(settings_.best); }

    std::vector<Continuation> best_candidates(std::span<const float> logits,
                                              std::size_t words) const {
        std::vector<double> normalizers, log_probabilities;
        for (std::size_t row = 0; row < live_.size(); ++row) {
            normalizers.push_back(checked_normalizer(logits.subspan(row * words, words)));
            log_probabilities.push_back(live_[row].log_probability);
        }
        return likeliest_continuations(logits.first(live_.size() * words), normalizers,
                                       log_probabilities, beam());
    }

    /// Keeps the best ones, sorted.
    void finish(Live hypothesis, std::size_t length) {
        Hypothesis ended{std::move(hypothesis.tokens), hypothesis.log_probability,
                         hypothesis_score(hypothesis.log_probability, length, settings_.alpha)};
        const auto place = std::upper_bound(
            ended_.begin(), ended_.end(), ended,
            [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
        ended_.insert(place, std::move(ended));
        if (ended_.size() > best()) ended_.pop_back();
    }

    /// Whether a live hypothesis may still be among the best: probabilities only fall, and a score
    /// is highest for the longest translation.
    bool can_improve() const {
        if (ended_.size() < best()) return true;
        return std::any_of(live_.begin(), live_.end(), [&](const Live& live) {
            return hypothesis_score(live.log_probability, std::size_t(settings_.steps),
                                    settings_.alpha) > ended_.back().score;
        });
    }

    const BeamSettings& settings_;
    std::vector<Live> live_;
    std::vector<Hypothesis> ended_;
};

}  // namespace

double hypothesis_score(double log_probability, std::size_t length, double alpha) {
    return log_probability / std::pow((5 + double(length)) / 6, alpha);
}

std::vector<std::vector<Hypothesis>> beam_search(Decoding& decoding,
                                                 std::span<const std::int32_t> sources,
                                                 std::span<const std::int32_t> lengths,
                                                 const BeamSettings& settings) {
    const std::size_t beam = std::size_t(settings.beam), rows = lengths.size() * beam;
    std::vector<Search> searches(lengths.size(), Search(settings));
    std::vector<std::int32_t> tokens(rows), parents(rows);
    const std::vector<std::int32_t> first(lengths.size(), kBegin);
    std::span<const float> logits =
        decoding.begin(sources, lengths, first, settings.steps, settings.beam);
    std::size_t live_rows = 1;  // of a sentence, that logits are of
    const auto is_done = [](const Search& search) { return search.is_done(); };
    for (std::int64_t position = 1;; ++position) {
        const std::size_t values = logits.size() / lengths.size();
        for (std::size_t row = 0; row < rows; ++row) parents[row] = std::int32_t(row % beam);
        for (std::size_t i = 0; i < searches.size(); ++i)
            searches[i].advance(logits.subspan(i * values, values), values / live_rows,
                                position == settings.steps,
                                std::span(parents).subspan(i * beam, beam));
        if (std::all_of(searches.begin(), searches.end(), is_done)) break;
        for (std::size_t row = 0; row < rows; ++row) {
            parents[row] += std::int32_t(row / beam * beam);
            tokens[row] = searches[row / beam].last_token(row % beam);
        }
        if (beam > 1) decoding.follow(parents);
        logits = decoding.step(tokens, position);
        live_rows = beam;
    }
    std::vector<std::vector<Hypothesis>> found;
    for (Search& search : searches) found.push_back(search.take());
    return found;
}

}  // namespace fovea::runtime
