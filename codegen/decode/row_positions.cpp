// Values that depend on the position get an axis of sequences in front; where they meet one that
// has sequences, that axis is put in its place.
#include "codegen/decode/row_positions.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

#include "codegen/base/error.h"
#include "codegen/decode/time_axis.h"
#include "codegen/graph/batcher.h"
#include "codegen/graph/print.h"
#include "codegen/graph/rewrite.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

class RowPositions {
  public:
    explicit RowPositions(const Graph& step)
        : source_(step),
          rewrite_(step),
          target_(rewrite_.target()),
          per_row_(step.nodes.size(), false) {
        find_inputs();
    }

    Graph run() {
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (source_[id].region) continue;
            Graph::From from(target_, source_[id]);
            if (id == position_) set_per_row(id, rows_of_position());
            else if (!reads_rows(id)) rewrite_.set(id, rewrite_.copy(id));
            else if (axis_of_rows(id) < 0) set_per_row(id, one_for_each(id));
            else rewrite_.set(id, among_rows(id));
        }
        return std::move(target_);
    }

  private:
    [[noreturn]] void fail(int id, const std::string& why) const {
        const Location& place = source_[id].location;
        throw UserError(fmt::format(
            "sequences of a step cannot be at positions of their own: {}{} {}",
            print_op(source_, id),
            place.line ? fmt::format(" at {}:{}", place.file_name(), place.line) : "", why));
    }

    void find_inputs() {
        int text = 0;
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            const Node& node = source_[id];
            if (node.op != Op::input || node.state) continue;
            if (node.name == kPosition) position_ = id;
            if (node.name == kIds || (node.name == kTarget && !text)) text = id;
        }
        batch_ = source_[text].shape[0];
        if (!batch_.bare_symbol()) fail(position_, "belongs to a fixed number of sequences");
    }

    Tensor rows_of_position() {
        Node node = source_[position_];
        node.shape = {batch_};
        return unsqueeze(make(target_, node), 1);
    }

    /// A value with one more axis, of sequences, in front.
    void set_per_row(int id, Tensor value) {
        per_row_[std::size_t(id)] = true;
        rewrite_.set(id, value);
    }
    bool is_per_row(int id) const { return id > 0 && per_row_[std::size_t(id)]; }

    bool reads_rows(int id) const {
        for (int input : source_[id].inputs)
            if (is_per_row(input)) return true;
        return source_[id].op == Op::attention && !captured_rows(id).empty();
    }
    /// The values for each sequence that the score of an attention reads.
    std::vector<int> captured_rows(int attention) const {
        std::vector<int> captured;
        const int region = attributes_of(attention).region;
        for (const Node& node : source_.nodes)
            for (int input : node.inputs)
                if (node.region == region && is_per_row(input)) captured.push_back(input);
        return captured;
    }
    const AttentionAttributes& attributes_of(int attention) const {
        return source_.attentions[std::size_t(source_[attention].attribute)];
    }

    /// Where the sequences stand in a value; -1 where it has none.
    int axis_of_rows(int id) const {
        const Shape& shape = source_[id].shape;
        int found = -1;
        for (int i = 0; i < shape.rank(); ++i) {
            if (!shape[i].holds(batch_.bare_symbol())) continue;
            if (found >= 0 || shape[i].bare_symbol() != batch_.bare_symbol())
                fail(id, "has sequences that do not stand along one axis");
            found = i;
        }
        return found;
    }

    /// The op for each sequence, of values that are the same for all without the position.
    Tensor one_for_each(int id) {
        const Node& node = source_[id];
        if (node.op == Op::output) fail(id, "has no axis of sequences");
        std::array<Batched, kMaxInputs> inputs{};
        std::uint64_t along = 0;
        for (std::size_t i = 0; i < kMaxInputs; ++i) {
            if (node.inputs[i] <= 0) continue;
            inputs[i] = {rewrite_.mapped(node.inputs[i]), is_per_row(node.inputs[i])};
            along |= std::uint64_t(inputs[i].along) << i;
        }
        if (const auto why = why_not_batched(source_, id, along, 1))
            fail(id, "is not one for each sequence: " + std::string(*why));
        return op_def(node.op).batch({source_, id, target_, 1, inputs});
    }

    /// The op on values of all sequences, with those of each among them.
    Tensor among_rows(int id) {
        const Node& node = source_[id];
        if (node.op == Op::attention) return attention(id);
        if (node.op != Op::elementwise && node.op != Op::broadcast)
            fail(id, "reads the position of all sequences");
        Node copied = node;
        for (int& input : copied.inputs)
            if (input > 0) input = placed(input, node.shape.rank(), axis_of_rows(id)).id;
        return node.op == Op::broadcast ? broadcast({&target_, copied.inputs[0]}, node.shape)
                                        : make(target_, copied);
    }
    /// A value as it is, or with its sequences along the axis of a result of `rank` axes.
    Tensor placed(int id, int rank, int axis) {
        Tensor value = rewrite_.mapped(id);
        if (!is_per_row(id)) return value;
        const int own = axis - (rank - source_[id].shape.rank());  // the axis there before
        if (own < 0 && value.rank() == rank - axis) return value;
        if (is_made_where_it_is_read(id)) return made_there(id, rank, axis);
        if (own >= 0) value = squeeze(value, own + 1);
        FixedArray<signed char, Shape::kMaxRank> order{};
        for (int i = 0; i < value.rank(); ++i)
            order[std::size_t(i)] = (signed char)(i < own ? i + 1 : i == own ? 0 : i);
        if (own > 0) value = permute(value, order);
        while (value.rank() < rank - axis) value = unsqueeze(value, 1);
        return value;
    }

    /// Comparisons of positions are made by what reads them, and so have no memory to be a view of.
    bool is_made_where_it_is_read(int id) const {
        const Node& node = source_[id];
        return node.op == Op::elementwise && (node.dtype == boolean || node.dtype == i32);
    }
    Tensor made_there(int id, int rank, int axis) {
        const Node& node = source_[id];
        std::array<Tensor, 3> operands{};
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (node.inputs[i] > 0) operands[i] = placed(node.inputs[i], rank, axis);
        return op_def(node.op).derive({source_, node, target_, operands});
    }

    Tensor attention(int id) {
        const Node& node = source_[id];
        Node copied = node;
        for (std::size_t i = 0; i < kMaxInputs; ++i) {
            if (node.inputs[i] <= 0) continue;
            if (is_per_row(node.inputs[i]) && i != kAllowed)
                fail(id, "has an operand without sequences");
            copied.inputs[i] = placed(node.inputs[i], node.shape.rank(), 0).id;
        }
        const int score = copy_score(id);
        copy_attribute(source_, copied, target_);
        target_.attentions[std::size_t(copied.attribute)].score = score;
        return make(target_, copied);
    }
    /// A score that looks up what there is for each sequence.
    int copy_score(int attention) {
        const AttentionAttributes& attributes = attributes_of(attention);
        std::map<int, int> copies;
        int row = 0;  // the index of the sequence
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (source_[id].region != attributes.region) continue;
            Node node = source_[id];
            for (int& input : node.inputs) {
                if (input <= 0) continue;
                if (source_[input].region) input = copies.at(input);
                else if (is_per_row(input)) input = look_up(attention, input, row, node);
                else input = rewrite_.mapped(input).id;
            }
            copy_attribute(source_, node, target_);
            target_.nodes.push_back(node);
            copies[id] = int(target_.nodes.size()) - 1;
            if (node.op == Op::pair && node.port.role == Role::batch) row = copies[id];
        }
        return copies.at(attributes.score);
    }
    int look_up(int attention, int value, int row, const Node& reader) {
        if (!row) fail(attention, "has a score without the number of its sequence");
        target_.nodes.push_back({.op = Op::gather,
                                 .dtype = source_[value].dtype,
                                 .shape = source_[value].shape,
                                 .inputs = inputs_of({rewrite_.mapped(value).id, row}),
                                 .region = reader.region,
                                 .location = reader.location,
                                 .dim = batch_});
        return int(target_.nodes.size()) - 1;
    }

    static constexpr std::size_t kAllowed = 4;  // the operand of attention

    const Graph& source_;
    Rewrite rewrite_;
    Graph& target_;
    std::vector<bool> per_row_;  // by node of the source
    int position_ = 0;
    Dim batch_;
};

}  // namespace

std::optional<std::string> why_not_row_positions(const Graph& step) {
    try {
        RowPositions(step).run();
    } catch (const UserError& error) {
        return error.what();
    }
    return std::nullopt;
}

Graph with_row_positions(const Graph& step) { return RowPositions(step).run(); }

}  // namespace fovea
