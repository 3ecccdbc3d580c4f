#include "continue_texts.h"

#include <algorithm>
#include <optional>

#include "continue_beams.h"

namespace fovea::runtime {

namespace {

class TextRows {
  public:
    TextRows(TokenDecoder& decoder, std::span<const Prompt> prompts, const Continuing& options,
             const TakeToken& take)
        : decoder_(decoder), prompts_(prompts), options_(options), take_(take) {}

    void run(std::int64_t rows) {
        texts_.assign(static_cast<std::size_t>(rows), {});
        next_tokens_.assign(static_cast<std::size_t>(rows), 0);
        for (std::size_t row = 0; row < texts_.size(); ++row) begin_next(row);
        while (running_ > 0) {
            const std::span<const float> logits = decoder_.step(next_tokens_);
            const std::size_t words = logits.size() / texts_.size();
            for (std::size_t row = 0; row < texts_.size(); ++row)
                if (texts_[row]) take_token(row, logits.subspan(row * words, words));
            for (std::size_t row = 0; row < texts_.size(); ++row)
                if (!texts_[row]) begin_next(row);
        }
    }

  private:
    struct Text {
        std::size_t number = 0;
        std::int64_t most = 0;    // tokens
        std::int64_t tokens = 0;  // that have come
    };

    /// Reads prompts until one goes on behind its first token, or there are no more.
    void begin_next(std::size_t row) {
        while (!texts_[row] && next_ < prompts_.size()) {
            const Prompt& prompt = prompts_[next_];
            texts_[row] = Text{next_++, most_after(prompt, options_)};
            ++running_;
            take_token(row,
                       decoder_.read(static_cast<std::int64_t>(row), prompt.source, prompt.tokens));
        }
    }
    void take_token(std::size_t row, std::span<const float> logits) {
        Text& text = *texts_[row];
        const std::int32_t token = choose_token(
            logits, options_.sampling,
            static_cast<std::uint64_t>(decoder_.position(static_cast<std::int64_t>(row))));
        const bool ends = ++text.tokens == text.most ||
                          std::ranges::find(options_.ends, token) != options_.ends.end();
        take_(text.number, token, ends);
        next_tokens_[row] = ends ? 0 : token;
        if (!ends) return;
        texts_[row].reset();
        decoder_.end(static_cast<std::int64_t>(row));
        --running_;
    }

    TokenDecoder& decoder_;
    std::span<const Prompt> prompts_;
    const Continuing& options_;
    const TakeToken& take_;
    std::vector<std::optional<Text>> texts_;  // of rows
    Tokens next_tokens_;
    std::size_t next_ = 0;  // prompt
    std::int64_t running_ = 0;
};

}  // namespace

std::int64_t most_after(const Prompt& prompt, const Continuing& options) {
    if (options.positions == 0) return options.most;
    return std::min(options.most, options.positions - std::ssize(prompt.tokens) + 1);
}

void continue_texts(TokenDecoder& decoder, std::span<const Prompt> prompts,
                    const Continuing& options, const TakeToken& take) {
    const std::int64_t rows =
        decoder.takes_many() ? std::min(options.rows, std::ssize(prompts)) : 1;
    const auto room_of = [&](const Prompt& prompt) {
        return std::ssize(prompt.tokens) + most_after(prompt, options) - 1;
    };
    const auto run = [&](std::span<const Prompt> texts, const TakeToken& take_token) {
        if (options.beams > 1) continue_beams(decoder, texts, options, take_token, rows);
        else TextRows(decoder, texts, options, take_token).run(rows);
    };
    if (rows > 1) {
        std::int64_t room = 0;
        for (const Prompt& prompt : prompts) room = std::max(room, room_of(prompt));
        decoder.start(rows, room, 0, options.beams);
        return run(prompts, take);
    }
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const auto take_it = [&](std::size_t text, std::int32_t token, bool is_last) {
            take(i * static_cast<std::size_t>(options.best) + text, token, is_last);
        };
        decoder.start(1, room_of(prompts[i]), std::ssize(prompts[i].source), options.beams);
        run(prompts.subspan(i, 1), take_it);
    }
}

}  // namespace fovea::runtime
