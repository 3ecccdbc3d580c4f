// Takes a score region out of the graph it was written in.
#include "codegen/ops/attention/score_function.h"

#include <deque>
#include <mutex>

#include "codegen/graph/rewrite.h"

namespace fovea {

namespace {

class Extraction {
  public:
    Extraction(const Graph& source, int attention)
        : source_(source),
          attributes_(source.attentions[std::size_t(source[attention].attribute)]),
          map_(source.nodes.size(), -1) {
        extracted_.graph.scopes = source.scopes;
    }

    ExtractedScore run() {
        for (int id = 1; id < int(source_.nodes.size()); ++id)
            if (source_[id].region == attributes_.region) map_[std::size_t(id)] = copy(id);
        const int score = mapped(attributes_.score);
        Node output = output_of(extracted_.graph, score, {Role::score});
        output.scope = 0, output.location = {};
        add(output);
        return std::move(extracted_);
    }

  private:
    int add(Node node) {
        node.region = 0;
        extracted_.graph.nodes.push_back(node);
        return int(extracted_.graph.nodes.size()) - 1;
    }
    int copy(int id) {
        Node node = source_[id];
        if (node.op == Op::pair) {
            node.op = Op::input;
            node.name = name_of(node.port);
            return add(node);
        }
        for (int& input : node.inputs)
            if (input >= 0) input = mapped(input);
        copy_attribute(source_, node, extracted_.graph);
        return add(node);
    }
    /// A node of the region, a number, or a captured value.
    int mapped(int id) {
        int& to = map_[std::size_t(id)];
        if (to >= 0) return to;
        const Node& node = source_[id];
        if (node.op == Op::constant || node.op == Op::extent) return to = add(node);
        extracted_.captured.push_back(id);
        return to = add(input_like(node, {Role::capture, int(extracted_.captured.size()) - 1}));
    }

    const Graph& source_;
    const AttentionAttributes& attributes_;
    std::vector<int> map_;
    ExtractedScore extracted_;
};

}  // namespace

ExtractedScore extract_score(const Graph& source, int attention) {
    return Extraction(source, attention).run();
}

const ScoreFunction* keep(ScoreFunction function) {
    static std::mutex mutex;
    static std::deque<ScoreFunction> kept;
    std::lock_guard<std::mutex> lock(mutex);
    kept.push_back(std::move(function));
    return &kept.back();
}

}  // namespace fovea
