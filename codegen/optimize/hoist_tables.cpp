// A node leaves the region of its score where it stands: what it reads stands before it.
#include "codegen/optimize/hoist_tables.h"

#include <vector>

namespace fovea {

namespace {

class TakingOut {
  public:
    explicit TakingOut(const Graph& graph) : graph_(graph), of_pair_(graph.nodes.size()) {
        for (int id = 1; id < int(graph.nodes.size()); ++id) {
            of_pair_[std::size_t(id)] = graph[id].op == Op::pair;
            for (int input : graph[id].inputs)
                if (input > 0 && graph[id].region && graph[input].region == graph[id].region)
                    of_pair_[std::size_t(id)] |= of_pair_[std::size_t(input)];
        }
    }

    Graph run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (graph_[id].region && graph_[id].op == Op::gather) take_out(graph_[id].inputs[0]);
        return std::move(graph_);
    }

  private:
    /// With all that it is made of, which is of no pair either.
    void take_out(int id) {
        if (!graph_[id].region || of_pair_[std::size_t(id)]) return;
        graph_[id].region = 0;
        for (int input : graph_[id].inputs)
            if (input > 0) take_out(input);
    }

    Graph graph_;
    std::vector<char> of_pair_;
};

}  // namespace

Graph hoist_tables(const Graph& graph) { return TakingOut(graph).run(); }

}  // namespace fovea
