#include "codegen/optimize/guard_ids.h"

#include <map>
#include <tuple>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/elementwise.h"
#include "codegen/optimize/dead_code.h"
#include "codegen/optimize/id_ranges.h"

namespace fovea {

namespace {

class Guarding {
  public:
    Guarding(const Graph& source, std::vector<Contents> contents)
        : source_(source),
          contents_(std::move(contents)),
          target_(source),
          map_(source.nodes.size(), 0) {
        target_.nodes.resize(1);
    }

    Graph run() {
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            Node node = source_[id];
            for (int& input : node.inputs)
                if (input > 0) input = map_[std::size_t(input)];
            for (const IdOperand& operand : id_operands(source_, id))
                if (is_guarded(id, operand))
                    node.inputs[std::size_t(operand.operand)] = guard(id, operand);
            map_[std::size_t(id)] = push(node);
            if (node.op == Op::attention) {
                int& score = target_.attentions[std::size_t(node.attribute)].score;
                score = map_[std::size_t(score)];
            }
            if (is_scan(source_, id)) guard_scan(id);
        }
        return std::move(target_);
    }

  private:
    /// A loop with the checks of its step among its results, and how many it had without.
    struct GuardedScan {
        const ScanFunction* function = nullptr;
        std::vector<Node> checks;
    };

    int push(const Node& node) {
        target_.nodes.push_back(node);
        return int(target_.nodes.size()) - 1;
    }
    bool is_guarded(int id, const IdOperand& operand) const {
        const int value = source_[id].inputs[std::size_t(operand.operand)];
        return must_be_guarded(contents_[std::size_t(value)], operand.holds, operand.limit);
    }

    /// The node that `id` reads in place of the operand.
    int guard(int id, const IdOperand& operand) {
        const Node& node = source_[id];
        if (node.region) refuse(id, operand);
        const int value = map_[std::size_t(node.inputs[std::size_t(operand.operand)])];
        const Dim limit = operand.limit.without_label();
        for (const auto& [known, holds, known_limit, clamped] : guarded_)
            if (known == value && holds == operand.holds && known_limit == limit) return clamped;
        const Graph::From from(target_, node);
        const Tensor clamped = clamp({&target_, value}, operand);
        make(target_,
             {.op = Op::output,
              .dtype = i32,
              .shape = target_[value].shape,
              .inputs = inputs_of({value}),
              .name = intern(place_of_operand(source_, id, operand.holds, operand.function)),
              .dim = limit,
              .axis = int(operand.holds)});
        guarded_.emplace_back(value, operand.holds, limit, clamped.id);
        return clamped.id;
    }
    static Tensor clamp(Tensor value, const IdOperand& operand) {
        const Dim last = operand.holds == Holds::lengths ? operand.limit : operand.limit + Dim(-1);
        const Operand most = last.is_static() ? Operand(double(last.value())) : Operand(last);
        return maximum(minimum(value, most), 0);
    }
    [[noreturn]] void refuse(int id, const IdOperand& operand) {
        const Node& node = source_[id];
        Text text;
        text << row_of(node.op).name << " in a score: its ids may lie outside the table of "
             << operand.limit << " rows: clamp them with minimum and maximum";
        throw UserError(
            std::string(source_.render({node.location, source_.scope_of(id), text}).view()));
    }

    void guard_scan(int id) {
        const ScanAttributes scan = scan_of(source_, id);
        const auto key = std::pair(scan.function, source_[id].inputs);
        const bool first = !scans_.contains(key);
        GuardedScan& guarded = scans_[key];
        if (first) guarded = guarded_scan(id);
        if (!guarded.function) return;
        const int copy = map_[std::size_t(id)];
        target_.scans[std::size_t(target_[copy].attribute)].function = guarded.function;
        if (first) add_checks(copy, guarded, scan.function->states + scan.function->results);
    }
    /// Without a function where the step has nothing to guard.
    GuardedScan guarded_scan(int id) {
        ScanFunction function = *scan_of(source_, id).function;
        const std::vector<Contents> inputs = contents_of_inputs(source_, id, contents_);
        function.step = Guarding(function.step, contents_of(function.step, &inputs)).run();
        GuardedScan guarded;
        for (Node& node : function.step.nodes) {
            if (!is_check(node)) continue;
            guarded.checks.push_back(node);
            node.port = {Role::result, function.results++};
            node.name = name_of(node.port);
            node.axis = 0, node.dim = {};
        }
        if (!guarded.checks.empty()) guarded.function = keep(std::move(function));
        return guarded;
    }
    /// The values of all steps, as results of the loop from `number` on.
    void add_checks(int scan, const GuardedScan& guarded, int number) {
        for (Node check : guarded.checks) {
            Node all = target_[scan];
            target_.scans.push_back(target_.scans[std::size_t(all.attribute)]);
            all.attribute = int(target_.scans.size()) - 1;
            all.axis = number++;
            all.dtype = i32;
            all.shape = {target_.scans.back().steps};
            for (const Dim& dim : check.shape) all.shape.push(dim);
            check.inputs = inputs_of({push(all)});
            check.shape = all.shape;
            push(check);
        }
    }

    const Graph& source_;
    std::vector<Contents> contents_;
    Graph target_;
    std::vector<int> map_;
    std::vector<std::tuple<int, Holds, Dim, int>> guarded_;  // value, limit, what stands for it
    std::map<std::pair<const ScanFunction*, Inputs>, GuardedScan> scans_;
};

Graph guarded(const Graph& graph) { return Guarding(graph, contents_of(graph)).run(); }

bool has_checks(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (is_check(node)) return true;
    return false;
}

}  // namespace

Graph guard_ids(const Graph& graph) {
    if (!has_checks(guarded(graph))) return graph;
    return guarded(dead_code(graph));  // not what only outputs read that were not asked for
}

}  // namespace fovea
