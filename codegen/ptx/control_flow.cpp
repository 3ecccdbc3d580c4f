// Immediate post-dominators of branches. (K. Cooper, T. Harvey, K. Kennedy: A Simple, Fast
// Dominance Algorithm, 2001, on the reversed graph.)
#include <algorithm>

#include "codegen/ptx/decode.h"

namespace fovea::ptx {
namespace {

/// Basic blocks; the last one stands for the end of the kernel.
struct Graph {
    std::vector<std::int32_t> starts;
    std::vector<std::vector<int>> successors, predecessors;
};

bool ends_block(const Op& op) { return op.flow != Flow::next && op.flow != Flow::may_wait; }

Graph blocks_of(const Program& program) {
    const std::size_t count = program.ops.size();
    std::vector<bool> leads(count + 1);
    leads[0] = true;
    for (std::size_t i = 0; i < count; ++i) {
        const Op& op = program.ops[i];
        if (ends_block(op)) leads[i + 1] = true;
        if (op.flow == Flow::branch) leads[std::size_t(op.target)] = true;
        if (op.flow == Flow::branch_table)
            for (std::int32_t target : program.tables[std::size_t(op.target)])
                leads[std::size_t(target)] = true;
    }
    Graph graph;
    std::vector<int> block_of(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
        if (leads[i]) graph.starts.push_back(std::int32_t(i));
        block_of[i] = int(graph.starts.size()) - 1;
    }
    const int end = int(graph.starts.size());
    block_of[count] = end;
    graph.starts.push_back(std::int32_t(count));
    graph.successors.resize(graph.starts.size());
    graph.predecessors.resize(graph.starts.size());
    for (int block = 0; block < end; ++block) {
        const Op& last = program.ops[std::size_t(graph.starts[std::size_t(block) + 1]) - 1];
        auto& next = graph.successors[std::size_t(block)];
        if (last.flow == Flow::branch) next.push_back(block_of[std::size_t(last.target)]);
        if (last.flow == Flow::branch_table)
            for (std::int32_t target : program.tables[std::size_t(last.target)])
                next.push_back(block_of[std::size_t(target)]);
        if (last.flow == Flow::exit) next.push_back(end);
        if (!ends_block(last) || last.guarded) next.push_back(block + 1);
        for (int to : next) graph.predecessors[std::size_t(to)].push_back(block);
    }
    return graph;
}

/// Blocks from which the end is reached, the end first, each before those that only lead to it.
std::vector<int> reversed_postorder(const Graph& graph) {
    const int end = int(graph.starts.size()) - 1;
    std::vector<int> order;
    std::vector<bool> seen(graph.starts.size());
    std::vector<std::pair<int, std::size_t>> stack{{end, 0}};
    seen[std::size_t(end)] = true;
    while (!stack.empty()) {
        auto& [block, next] = stack.back();
        const auto& before = graph.predecessors[std::size_t(block)];
        if (next == before.size()) {
            order.push_back(block);
            stack.pop_back();
            continue;
        }
        const int to = before[next++];
        if (seen[std::size_t(to)]) continue;
        seen[std::size_t(to)] = true;
        stack.push_back({to, 0});
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

void set_reconvergence(Program& program) {
    const Graph graph = blocks_of(program);
    const std::vector<int> order = reversed_postorder(graph);
    std::vector<int> rank(graph.starts.size(), -1), meets(graph.starts.size(), -1);
    for (std::size_t i = 0; i < order.size(); ++i) rank[std::size_t(order[i])] = int(i);
    meets[std::size_t(order[0])] = order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 1; i < order.size(); ++i) {
            int common = -1;
            for (int next : graph.successors[std::size_t(order[i])]) {
                if (meets[std::size_t(next)] < 0) continue;
                if (common < 0) common = next;
                while (common != next)
                    if (rank[std::size_t(common)] > rank[std::size_t(next)])
                        common = meets[std::size_t(common)];
                    else next = meets[std::size_t(next)];
            }
            if (meets[std::size_t(order[i])] != common) {
                meets[std::size_t(order[i])] = common;
                changed = true;
            }
        }
    }
    for (std::size_t block = 0; block + 1 < graph.starts.size(); ++block) {
        Op& last = program.ops[std::size_t(graph.starts[block + 1]) - 1];
        if (last.flow != Flow::branch && last.flow != Flow::branch_table) continue;
        const int meet = meets[block];
        const bool none = meet < 0 || std::size_t(meet) + 1 == graph.starts.size();
        last.reconverge = none ? -1 : graph.starts[std::size_t(meet)];
    }
}

}  // namespace fovea::ptx
