// Built level by level from the sorted texts.
#include "byte_trie.h"

#include <algorithm>

namespace fovea::runtime::tokens {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> texts) {
    std::ranges::sort(texts);
    struct Group {  // texts with a common start, which a node stands for
        std::size_t begin, end, depth;
        std::uint32_t node;
    };
    roots_.fill(kNobody);
    std::vector<Group> groups;
    const auto add_children = [&](std::size_t begin, std::size_t end, std::size_t depth) {
        while (begin < end && texts[begin].first.size() <= depth) ++begin;
        while (begin < end) {
            const auto byte = static_cast<unsigned char>(texts[begin].first[depth]);
            std::size_t last = begin;
            while (last < end && static_cast<unsigned char>(texts[last].first[depth]) == byte)
                ++last;
            const auto node = static_cast<std::uint32_t>(nodes_.size());
            const bool has_value = texts[begin].first.size() == depth + 1;
            nodes_.push_back({0, 0, has_value ? texts[begin].second : kNoValue});
            labels_.push_back(byte);
            if (depth == 0) roots_[byte] = node;
            groups.push_back({begin, last, depth + 1, node});
            begin = last;
        }
    };
    add_children(0, texts.size(), 0);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Group group = groups[i];
        const auto first = static_cast<std::uint32_t>(nodes_.size());
        add_children(group.begin, group.end, group.depth);
        nodes_[group.node].first = first;
        nodes_[group.node].count = static_cast<std::uint32_t>(nodes_.size()) - first;
    }
}

}  // namespace fovea::runtime::tokens
