// The five ways in which matches divide a piece.
#include "split.h"

#include <algorithm>

namespace fovea::runtime::tokens {

namespace {

/// Joins a match to the part that was added before it, unless that is a match too.
std::vector<Part> merged(std::vector<Part> parts, bool with_next) {
    std::vector<Part> out;
    bool was_match = false;
    if (with_next) std::reverse(parts.begin(), parts.end());
    for (const Part& part : parts) {
        if (part.is_match && !was_match && !out.empty()) {
            (with_next ? out.back().begin : out.back().end) = with_next ? part.begin : part.end;
        } else {
            out.push_back(part);
        }
        was_match = part.is_match;
    }
    if (with_next) std::reverse(out.begin(), out.end());
    return out;
}

/// Joins neighbours of one kind.
std::vector<Part> joined_neighbours(const std::vector<Part>& parts) {
    std::vector<Part> out;
    for (const Part& part : parts) {
        if (!out.empty() && out.back().is_match == part.is_match) {
            out.back().end = part.end;
        } else {
            out.push_back(part);
        }
    }
    return out;
}

}  // namespace

SplitBehavior read_split_behavior(const Field& field) {
    const std::string& name = field.text();
    if (name == "Removed") return SplitBehavior::removed;
    if (name == "Isolated") return SplitBehavior::isolated;
    if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
    if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
    if (name == "Contiguous") return SplitBehavior::contiguous;
    field.refuse(
        "is '{}', and Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous "
        "is expected",
        {name});
}

std::vector<Part> with_gaps(const std::vector<PatternMatch>& matches, std::size_t size) {
    std::vector<Part> parts;
    parts.reserve(matches.size() + 1);
    std::size_t at = 0;
    for (const PatternMatch& match : matches) {
        if (at != match.begin) parts.push_back({at, match.begin, false});
        parts.push_back({match.begin, match.end, true});
        at = match.end;
    }
    if (at != size) parts.push_back({at, size, false});
    return parts;
}

void add_parts(std::vector<TextPiece>& out, const TextPiece& piece, const std::vector<Part>& parts,
               SplitBehavior behavior) {
    const auto add = [&](const Part& part) {
        if (part.begin < part.end)
            out.push_back({piece.begin + part.begin, piece.begin + part.end,
                           first_of_part(piece.first, part.begin, part.end), kNoToken});
    };
    const auto add_all = [&](const std::vector<Part>& all) {
        for (const Part& part : all) add(part);
    };
    switch (behavior) {
        case SplitBehavior::isolated: return add_all(parts);
        case SplitBehavior::contiguous: return add_all(joined_neighbours(parts));
        case SplitBehavior::merged_with_previous: return add_all(merged(parts, false));
        case SplitBehavior::merged_with_next: return add_all(merged(parts, true));
        case SplitBehavior::removed: break;
    }
    for (const Part& part : parts)
        if (!part.is_match) add(part);
}

}  // namespace fovea::runtime::tokens
