#include "codegen/group/order_look_ups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "codegen/graph/ports.h"
#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// A look-up of a captured table by one index after the other.
struct LookUp {
    int table = 0;  // the input of the score
    std::vector<int> ids;  // of its first axes
};

class Ordering {
  public:
    Ordering(const ExtractedScore& score, Rewrite& around) : score_(score), around_(around) {}

    CapturedScore run() {
        CapturedScore result;
        result.graph = Rewrite::run(
            score_.graph, [&](Rewrite& rewrite, int id) { return rewritten(rewrite, id); });
        drop_unread(result);
        return result;
    }

  private:
    std::optional<LookUp> look_up_of(int id) const {
        LookUp found;
        for (; score_.graph[id].op == Op::gather; id = score_.graph[id].inputs[0]) {
            if (score_.graph[score_.graph[id].inputs[1]].shape.rank() != 0) return {};
            found.ids.insert(found.ids.begin(), score_.graph[id].inputs[1]);
        }
        found.table = id;
        const Node& table = score_.graph[id];
        const bool captured = table.op == Op::input && table.port.role == Role::capture;
        if (!captured || found.ids.size() < 2) return {};
        return found;
    }
    bool is_head(int id) const {
        const Node& node = score_.graph[id];
        return node.op == Op::input && node.port.role == Role::head;
    }

    std::optional<Tensor> rewritten(Rewrite& rewrite, int id) {
        const std::optional<LookUp> found = look_up_of(id);
        if (!found) return {};
        const Shape& shape = score_.graph[found->table].shape;
        std::vector<int> order;  // of the axes that have an index: the head's first
        for (int axis = 0; axis < int(found->ids.size()); ++axis) order.push_back(axis);
        const auto head = std::find_if(order.begin(), order.end(), [&](int axis) {
            return is_head(found->ids[std::size_t(axis)]);
        });
        const bool by_head = head != order.end();
        if (by_head) std::rotate(order.begin(), head, head + 1);
        std::int64_t rows = 1;
        for (std::size_t i = by_head; i < order.size(); ++i) {
            const Dim& size = shape[order[i]];
            if (!size.is_static() || size.value() > INT32_MAX) return {};
            rows *= std::max<std::int64_t>(size.value(), 1);
            if (rows > INT32_MAX) return {};
        }
        Tensor table = ordered_table(rewrite, found->table, order, by_head);
        const auto index = [&](std::size_t i) {
            return rewrite.mapped(found->ids[std::size_t(order[i])]);
        };
        if (by_head) table = gather(table, index(0));
        Tensor place = index(by_head);
        for (std::size_t i = by_head + 1u; i < order.size(); ++i)
            place = place * double(shape[order[i]].value()) + index(i);
        return gather(table, place);
    }

    /// An input of the score for the table with its axes in another order.
    Tensor ordered_table(Rewrite& rewrite, int table, const std::vector<int>& order, bool by_head) {
        auto [at, is_new] = inputs_.try_emplace({table, order}, 0);
        if (is_new) {
            Tensor outside = around_.mapped(score_.captured[number_of(score_.graph[table])]);
            FixedArray<signed char, Shape::kMaxRank> axes{};
            for (int i = 0; i < outside.rank(); ++i)
                axes[std::size_t(i)] =
                    (signed char)(i < int(order.size()) ? order[std::size_t(i)] : i);
            outside = permute(outside, axes);
            outside = flatten(outside, by_head, int(order.size()) - 1);
            captures_.push_back(outside);
            const int number = int(score_.captured.size() + captures_.size()) - 1;
            at->second =
                make(rewrite.target(), input_like(outside.node(), {Role::capture, number})).id;
        }
        return {&rewrite.target(), at->second};
    }
    static std::size_t number_of(const Node& capture) { return std::size_t(capture.port.number); }

    /// Captures are numbered anew without those that no node reads any more.
    void drop_unread(CapturedScore& result) {
        for (int captured : score_.captured) result.captures.push_back(around_.mapped(captured));
        if (captures_.empty()) return;
        result.captures.insert(result.captures.end(), captures_.begin(), captures_.end());
        const Graph graph = std::move(result.graph);
        std::vector<char> is_live(graph.nodes.size()), is_read(result.captures.size());
        for (int id = int(graph.nodes.size()); --id > 0;) {
            const Node& node = graph[id];
            if (node.op != Op::output && !is_live[std::size_t(id)]) continue;
            is_live[std::size_t(id)] = 1;
            if (node.op == Op::input && node.port.role == Role::capture)
                is_read[number_of(node)] = 1;
            for (int input : node.inputs)
                if (input > 0) is_live[std::size_t(input)] = 1;
        }
        std::vector<Tensor> read;
        for (std::size_t i = 0; i < is_read.size(); ++i)
            if (is_read[i]) read.push_back(result.captures[i]);
        result.graph = Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            const Node& node = graph[id];
            if (!is_live[std::size_t(id)]) return Tensor{&rewrite.target(), 0};
            if (node.op != Op::input || node.port.role != Role::capture) return {};
            const auto before = is_read.begin() + std::ptrdiff_t(number_of(node));
            const int number = int(std::count(is_read.begin(), before, 1));
            return make(rewrite.target(), input_like(node, {Role::capture, number}));
        });
        result.captures = std::move(read);
    }

    const ExtractedScore& score_;
    Rewrite& around_;
    std::vector<Tensor> captures_;  // behind those of the score
    std::map<std::pair<int, std::vector<int>>, int> inputs_;  // of the new graph
};

}  // namespace

CapturedScore order_look_ups(const ExtractedScore& score, Rewrite& rewrite) {
    return Ordering(score, rewrite).run();
}

}  // namespace fovea
