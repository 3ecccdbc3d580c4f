// A trie of texts by their bytes: which of them a text starts with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::runtime::tokens {

class ByteTrie {
  public:
    static constexpr std::int32_t kNoValue = -1;

    ByteTrie() = default;
    /// Of texts that are not empty, and their values. Of equal texts the least value counts.
    explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> texts);

    /// Calls `body(size, value)` for each that `text` starts with, the shortest first.
    template <class Body>
    void each_prefix(std::string_view text, Body&& body) const {
        if (text.empty() || nodes_.empty()) return;
        std::uint32_t node = roots_[static_cast<unsigned char>(text[0])];
        for (std::size_t size = 1; node != kNobody; ++size) {
            if (nodes_[node].value != kNoValue) body(size, nodes_[node].value);
            if (size == text.size()) return;
            node = child(node, static_cast<unsigned char>(text[size]));
        }
    }

    /// Whether a text starts with this byte.
    bool has_first(unsigned char byte) const { return !nodes_.empty() && roots_[byte] != kNobody; }

  private:
    static constexpr std::uint32_t kNobody = 0xFFFFFFFF;

    struct Node {
        std::uint32_t first = 0, count = 0;  // its children
        std::int32_t value = kNoValue;
    };

    std::uint32_t child(std::uint32_t node, unsigned char byte) const {
        const Node& parent = nodes_[node];
        const unsigned char* const begin = labels_.data() + parent.first;
        std::uint32_t low = 0, high = parent.count;
        while (low < high) {
            const std::uint32_t middle = (low + high) / 2;
            if (begin[middle] < byte) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < parent.count && begin[low] == byte ? parent.first + low : kNobody;
    }

    std::array<std::uint32_t, 256> roots_ = {};
    std::vector<Node> nodes_;  // children of one node stand together, by their bytes
    std::vector<unsigned char> labels_;  // the byte that leads to each node
};

}  // namespace fovea::runtime::tokens
