#include "continue_beams.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "../decoding/likeliest_continuations.h"
#include "../error.h"

namespace fovea::runtime {

namespace {

/// The search for one text. Its live hypotheses are the decoder's rows of the same numbers, from
/// the text's first one on.
class BeamOfText {
  public:
    BeamOfText(const Continuing& options, std::int64_t most) : options_(options), most_(most) {}

    struct Hypothesis {
        Tokens tokens;
        double log_probability = 0, score = 0;
        std::int32_t parent = 0;  // the row that it goes on from
    };

    /// Takes the logits of its rows, [live, words].
    void advance(std::span<const float> logits) {
        ++length_;
        std::vector<Hypothesis> next;
        std::size_t rank = 0;
        for (const Continuation& longer : likeliest(logits)) {
            const bool ends = length_ == most_ || is_end(longer.token);
            // What ends is kept where it is among as many as there are beams.
            if (ends && rank < beams()) finish(hypothesis_of(longer));
            if (!ends && next.size() < beams()) next.push_back(hypothesis_of(longer));
            ++rank;
        }
        live_ = std::move(next);
        if (!can_improve()) live_.clear();
    }
    bool is_done() const { return live_.empty(); }
    const std::vector<Hypothesis>& live() const { return live_; }
    /// The best first.
    const std::vector<Hypothesis>& ended() const { return ended_; }

  private:
    std::size_t beams() const { return static_cast<std::size_t>(options_.beams); }
    bool is_end(std::int32_t token) const {
        return std::ranges::find(options_.ends, token) != options_.ends.end();
    }
    double score(double log_probability) const {
        return log_probability / std::pow(static_cast<double>(length_), options_.length_penalty);
    }
    /// So many that as many as there are beams go on, whichever end.
    std::vector<Continuation> likeliest(std::span<const float> logits) const {
        const std::size_t words = logits.size() / live_.size();
        std::vector<double> normalizers, log_probabilities;
        for (std::size_t row = 0; row < live_.size(); ++row) {
            normalizers.push_back(log_normalizer(logits.subspan(row * words, words)));
            log_probabilities.push_back(live_[row].log_probability);
        }
        const std::size_t count = beams() * std::max<std::size_t>(2, 1 + options_.ends.size());
        return likeliest_continuations(logits, normalizers, log_probabilities, count);
    }
    Hypothesis hypothesis_of(const Continuation& longer) const {
        Hypothesis made{live_[static_cast<std::size_t>(longer.parent)].tokens,
                        longer.log_probability, score(longer.log_probability), longer.parent};
        made.tokens.push_back(longer.token);
        return made;
    }
    /// Keeps the best ones, sorted; of equal ones those that ended first.
    void finish(Hypothesis hypothesis) {
        const auto place = std::ranges::upper_bound(ended_, hypothesis.score, std::greater<>(),
                                                    &Hypothesis::score);
        ended_.insert(place, std::move(hypothesis));
        if (ended_.size() > beams()) ended_.pop_back();
    }
    bool can_improve() const {
        if (live_.empty() || ended_.size() < beams()) return true;
        return score(live_.front().log_probability) > ended_.back().score;
    }

    const Continuing& options_;
    const std::int64_t most_;  // tokens
    std::int64_t length_ = 0;  // tokens
    std::vector<Hypothesis> live_{1}, ended_;
};

class BeamRows {
  public:
    BeamRows(TokenDecoder& decoder, std::span<const Prompt> prompts, const Continuing& options,
             const TakeToken& take)
        : decoder_(decoder), prompts_(prompts), options_(options), take_(take) {}

    void run(std::int64_t at_once) {
        texts_.resize(static_cast<std::size_t>(at_once));
        const std::size_t rows = texts_.size() * beams();
        Tokens next_tokens(rows);
        std::vector<std::int32_t> parents(rows);
        for (std::size_t place = 0; place < texts_.size(); ++place) begin_next(place);
        while (running_ > 0) {
            place_rows(next_tokens, parents);
            decoder_.follow(parents);
            const std::span<const float> logits = decoder_.step(next_tokens);
            const std::size_t words = logits.size() / rows;
            for (std::size_t place = 0; place < texts_.size(); ++place)
                if (texts_[place])
                    advance(place, logits.subspan(place * beams() * words,
                                                  texts_[place]->beam.live().size() * words));
            for (std::size_t place = 0; place < texts_.size(); ++place)
                if (!texts_[place]) begin_next(place);
        }
    }

  private:
    struct Text {
        std::size_t number = 0;
        BeamOfText beam;
    };

    std::size_t beams() const { return static_cast<std::size_t>(options_.beams); }

    /// Reads prompts until one goes on behind its first token, or there are no more.
    void begin_next(std::size_t place) {
        while (!texts_[place] && next_ < prompts_.size()) {
            const Prompt& prompt = prompts_[next_];
            texts_[place].emplace(Text{next_++, {options_, most_after(prompt, options_)}});
            ++running_;
            advance(place, decoder_.read(static_cast<std::int64_t>(place * beams()), prompt.source,
                                         prompt.tokens));
        }
    }
    void advance(std::size_t place, std::span<const float> logits) {
        Text& text = *texts_[place];
        const auto row = static_cast<std::int64_t>(place * beams());
        verify_logits(logits, static_cast<std::uint64_t>(decoder_.position(row)));
        text.beam.advance(logits);
        if (!text.beam.is_done()) return;
        const auto best = static_cast<std::size_t>(options_.best);
        if (text.beam.ended().size() < best)
            throw UserError("--best {}: beams have found {} texts; the model has {} tokens",
                            {best, text.beam.ended().size(), decoder_.words()});
        for (std::size_t rank = 0; rank < best; ++rank) {
            const Tokens& made = text.beam.ended()[rank].tokens;
            for (std::size_t i = 0; i < made.size(); ++i)
                take_(text.number * best + rank, made[i], i + 1 == made.size());
        }
        texts_[place].reset();
        --running_;
    }
    /// The last token of each row, and the row that it goes on from.
    void place_rows(Tokens& next_tokens, std::vector<std::int32_t>& parents) const {
        std::ranges::fill(next_tokens, 0);
        std::ranges::fill(parents, -1);
        for (std::size_t place = 0; place < texts_.size(); ++place) {
            if (!texts_[place]) continue;
            std::size_t row = place * beams();
            const auto first = static_cast<std::int32_t>(row);
            for (const BeamOfText::Hypothesis& live : texts_[place]->beam.live()) {
                next_tokens[row] = live.tokens.back();
                parents[row++] = first + live.parent;
            }
        }
    }

    TokenDecoder& decoder_;
    std::span<const Prompt> prompts_;
    const Continuing& options_;
    const TakeToken& take_;
    std::vector<std::optional<Text>> texts_;  // that are read together
    std::size_t next_ = 0;                    // prompt
    std::int64_t running_ = 0;
};

}  // namespace

void continue_beams(TokenDecoder& decoder, std::span<const Prompt> prompts,
                    const Continuing& options, const TakeToken& take, std::int64_t at_once) {
    BeamRows(decoder, prompts, options, take).run(at_once);
}

}  // namespace fovea::runtime
