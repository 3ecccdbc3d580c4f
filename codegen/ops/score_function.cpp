// Takes a score region out of the graph it was written in.
#include "codegen/ops/score_function.h"

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
        Node output{
            .op = Op::output, .inputs = inputs_of({mapped(attributes_.score)}), .name = "score"};
        output.dtype = extracted_.graph[output.inputs[0]].dtype;
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
            node.name = kNames[std::size_t(node.part)];
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
        std::string name = "capture" + std::to_string(extracted_.captured.size());
        extracted_.captured.push_back(id);
        return to = add({.op = Op::input,
                         .dtype = node.dtype,
                         .shape = node.shape,
                         .scope = node.scope,
                         .location = node.location,
                         .name = intern(name)});
    }

    static constexpr std::string_view kNames[]{"query", "key",         "batch",
                                               "head",  "query_index", "key_index"};
    const Graph& source_;
    const AttentionAttributes& attributes_;
    std::vector<int> map_;
    ExtractedScore extracted_;
};

}  // namespace

ExtractedScore extract_score(const Graph& source, int attention) {
    return Extraction(source, attention).run();
}

int capture_number(std::string_view name) {
    constexpr std::string_view kPrefix = "capture";
    if (!name.starts_with(kPrefix)) return -1;
    int number = 0;
    for (char c : name.substr(kPrefix.size())) {
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    return number;
}

const ScoreFunction* keep(ScoreFunction function) {
    static std::mutex mutex;
    static std::deque<ScoreFunction> kept;
    std::lock_guard<std::mutex> lock(mutex);
    kept.push_back(std::move(function));
    return &kept.back();
}

}  // namespace fovea
