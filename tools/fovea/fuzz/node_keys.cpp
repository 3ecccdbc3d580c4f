#include "tools/fovea/fuzz/node_keys.h"

#include <type_traits>

#include "codegen/graph/op_def.h"
#include "codegen/graph/same_node.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/attention/score_function.h"

namespace fovea::tool::fuzz {

/// What a node is, as bytes.
class NodeKeys::Record {
  public:
    explicit Record(const DimSizes& sizes) : sizes_(sizes) {}

    template <class T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void add(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    void add(std::string_view text) {
        add(text.size());
        bytes_ += text;
    }
    void add(const Dim& dim) { add(value_of(sizes_, dim)); }
    void add(const Port& port) {
        add(port.role);
        add(port.number);
        add(port.gradient);
    }
    void add(const EinsumAxes::List& list) {
        add(list.count);
        for (int i = 0; i < list.count; ++i) add(list.label[std::size_t(i)]);
    }
    void add(const RearrangeAxes& axes) {
        add(axes.count);
        for (int i = 0; i < axes.count; ++i) {
            add(axes.axis[std::size_t(i)]);
            add(axes.order[std::size_t(i)]);
        }
        for (signed char size : axes.input_group) add(size);
        for (signed char size : axes.output_group) add(size);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    const DimSizes& sizes_;
    std::string bytes_;
};

int NodeKeys::number_of(const std::string& record) {
    return numbers_.emplace(record, int(numbers_.size())).first->second;
}

std::vector<int> NodeKeys::of(const Graph& graph) {
    std::vector<int> keys(graph.nodes.size(), -1);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        if (node.op == Op::output) keys[std::size_t(id)] = keys[std::size_t(node.inputs[0])];
        else if (node.region == 0) keys[std::size_t(id)] = number_of(record_of(graph, id, keys));
        else keys[std::size_t(id)] = --unique_;
    }
    return keys;
}

std::string NodeKeys::record_of(const Graph& graph, int id, const std::vector<int>& keys) {
    const Node& node = graph[id];
    Record record(sizes_);
    std::apply([&](const auto&... setting) { (record.add(setting), ...); }, settings_of(node));
    record.add(node.shape.rank());
    for (const Dim& dim : node.shape) record.add(dim);
    record.add(node.dim);
    if (node.op == Op::input) record.add(node.name);
    if (node.op == Op::parameter) record.add(graph.path(node.scope));
    add_attribute(record, graph, id, keys);
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
        if (node.inputs[i] < 0) continue;
        record.add(i);
        record.add(keys[std::size_t(node.inputs[i])]);
    }
    return record.bytes();
}

/// The outputs of a function, where they stand in it.
void NodeKeys::add_function(Record& record, const Graph& function) {
    const std::vector<int> keys = of(function);
    for (int id = 1; id < int(function.nodes.size()); ++id) {
        if (function[id].op != Op::output) continue;
        record.add(function[id].port);
        record.add(keys[std::size_t(id)]);
    }
}

void NodeKeys::add_attribute(Record& record, const Graph& graph, int id,
                             const std::vector<int>& keys) {
    const Node& node = graph[id];
    if (node.attribute < 0) return;
    const auto number = std::size_t(node.attribute);
    switch (op_def(node.op).attribute) {
        case Attribute::none: break;
        case Attribute::einsum: {
            const EinsumAxes& axes = graph.einsums[number];
            for (const EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out}) record.add(*list);
            break;
        }
        case Attribute::rearrange: record.add(graph.rearranges[number]); break;
        case Attribute::logit_curve: {
            const LogitCurve& curve = graph.logit_curves[number];
            record.add(curve.inner);
            record.add(curve.outer);
            break;
        }
        case Attribute::attention: {
            const AttentionAttributes& attention = graph.attentions[number];
            record.add(attention.window.before);
            record.add(attention.window.after);
            record.add(attention.has_lens);
            record.add(attention.has_allowed);
            record.add(attention.has_segments);
            record.add(attention.dropout);
            record.add(attention.site);
            if (attention.function) {
                add_function(record, attention.function->forward);
                add_function(record, attention.function->gradient);
            } else if (attention.region) {
                const ExtractedScore score = extract_score(graph, id);
                add_function(record, score.graph);
                for (int captured : score.captured) record.add(keys[std::size_t(captured)]);
            }
            break;
        }
        case Attribute::scan: {
            const ScanAttributes& scan = graph.scans[number];
            record.add(scan.steps);
            record.add(scan.reverse);
            if (scan.function) add_function(record, scan.function->step);
            else record.add(--unique_);
            break;
        }
    }
}

}  // namespace fovea::tool::fuzz
