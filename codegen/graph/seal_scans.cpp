// Takes the steps of scans out of the graph that they were traced in.
#include <map>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

/// The nodes of one scan, by what they are, in the order of their making.
struct Parts {
    std::vector<int> values, states;       // leaves of the region
    std::vector<int> next, results;        // what a step gives
    std::vector<int> next_nodes, result_nodes;  // of Op::scan
};

Parts parts_of(const Graph& source, int attribute) {
    Parts parts;
    for (int id = 1; id < int(source.nodes.size()); ++id) {
        const Node& node = source[id];
        if ((node.op != Op::step && node.op != Op::scan) || node.attribute != attribute) continue;
        bool state = node.axis == int(StepPart::state);
        if (node.op == Op::step) {
            (state ? parts.states : parts.values).push_back(id);
            continue;
        }
        (state ? parts.next : parts.results).push_back(node.inputs[0]);
        (state ? parts.next_nodes : parts.result_nodes).push_back(id);
    }
    return parts;
}

/// Copies a region to a graph of its own.
class Extraction {
  public:
    Extraction(const Graph& source, int attribute)
        : source_(source),
          scan_(source.scans[std::size_t(attribute)]),
          parts_(parts_of(source, attribute)),
          map_(source.nodes.size(), -1) {
        step_.scopes = source.scopes;
        step_.regions = source.regions;
        step_.sites = source.sites;
        step_.einsums = source.einsums;
        step_.rearranges = source.rearranges;
        step_.attentions = source.attentions;
        step_.scans = source.scans;
    }

    const Parts& parts() const { return parts_; }
    const std::vector<int>& captured() const { return captured_; }

    ScanFunction run() {
        add_leaves(parts_.values, Role::value);
        add_leaves(parts_.states, Role::state);
        std::vector<int> attentions;
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            int region = source_[id].region;
            bool inside = region >= scan_.region && region <= scan_.last_region;
            if (inside && map_[std::size_t(id)] < 0) copy(id);
        }
        for (std::size_t i = 0; i < parts_.next.size(); ++i)
            add_output(parts_.next[i], parts_.next_nodes[i], {Role::next, int(i)});
        for (std::size_t i = 0; i < parts_.results.size(); ++i)
            add_output(parts_.results[i], parts_.result_nodes[i], {Role::result, int(i)});
        ScanFunction function;
        function.step = seal_scans(step_);
        function.sequences = int(parts_.values.size());
        function.states = int(parts_.states.size());
        function.captures = int(captured_.size());
        function.results = int(parts_.results.size());
        function.reverse = scan_.reverse;
        return function;
    }

  private:
    int add(Node node) {
        step_.nodes.push_back(node);
        return int(step_.nodes.size()) - 1;
    }
    void add_leaves(const std::vector<int>& leaves, Role role) {
        for (std::size_t i = 0; i < leaves.size(); ++i)
            map_[std::size_t(leaves[i])] = add(input_like(source_[leaves[i]], {role, int(i)}));
    }
    void add_output(int value, int node, const Port& port) {
        Node output = output_of(step_, mapped(value), port);
        output.scope = source_[node].scope;
        output.location = source_[node].location;
        add(output);
    }
    void copy(int id) {
        Node node = source_[id];
        if (node.region == scan_.region) node.region = 0;
        for (int& input : node.inputs)
            if (input >= 0) input = mapped(input);
        map_[std::size_t(id)] = add(node);
        if (node.op != Op::attention) return;
        AttentionAttributes& attributes = step_.attentions[std::size_t(node.attribute)];
        attributes.score = mapped(attributes.score);
    }
    /// A node of the region, a number, or a captured value.
    int mapped(int id) {
        int& to = map_[std::size_t(id)];
        if (to >= 0) return to;
        Node node = source_[id];
        if (node.op == Op::constant || node.op == Op::extent) {
            node.region = 0;
            return to = add(node);
        }
        captured_.push_back(id);
        return to = add(input_like(node, {Role::capture, int(captured_.size()) - 1}));
    }

    const Graph& source_;
    const ScanAttributes& scan_;
    Parts parts_;
    std::vector<int> map_, captured_;
    Graph step_;
};

class Sealing {
  public:
    explicit Sealing(const Graph& source) : source_(source) {}

    Graph run() {
        return Rewrite::run(source_, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            const Node& node = source_[id];
            if (node.op != Op::scan || is_scan(source_, id)) return {};
            const Sealed& sealed = seal(rewrite, node.attribute);
            std::vector<Tensor> inputs;
            for (int input : sealed.inputs) inputs.push_back(rewrite.mapped(input));
            return make_scan(rewrite.target(), sealed.function,
                             source_.scans[std::size_t(node.attribute)].steps, inputs,
                             sealed.number.at(id));
        });
    }

  private:
    struct Sealed {
        const ScanFunction* function = nullptr;
        std::vector<int> inputs;    // nodes of the source
        std::map<int, int> number;  // of the scan's nodes
    };
    const Sealed& seal(Rewrite&, int attribute) {
        Sealed& sealed = sealed_[attribute];
        if (sealed.function) return sealed;
        Extraction extraction(source_, attribute);
        sealed.function = keep(extraction.run());
        const Parts& parts = extraction.parts();
        for (const std::vector<int>* leaves : {&parts.values, &parts.states})
            for (int leaf : *leaves) sealed.inputs.push_back(source_[leaf].inputs[0]);
        for (int captured : extraction.captured()) sealed.inputs.push_back(captured);
        int number = 0;
        for (const std::vector<int>* nodes : {&parts.next_nodes, &parts.result_nodes})
            for (int node : *nodes) sealed.number[node] = number++;
        return sealed;
    }

    const Graph& source_;
    std::map<int, Sealed> sealed_;
};

}  // namespace

Graph seal_scans(const Graph& graph) {
    for (const ScanAttributes& scan : graph.scans)
        if (!scan.function) return Sealing(graph).run();
    return graph;
}

}  // namespace fovea
