// From the tree of a pattern to its steps.
#include <utility>

#include "../../error.h"
#include "pattern.h"

namespace fovea::runtime::tokens {

class PatternCompiler {
  public:
    explicit PatternCompiler(Pattern& pattern) : pattern_(pattern) {}

    void compile(const Syntax& syntax) {
        emit(syntax);
        add({Kind::done});
        keep_no_needless_choices();
        if (!may_be_empty(syntax)) pattern_.first_ = table_of(first_characters(syntax));
    }

    void operator()(const OneOf& one) { add({Kind::one, table_of(one.set)}); }

    void operator()(const InOrder& order) {
        for (const Syntax& part : order.parts) emit(part);
    }

    void operator()(const Alternatives& either) {
        std::vector<std::uint32_t> ends;
        for (const Syntax& branch : either.branches) {
            const bool is_last = &branch == &either.branches.back();
            const std::uint32_t choice = is_last ? 0 : add({Kind::either, filter_of(branch)});
            emit(branch);
            if (is_last) break;
            ends.push_back(add({Kind::jump}));
            pattern_.steps_[choice].target = next();
        }
        for (const std::uint32_t end : ends) pattern_.steps_[end].target = next();
    }

    void operator()(const Repeat& repeat) {
        const Syntax& body = repeat.body.front();
        if (const auto* one = std::get_if<OneOf>(&body.form)) {
            const Kind kind = repeat.greed == Greed::greedy ? Kind::loop
                              : repeat.greed == Greed::lazy ? Kind::lazy_loop
                                                            : Kind::possess;
            add({kind, table_of(one->set), Pattern::kNone, repeat.least, repeat.most});
        } else if (repeat.greed == Greed::possessive) {
            enclose(Kind::atomic, [&] { loop_of(body, repeat); });
        } else {
            loop_of(body, repeat);
        }
    }

    void operator()(const LookAhead& look) {
        enclose(look.is_negated ? Kind::look_ahead_for_none : Kind::look_ahead,
                [&] { emit(look.body.front()); });
    }

    void operator()(const LookBehind& look) {
        add({look.is_negated ? Kind::behind_none : Kind::behind, table_of(look.set)});
    }

    void operator()(const Atomic& atomic) {
        enclose(Kind::atomic, [&] { emit(atomic.body.front()); });
    }

    void operator()(Place place) {
        add({place == Place::text_start   ? Kind::text_start
             : place == Place::text_end   ? Kind::text_end
             : place == Place::line_start ? Kind::line_start
                                          : Kind::line_end});
    }

  private:
    using Kind = Pattern::Kind;
    static constexpr std::size_t kMostSteps = 10'000;

    std::uint32_t next() const { return std::uint32_t(pattern_.steps_.size()); }

    std::uint32_t add(Pattern::Step step) {
        if (pattern_.steps_.size() >= kMostSteps)
            throw UserError("the pattern '{}' has too many repeats", {pattern_.source_});
        pattern_.steps_.push_back(step);
        return next() - 1;
    }

    void emit(const Syntax& syntax) { std::visit(*this, syntax.form); }

    /// A loop that a match ends with never gives anything back.
    void keep_no_needless_choices() {
        for (std::size_t i = 0; i < pattern_.steps_.size(); ++i) {
            if (pattern_.steps_[i].kind != Kind::loop) continue;
            std::size_t next = i + 1;
            while (pattern_.steps_[next].kind == Kind::jump) next = pattern_.steps_[next].target;
            if (pattern_.steps_[next].kind == Kind::done) pattern_.steps_[i].kind = Kind::possess;
        }
    }

    template <class Body>
    void enclose(Kind kind, Body&& body) {
        const std::uint32_t start = add({kind});
        body();
        add({Kind::done});
        pattern_.steps_[start].target = next();
    }

    std::uint32_t table_of(const CharacterSet& set) {
        for (std::size_t i = 0; i < sets_.size(); ++i)
            if (sets_[i].ranges() == set.ranges()) return std::uint32_t(i);
        sets_.push_back(set);
        pattern_.tables_.emplace_back(set);
        return std::uint32_t(sets_.size() - 1);
    }

    std::uint32_t filter_of(const Syntax& branch) {
        return may_be_empty(branch) ? Pattern::kNone : table_of(first_characters(branch));
    }

    /// The body or what is behind it, in the order of the greed.
    void optional(const Syntax& body, Greed greed, bool again) {
        const std::uint32_t choice = add({Kind::either});
        if (greed == Greed::lazy) {
            const std::uint32_t leave = add({Kind::jump});
            pattern_.steps_[choice].target = next();
            emit(body);
            if (again) add({Kind::jump, Pattern::kNone, choice});
            pattern_.steps_[leave].target = next();
        } else {
            emit(body);
            if (again) add({Kind::jump, Pattern::kNone, choice});
            pattern_.steps_[choice].target = next();
        }
    }

    void loop_of(const Syntax& body, const Repeat& repeat) {
        for (std::uint32_t i = 0; i < repeat.least; ++i) emit(body);
        if (repeat.most == kNoLimit) return optional(body, repeat.greed, true);
        // (a(a(a)?)?)?: what fails leaves all of them.
        nested(body, repeat, repeat.most - repeat.least);
    }

    void nested(const Syntax& body, const Repeat& repeat, std::uint32_t count) {
        std::vector<std::uint32_t> leaves;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t choice = add({Kind::either});
            if (repeat.greed == Greed::lazy) {
                leaves.push_back(add({Kind::jump}));
                pattern_.steps_[choice].target = next();
            } else {
                leaves.push_back(choice);
            }
            emit(body);
        }
        for (const std::uint32_t leave : leaves) pattern_.steps_[leave].target = next();
    }

    Pattern& pattern_;
    std::vector<CharacterSet> sets_;
};

Pattern::Pattern(std::string_view source) : source_(source) {
    PatternCompiler(*this).compile(parse_pattern(source));
}

Pattern Pattern::of_text(std::string_view text) {
    Pattern pattern;
    pattern.source_ = text;
    return pattern;
}

}  // namespace fovea::runtime::tokens
