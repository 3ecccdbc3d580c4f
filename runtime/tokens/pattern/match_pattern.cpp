// Running the steps of a pattern, with a stack of the choices that are left.
#include "../../error.h"
#include "../character.h"
#include "pattern.h"

namespace fovea::runtime::tokens {

class Matcher {
  public:
    Matcher(const Pattern& pattern, std::string_view text)
        : pattern_(pattern), text_(text), steps_left_(kLeastSteps + kStepsPerByte * text.size()) {}

    /// The end of the match that starts at `at`.
    bool match(std::size_t at, std::size_t& end) { return run(0, at, end); }

    /// The first place from `at` on where a match may start.
    std::size_t start_from(std::size_t at) const {
        if (pattern_.first_ == Pattern::kNone) return at;
        const CharacterTable& first = pattern_.tables_[pattern_.first_];
        while (at < text_.size() && !holds(first, at)) at += width_at(text_, at);
        return at;
    }

  private:
    using Kind = Pattern::Kind;
    using Step = Pattern::Step;
    static constexpr std::size_t kLeastSteps = 1'000'000, kStepsPerByte = 1000;

    /// Where to go on: at `step`, from `at`, or, for loops, from any end down to `low`.
    struct Choice {
        std::uint32_t step;
        std::size_t at, low;
        std::uint32_t more = 0;  // how many characters a lazy loop may take yet
    };

    bool holds(const CharacterTable& table, std::size_t at) const {
        const auto byte = static_cast<unsigned char>(text_[at]);
        return byte < 0x80 ? table.contains_ascii(byte) : table.contains(character_at(text_, at));
    }

    bool takes(std::uint32_t table, std::size_t& at) const {
        if (at >= text_.size() || !holds(pattern_.tables_[table], at)) return false;
        at += width_at(text_, at);
        return true;
    }

    bool is_behind(std::uint32_t table, std::size_t at) const {
        return at > 0 && holds(pattern_.tables_[table], before(text_, at));
    }

    bool is_at(Kind place, std::size_t at) const {
        switch (place) {
            case Kind::text_start: return at == 0;
            case Kind::text_end: return at == text_.size();
            case Kind::line_start:  // behind the last line feed no line starts
                return at == 0 || (at < text_.size() && text_[at - 1] == '\n');
            default: return at == text_.size() || text_[at] == '\n';
        }
    }

    bool loop(const Step& step, std::uint32_t next, std::size_t& at) {
        const CharacterTable& table = pattern_.tables_[step.table];
        std::uint32_t count = 0;
        std::size_t low = at;
        while (count < step.most && at < text_.size() && holds(table, at)) {
            at += width_at(text_, at);
            if (++count == step.least) low = at;
        }
        if (count < step.least) return false;
        spend(count);
        if (step.kind == Kind::loop && at > low) choices_.push_back({next, at, low});
        return true;
    }

    bool lazy_loop(const Step& step, std::uint32_t next, std::size_t& at) {
        for (std::uint32_t i = 0; i < step.least; ++i)
            if (!takes(step.table, at)) return false;
        if (step.most > step.least)
            choices_.push_back(
                {next, at, at, step.most == kNoLimit ? kNoLimit : step.most - step.least});
        return true;
    }

    /// Takes the last choice that is left above `base`.
    bool go_back(std::size_t base, std::uint32_t& step, std::size_t& at) {
        while (choices_.size() > base) {
            Choice& choice = choices_.back();
            step = choice.step;
            if (choice.more != 0) {
                const std::uint32_t table = pattern_.steps_[step - 1].table;
                if (!takes(table, choice.at)) {
                    choices_.pop_back();
                    continue;
                }
                at = choice.at;
                if (choice.more != kNoLimit) --choice.more;
                if (choice.more == 0) choices_.pop_back();
                return true;
            }
            if (choice.at > choice.low) {
                at = choice.at = before(text_, choice.at);
                if (choice.at == choice.low) choices_.pop_back();
                return true;
            }
            at = choice.at;
            choices_.pop_back();
            return true;
        }
        return false;
    }

    void spend(std::size_t count) {
        if (count > steps_left_)
            throw UserError("the pattern '{}' takes too many steps on this text",
                            {pattern_.source_});
        steps_left_ -= count;
    }

    bool run(std::uint32_t at_step, std::size_t at, std::size_t& end);

    const Pattern& pattern_;
    std::string_view text_;
    std::vector<Choice> choices_;
    std::size_t steps_left_;
};

bool Matcher::run(std::uint32_t at_step, std::size_t at, std::size_t& end) {
    const std::size_t base = choices_.size();
    for (;;) {
        const Step& step = pattern_.steps_[at_step];
        const std::uint32_t next = at_step + 1;
        bool holds_here = true;
        std::size_t inner = at;
        spend(1);
        at_step = next;
        switch (step.kind) {
            case Kind::done:
                choices_.resize(base);
                end = at;
                return true;
            case Kind::one: holds_here = takes(step.table, at); break;
            case Kind::loop:
            case Kind::possess: holds_here = loop(step, next, at); break;
            case Kind::lazy_loop: holds_here = lazy_loop(step, next, at); break;
            case Kind::jump: at_step = step.target; break;
            case Kind::either:
                if (step.table != Pattern::kNone &&
                    (at >= text_.size() || !holds(pattern_.tables_[step.table], at))) {
                    at_step = step.target;
                } else {
                    choices_.push_back({step.target, at, at});
                }
                break;
            case Kind::look_ahead:
            case Kind::look_ahead_for_none:
                holds_here = run(next, at, inner) == (step.kind == Kind::look_ahead);
                at_step = step.target;
                break;
            case Kind::atomic:
                holds_here = run(next, at, at);
                at_step = step.target;
                break;
            case Kind::behind: holds_here = is_behind(step.table, at); break;
            case Kind::behind_none: holds_here = !is_behind(step.table, at); break;
            default: holds_here = is_at(step.kind, at); break;
        }
        if (!holds_here && !go_back(base, at_step, at)) return false;
    }
}

std::vector<PatternMatch> Pattern::literal_matches(std::string_view text) const {
    std::vector<PatternMatch> found;
    for (std::size_t at = 0; !source_.empty();) {
        at = text.find(source_, at);
        if (at == text.npos) break;
        found.push_back({at, at + source_.size()});
        at += source_.size();
    }
    return found;
}

std::vector<PatternMatch> Pattern::matches(std::string_view text) const {
    if (steps_.empty()) return literal_matches(text);
    std::vector<PatternMatch> found;
    Matcher matcher(*this, text);
    for (std::size_t at = matcher.start_from(0); at <= text.size(); at = matcher.start_from(at)) {
        std::size_t end = at;
        const bool is_one = (first_ == kNone || at < text.size()) && matcher.match(at, end);
        const bool repeats = is_one && end == at && !found.empty() && found.back().end == at;
        if (is_one && !repeats) found.push_back({at, end});
        // An empty match is looked for behind it once more: there it does not count.
        if (is_one && end > at) {
            at = end;
        } else if (at < text.size()) {
            at += width_at(text, at);
        } else {
            break;
        }
    }
    return found;
}

}  // namespace fovea::runtime::tokens
