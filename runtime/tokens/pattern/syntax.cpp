// What a part of a pattern may start with.
#include "syntax.h"

#include <algorithm>

namespace fovea::runtime::tokens {

namespace {

bool body_may_be_empty(const Syntaxes& body) { return may_be_empty(body.front()); }

struct MayBeEmpty {
    bool operator()(const OneOf&) const { return false; }
    bool operator()(const InOrder& order) const {
        return std::ranges::all_of(order.parts, may_be_empty);
    }
    bool operator()(const Alternatives& either) const {
        return std::ranges::any_of(either.branches, may_be_empty);
    }
    bool operator()(const Repeat& repeat) const {
        return repeat.least == 0 || body_may_be_empty(repeat.body);
    }
    bool operator()(const LookAhead&) const { return true; }
    bool operator()(const LookBehind&) const { return true; }
    bool operator()(const Atomic& atomic) const { return body_may_be_empty(atomic.body); }
    bool operator()(Place) const { return true; }
};

struct FirstCharacters {
    CharacterSet operator()(const OneOf& one) const { return one.set; }
    CharacterSet operator()(const InOrder& order) const {
        CharacterSet first;
        for (const Syntax& part : order.parts) {
            first.add(first_characters(part));
            if (!may_be_empty(part)) break;
        }
        return first;
    }
    CharacterSet operator()(const Alternatives& either) const {
        CharacterSet first;
        for (const Syntax& branch : either.branches) first.add(first_characters(branch));
        return first;
    }
    CharacterSet operator()(const Repeat& repeat) const {
        return repeat.most == 0 ? CharacterSet() : first_characters(repeat.body.front());
    }
    CharacterSet operator()(const LookAhead&) const { return {}; }
    CharacterSet operator()(const LookBehind&) const { return {}; }
    CharacterSet operator()(const Atomic& atomic) const {
        return first_characters(atomic.body.front());
    }
    CharacterSet operator()(Place) const { return {}; }
};

}  // namespace

bool may_be_empty(const Syntax& syntax) { return std::visit(MayBeEmpty(), syntax.form); }

CharacterSet first_characters(const Syntax& syntax) {
    return std::visit(FirstCharacters(), syntax.form);
}

}  // namespace fovea::runtime::tokens
