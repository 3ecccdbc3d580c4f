// Checks a graph node by node: shapes and dtypes are derived again, by the ops' own shape rules.
#include "codegen/graph/verify_graph.h"

#include <string>
#include <vector>

#include "codegen/graph/derive_node.h"
#include "codegen/graph/op_def.h"
#include "codegen/graph/print.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

class Verifier {
  public:
    explicit Verifier(const Graph& graph)
        : graph_(graph), region_used_(std::size_t(graph.regions), false) {}

    void run() {
        for (id_ = 1; id_ < int(graph_.nodes.size()); ++id_) {
            verify_place();
            verify_inputs();
            verify_attribute();
            if (node().op == Op::attention) verify_region();
            if (is_scan(graph_, id_)) verify_step();
            verify_result();
        }
    }

  private:
    const Node& node() const { return graph_[id_]; }
    [[noreturn]] void refuse(const std::string& why) const {
        throw InternalError("verify_graph: " + print_or_number() + ": " + why);
    }
    /// The node as text, where its attributes are sound enough to be printed.
    std::string print_or_number() const {
        std::string number = "%" + std::to_string(id_) + " (" + std::string(row_of(node().op).name);
        return attribute_is_in_range() && place_is_in_range() ? print_node(graph_, id_)
                                                              : number + ")";
    }
    bool place_is_in_range() const {
        return node().scope >= 0 && node().scope < int(graph_.scopes.size());
    }
    int attributes() const {
        switch (op_def(node().op).attribute) {
            case Attribute::einsum: return int(graph_.einsums.size());
            case Attribute::rearrange: return int(graph_.rearranges.size());
            case Attribute::attention: return int(graph_.attentions.size());
            case Attribute::scan: return int(graph_.scans.size());
            case Attribute::logit_curve: return int(graph_.logit_curves.size());
            case Attribute::none: break;
        }
        return 0;
    }
    bool attribute_is_in_range() const {
        int count = attributes();
        return count ? node().attribute >= 0 && node().attribute < count : true;
    }
    void verify_place() const {
        if (node().op == Op::poison) refuse("poison in the middle of a graph");
        if (!place_is_in_range()) refuse("its module does not exist");
        if (node().region < 0 || node().region >= graph_.regions)
            refuse("its region does not exist");
        if (node().region == 0 && node().op == Op::pair) refuse("a pair outside of a score region");
        if (node().region && region_used_[std::size_t(node().region)])
            refuse("it stands after the attention of its region");
    }
    void verify_inputs() const {
        for (int input : node().inputs) {
            if (input == -1) continue;
            if (input <= 0 || input >= id_)
                refuse("input %" + std::to_string(input) + " is not before it");
            int region = graph_[input].region;
            bool result = node().op == Op::scan;  // of a step that is still a region
            if (region && region != node().region && !result)
                refuse("input %" + std::to_string(input) + " is inside another region");
        }
        auto [least, most] = input_count(node());
        int count = 0;
        for (int i = 0; i < most; ++i) count += node().inputs[std::size_t(i)] > 0;
        for (std::size_t i = std::size_t(most); i < kMaxInputs; ++i)
            if (node().inputs[i] != -1) refuse("it has too many inputs");
        if (count < least) refuse("it has too few inputs");
    }
    void verify_attribute() const {
        if (!attribute_is_in_range()) refuse("its attribute does not exist");
    }
    void verify_region() {
        const AttentionAttributes& a = graph_.attentions[std::size_t(node().attribute)];
        if (a.region <= 0 || a.region >= graph_.regions) refuse("its score region does not exist");
        if (region_used_[std::size_t(a.region)])
            refuse("another attention has the same score region");
        region_used_[std::size_t(a.region)] = true;
        if (a.score <= 0 || a.score >= id_) refuse("its score is not before it");
        const Node& score = graph_[a.score];
        if (score.region != 0 && score.region != a.region) refuse("its score is of another region");
        if (score.shape.rank() || !is_float(score.dtype)) refuse("its score is not one number");
    }
    void verify_step() const {
        try {
            verify_graph(scan_of(graph_, id_).function->step);
        } catch (const InternalError& error) {
            refuse("in its step: " + std::string(error.what()));
        }
    }
    void verify_result() const {
        Node derived;
        try {
            if (auto why = why_not_derivable(graph_, id_)) refuse(*why);
            derived = derive_node(graph_, id_);
        } catch (const UserError& error) {
            refuse(error.what());
        }
        if (!(derived.shape == node().shape)) {
            Text text;
            text << "its shape should be " << derived.shape;
            refuse(std::string(text.view()));
        }
        if (derived.dtype != node().dtype)
            refuse("its dtype should be " + std::string(name_of(derived.dtype)));
    }

    const Graph& graph_;
    std::vector<bool> region_used_;
    int id_ = 0;
};

}  // namespace

void verify_graph(const Graph& graph) { Verifier(graph).run(); }

}  // namespace fovea
