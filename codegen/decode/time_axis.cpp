#include "codegen/decode/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/base/room.h"
#include "codegen/graph/axes.h"
#include "codegen/graph/print.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

constexpr std::string_view kLogits = "logits";

/// Whether any size or number in a step of a loop is made of `symbol`.
bool holds(const Graph& step, const Symbol& symbol) {
    const auto holds_it = [&](const Dim& dim) { return dim.holds(symbol); };
    return std::ranges::any_of(step.nodes, [&](const Node& node) {
        return holds_it(node.dim) || std::ranges::any_of(node.shape, holds_it);
    });
}

class Finder {
  public:
    explicit Finder(const Graph& model) : graph_(model), found_{model, {}, 0, {}, {}} {}

    TimedGraph run() {
        found_.time = symbol_of_ids();
        found_.logits = source_of_logits();
        mark_wanted();
        check_names();
        found_.axis.assign(graph_.nodes.size(), -1);
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (!found_.wanted[std::size_t(id)]) continue;
            found_.axis[std::size_t(id)] = axis_of(id);
            if (!graph_[id].region) check(id);
            else if (scores_.contains(graph_[id].region)) check_pair(id);
        }
        if (!found_.has_time(found_.logits))
            fail(fmt::format("its logits have no axis of the length of its {}", graph_[ids_].name));
        if (!found_.wanted[std::size_t(ids_)])
            fail(fmt::format("its logits do not depend on its {}", graph_[ids_].name));
        return std::move(found_);
    }

  private:
    [[noreturn]] static void fail(const std::string& why) {
        throw UserError("the model cannot be decoded token by token: " + why);
    }
    [[noreturn]] void fail(int id, const std::string& why) const {
        const Location& place = graph_[id].location;
        const std::string module = graph_.path(graph_[id].scope);
        const bool is_attention = graph_[id].op == Op::attention;
        fail(fmt::format("{}{}{} {}", is_attention ? "attention" : print_op(graph_, id),
                         place.line ? fmt::format(" at {}:{}", place.file_name(), place.line) : "",
                         module.empty() ? "" : fmt::format(", in {},", module), why));
    }

    Symbol symbol_of_ids() {
        ids_ = find_input(kIds);
        if (!ids_) ids_ = find_input(kTarget);
        if (!ids_) fail("it has no input 'ids', nor 'tgt' of a model with a source");
        const Node& node = graph_[ids_];
        if (node.dtype != i32 || node.shape.rank() != 2 || !node.shape[1].bare_symbol())
            fail(fmt::format("its {} should be i32 [batch, length], the length symbolic",
                             node.name));
        return node.shape[1].bare_symbol();
    }
    /// 0 where there is none.
    int find_input(std::string_view name) const {
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (graph_[id].op == Op::input && graph_[id].name == name) return id;
        return 0;
    }
    int source_of_logits() const {
        for (const Node& node : graph_.nodes)
            if (node.op == Op::output && node.name == kLogits && !node.state) return node.inputs[0];
        fail("it has no output 'logits'");
    }

    void mark_wanted() {
        std::vector<bool>& wanted = found_.wanted;
        wanted.assign(graph_.nodes.size(), false);
        wanted[std::size_t(found_.logits)] = true;
        for (int id = int(graph_.nodes.size()) - 1; id > 0; --id) {
            if (!wanted[std::size_t(id)]) continue;
            for (int input : graph_[id].inputs)
                if (input > 0) wanted[std::size_t(input)] = true;
            if (graph_[id].op == Op::attention) mark_score(graph_[id].attribute);
        }
    }
    /// What the score of an attention reads stands before it.
    void mark_score(int attention) {
        const AttentionAttributes& attributes = graph_.attentions[std::size_t(attention)];
        scores_.insert(attributes.region);
        for (int id = attributes.score; id > 0; --id) {
            if (graph_[id].region != attributes.region) continue;
            found_.wanted[std::size_t(id)] = true;
            for (int input : graph_[id].inputs)
                if (input > 0) found_.wanted[std::size_t(input)] = true;
        }
    }

    /// What the programs have besides, inputs and sizes, is not the model's.
    void check_names() const {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (!found_.wanted[std::size_t(id)]) continue;
            const Node& node = graph_[id];
            if (node.op == Op::input && node.name == kPosition)
                fail(
                    fmt::format("its input '{}' has the name of what each step is given: call it "
                                "otherwise",
                                kPosition));
            for (const Dim& dim : node.shape) dim.each_symbol(check_size);
            if (node.state) check_state(id);
        }
    }
    static void check_size(const Symbol& symbol) {
        Text name;
        name << symbol;
        if (name.view() == kSteps || is_room_of_window(name.view()))
            fail(fmt::format("its size '{}' has the name of the room of caches: call it otherwise",
                             name.view()));
    }
    /// A state that calls change is not that of the whole text's one call.
    void check_state(int id) const {
        const Node& state = graph_[id];
        if (state.op == Op::input) fail(id, "is a state that calls change");
        for (const Node& node : graph_.nodes)
            if (node.op == Op::output && node.state && node.scope == state.scope &&
                node.inputs[0] != id)
                fail(id, "is a state that calls change");
    }

    int axis_of(int id) const {
        const Shape& shape = graph_[id].shape;
        int found = -1;
        for (int i = 0; i < shape.rank(); ++i) {
            if (!shape[i].holds(found_.time)) continue;
            if (gives_states(id)) fail(id, "gives the state behind all positions");
            if (shape[i].bare_symbol() != found_.time)
                fail(id, fmt::format("makes an axis of several lengths"));
            if (found >= 0) fail(id, "has a value for each pair of positions");
            found = i;
        }
        return found;
    }

    /// Whether a node is the states of a loop, and not its results.
    bool gives_states(int id) const {
        return is_scan(graph_, id) && graph_[id].axis < scan_of(graph_, id).function->states;
    }

    /// A value of a score depends on its pair alone.
    void check_pair(int id) const {
        for (int input : graph_[id].inputs)
            if (input > 0 && !graph_[input].region && found_.has_time(input))
                fail(id, "reads values of other positions than its pair's");
    }

    void check(int id) const {
        const Node& node = graph_[id];
        const bool has_time = found_.has_time(id);
        bool any = false;
        for (int i = 0; i < int(kMaxInputs); ++i) {
            if (!found_.has_time(node.inputs[std::size_t(i)])) continue;
            any = true;
            if (node.op == Op::attention || node.op == Op::scan) continue;
            const int from = found_.axis[std::size_t(node.inputs[std::size_t(i)])];
            if (!op_def(node.op).axis) fail(id, "does not say what it does to positions");
            const AxisUse use = axis_use(graph_, id, i, from);
            if (use.along != Along::maps || use.to != found_.axis[std::size_t(id)])
                fail(id, "computes with several positions");
        }
        if (node.op == Op::attention && any) return check_attention(id);
        if (node.op == Op::scan && any) return check_scan(id);
        if (node.dim.holds(found_.time)) fail(id, "computes with the number of positions");
        if (node.op == Op::parameter && has_time) fail(id, "has a size that texts have");
        if (has_time && !any) check_origin(id);
    }

    /// What makes positions of something without any.
    void check_origin(int id) const {
        const Node& node = graph_[id];
        if (node.op == Op::input || node.op == Op::iota || node.op == Op::broadcast ||
            node.op == Op::constant)
            return;
        if (node.op == Op::sinusoids && found_.axis[std::size_t(id)] == 0) return;
        const auto steps = op_def(node.op).steps;
        if (!steps) fail(id, "makes positions in a way that is not known");
        const Steps view = steps(node);
        if (view.axis != 0 || view.along.size() != 1 || view.along[0].step != 1)
            fail(id, "takes positions of a table that are not rows, one after the other");
    }

    /// A loop goes along positions, from the first one on.
    void check_scan(int id) const {
        const Node& node = graph_[id];
        const ScanAttributes& scan = scan_of(graph_, id);
        if (scan.steps.bare_symbol() != found_.time) fail(id, "computes with several positions");
        if (scan.reverse) fail(id, "goes from the last position to the first");
        for (int i = 0; i < scan.function->inputs(); ++i) {
            const int input = node.inputs[std::size_t(i)];
            const bool is_sequence = i < scan.function->sequences;
            if (found_.axis[std::size_t(input)] != (is_sequence ? 0 : -1))
                fail(id, "reads all positions in each of its steps");
        }
        if (holds(scan.function->step, found_.time))
            fail(id, "computes with the number of positions");
    }

    void check_attention(int id) const {
        const Node& node = graph_[id];
        const AttentionAttributes& attributes = graph_.attentions[std::size_t(node.attribute)];
        const int rank = node.shape.rank();
        const auto stands_at = [&](int input, int axis) {
            const int source = node.inputs[std::size_t(input)];
            return source > 0 && found_.axis[std::size_t(source)] == axis;
        };
        if (!stands_at(0, rank - 2)) fail(id, "has queries without an axis of positions");
        if (node.inputs[2] <= 0) fail(id, "gives weights of all positions");
        if (attributes.has_segments) fail(id, "has segments");
        const bool own = found_.has_time(node.inputs[1]);
        const bool has_own_lens = attributes.has_lens && graph_[node.inputs[3]].shape.rank() == 2;
        const bool may_hide_all = attributes.has_allowed || has_own_lens ||
                                  (attributes.has_lens && attributes.window.ends_before());
        if (own && may_hide_all && node.masked_rows != MaskedRows::zero)
            fail(id,
                 "may hide all keys of a query, whose weights are then those of all positions; "
                 "mask.with(MaskedRows::zero) makes them zero");
        if (attributes.has_lens && found_.has_time(node.inputs[3]) && !stands_at(3, 1))
            fail(id, "has lengths that are not [batch, queries]");
        if (own != found_.has_time(node.inputs[2]) ||
            (own && (!stands_at(1, rank - 2) || !stands_at(2, rank - 2))))
            fail(id, "has keys and values that do not lie along positions alike");
        if (own && attributes.window.after != 0) fail(id, "sees later positions");
    }

    const Graph& graph_;
    TimedGraph found_;
    int ids_ = 0;           // the input
    std::set<int> scores_;  // regions
};

}  // namespace

TimedGraph find_time_axes(const Graph& model) { return Finder(model).run(); }

Dim with_one(const Dim& dim, const Symbol& symbol) {
    if (dim.is_static()) return dim;
    Dim sum(dim.constant());
    for (const DimTerm& term : dim.terms()) {
        Dim product(term.factor);
        for (const Symbol& factor : term.symbols) {
            if (factor == symbol) continue;
            Text name;
            name << factor;
            product = product * Dim(name.view());
        }
        sum = sum + product;
    }
    return sum;
}

}  // namespace fovea
