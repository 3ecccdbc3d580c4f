#include "codegen/decode/at_position.h"

#include "codegen/base/room.h"
#include "codegen/graph/op_def.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/sinusoids.h"

namespace fovea {

AtPosition::AtPosition(const TimedGraph& timed, DType caches)
    : timed_(timed),
      caches_(caches),
      of_source_(find_source_values(timed)),
      source_(timed.model),
      rewrite_(source_),
      target_(rewrite_.target()),
      at_(source_.nodes.size()) {
    for (const Node& node : source_.nodes) {
        if (node.op == Op::parameter) taken_.insert(source_.path(node.scope));
        if (node.op == Op::input || node.op == Op::output) taken_.emplace(node.name);
    }
    for (const ParameterAlias& alias : source_.aliases) taken_.insert(source_.path(alias.name));
    name_kept();
}

// ---- names

/// Keys and values by the attention that reads them, others by their module.
void AtPosition::name_kept() {
    for (int id = 1; id < int(source_.nodes.size()); ++id) {
        const Node& node = source_[id];
        if (!of_source_.in_step[std::size_t(id)] || is_kept(id)) continue;
        for (std::size_t i = 0; i < kMaxInputs; ++i) {
            const int input = node.inputs[i];
            if (input <= 0 || !is_kept(input) || kept_names_.contains(input)) continue;
            const bool is_pair = node.op == Op::attention && (i == 1 || i == 2);
            kept_names_[input] = is_pair ? new_name(id, kOperands[i]) : new_name(input, "kept");
        }
    }
}

const char* AtPosition::new_name(int id, const char* what) {
    const std::string module = source_.path(source_[id].scope);
    const std::string base = (module.empty() ? "" : module + ".") + what;
    std::string name = base;
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = base + std::to_string(number);
    return intern(name);
}

// ---- states and outputs

Tensor AtPosition::truths_as_numbers(Tensor value) {
    return value.dtype() == boolean ? cast(value, i32) : value;
}

void AtPosition::output(const char* name, Tensor value, bool is_state, int scope) {
    value = truths_as_numbers(value);
    make(target_, {.op = Op::output,
                   .dtype = value.dtype(),
                   .shape = value.shape(),
                   .inputs = inputs_of({value.id}),
                   .scope = scope,
                   .name = name,
                   .state = is_state});
}

Tensor AtPosition::before(const char* name, const Shape& shape, DType dtype, int scope) {
    Tensor state = make(target_, {.op = Op::input,
                                  .dtype = dtype == boolean ? i32 : dtype,
                                  .shape = shape,
                                  .scope = scope,
                                  .name = name,
                                  .state = true});
    return cast(state, dtype);
}

// ---- values

Tensor AtPosition::at(int id) {
    if (!has_time(id)) return rewrite_.mapped(id);
    Tensor& value = at_[std::size_t(id)];
    if (!value.exists()) value = of_all(id);
    return value;
}

void AtPosition::make_at(int id) {
    const Node& node = source_[id];
    Graph::From from(target_, node);
    if (node.op == Op::attention) set_at(id, attention_at(id));
    else if (is_origin(id) && node.op == Op::iota && node.axis == time(id))
        set_at(id, iota(target_, shape_at(id), node.axis) + position_);
    else if (is_origin(id) && node.op == Op::sinusoids)
        set_at(id, cast(sinusoids_at(position_, node.shape[1]), node.dtype));
    else if (is_origin(id) && op_def(node.op).steps) set_at(id, row_at(id));
    else set_at(id, copy_at(id));
}

Shape AtPosition::shape_at(int id) const {
    Shape shape = source_[id].shape;
    shape[time(id)] = 1;
    return shape;
}

/// Whether the positions of a value begin with it.
bool AtPosition::is_origin(int id) const {
    for (int input : source_[id].inputs)
        if (has_time(input)) return false;
    return true;
}

/// The row of a table that stands for the position.
Tensor AtPosition::row_at(int id) {
    const Dim first = op_def(source_[id].op).steps(source_[id]).first;
    Tensor row = first == Dim(0) ? position_ : position_ + first;
    return gather(rewrite_.mapped(source_[id].inputs[0]), row);
}

/// The same op on values at the position.
Tensor AtPosition::copy_at(int id) {
    Node node = source_[id];
    for (int& input : node.inputs)
        if (input > 0) input = at(input).id;
    node.shape = shape_at(id);
    copy_attribute(source_, node, target_);
    if (op_def(node.op).attribute == Attribute::rearrange)
        for (Dim& size : target_.rearranges[std::size_t(node.attribute)].axis)
            size = with_one(size, timed_.time);
    target_.nodes.push_back(node);
    return {&target_, int(target_.nodes.size()) - 1};
}

// ---- attention

bool AtPosition::is_cached(int attention, int operand) const {
    const Node& node = source_[attention];
    if (node.op != Op::attention) return false;
    const int input = node.inputs[std::size_t(operand)];
    if (operand == 1 || operand == 2) return has_time(input);
    return operand == 4 && has_time(input) && time(input) == source_[input].shape.rank() - 1;
}

Tensor AtPosition::cached(int attention, int operand) {
    const Node& node = source_[attention];
    const int input = node.inputs[std::size_t(operand)];
    const std::int64_t ring = ring_of(attention);
    auto [found, is_new] = cached_.try_emplace({input, ring});
    if (is_new)
        found->second =
            make_cached(new_name(attention, kOperands[operand]), input, node.scope, ring);
    return found->second;
}

std::int64_t AtPosition::ring_of(int attention) const {
    const Node& node = source_[attention];
    const AttentionAttributes& attributes = source_.attentions[std::size_t(node.attribute)];
    const bool is_window_alone = attributes.window.ends_before() && node.inputs[3] <= 0 &&
                                 node.inputs[4] <= 0 && !reads_index(attributes, Role::key_index);
    return is_window_alone ? attributes.window.before + 1 : 0;
}

Dim AtPosition::room_of(std::int64_t ring) {
    return ring ? Dim(std::string_view(room_of_window(ring))) : Dim(kSteps);
}

Tensor AtPosition::slots_of(std::int64_t ring) {
    Tensor slots = make(target_, {.op = Op::extent, .dtype = i32, .dim = room_of(ring)});
    return maximum(slots, 1);
}

Tensor AtPosition::attention_at(int id) {
    Node node = source_[id];
    AttentionAttributes attributes = source_.attentions[std::size_t(node.attribute)];
    Tensor allowed;
    if (is_cached(id, 1)) {
        node.inputs[1] = cached(id, 1).id;
        node.inputs[2] = cached(id, 2).id;
        const std::int64_t ring = reads_rings() ? ring_of(id) : 0;
        node.inputs[3] = lens_at(node, ring).id;
        // No key stands behind the position: the lengths are enough.
        const KeyWindow behind{.before = attributes.window.before};
        if (!ring) allowed = allowed_at(id, behind, cached_positions());
        attributes.window = {};
        attributes.has_lens = true;
    } else {
        for (int i : {1, 2, 3})
            if (node.inputs[std::size_t(i)] > 0)
                node.inputs[std::size_t(i)] = at(node.inputs[std::size_t(i)]).id;
        const Node& keys = source_[source_[id].inputs[1]];
        allowed = allowed_at(id, attributes.window, keys.shape[keys.shape.rank() - 2]);
        attributes.window = {};
    }
    attributes.has_allowed = allowed.exists();
    if (allowed.exists()) node.inputs[4] = allowed.id;
    node.inputs[0] = at(source_[id].inputs[0]).id;
    node.shape = shape_at(id);
    attributes.score = copy_score(attributes);
    target_.attentions.push_back(attributes);
    node.attribute = int(target_.attentions.size()) - 1;
    target_.nodes.push_back(node);
    return {&target_, int(target_.nodes.size()) - 1};
}

/// Keys up to the position, or all slots of a ring that is full, and before the lengths that there
/// are.
Tensor AtPosition::lens_at(const Node& node, std::int64_t ring) {
    Tensor before = position_ + 1;
    if (ring) before = minimum(before, slots_of(ring));
    Tensor lens = broadcast(before, {node.shape[0].without_label()});
    if (const int own = node.inputs[3]; own > 0) {
        Tensor given = at(own);
        if (given.rank() == 2) given = squeeze(given, 1);
        lens = minimum(given, lens);
    }
    return lens;
}

/// Keys inside of the window, and those that were allowed; an empty Tensor for all.
Tensor AtPosition::allowed_at(int id, const KeyWindow& window, const Dim& key_count) {
    Tensor allowed;
    if (window.is_limited()) {
        Tensor keys = iota(target_, {1, key_count.without_label()}, 1);
        if (window.ends_before()) allowed = keys >= position_ - double(window.before);
        if (window.ends_after()) {
            const Tensor first = keys <= position_ + double(window.after);
            allowed = allowed.exists() ? logical_and(allowed, first) : first;
        }
    }
    const int given_id = source_[id].inputs[4];
    if (given_id <= 0) return allowed;
    Tensor given = is_cached(id, 4) ? cached(id, 4) : at(given_id);
    return allowed.exists() ? logical_and(given, allowed) : given;
}

/// The score of a pair, whose query stands at the position.
int AtPosition::copy_score(const AttentionAttributes& attributes) {
    std::map<int, int> copies;
    const Tensor position =
        reads_index(attributes, Role::query_index) ? squeeze(position_, 0) : Tensor();
    const Tensor zero = position.exists() ? full(target_, {}, 0, i32) : Tensor();
    for (int id = 1; id < int(source_.nodes.size()); ++id) {
        if (source_[id].region != attributes.region) continue;
        Node node = source_[id];
        for (int& input : node.inputs) {
            if (input <= 0) continue;
            input = source_[input].region ? copies.at(input) : at(input).id;
        }
        copy_attribute(source_, node, target_);
        target_.nodes.push_back(node);
        copies[id] = int(target_.nodes.size()) - 1;
        if (position.exists() && node.op == Op::pair && node.port.role == Role::query_index)
            // No position is below 0, which look-ups in tables rely on.
            copies[id] = in_region(node, Elementwise::maximum,
                                   in_region(node, Elementwise::add, copies[id], position), zero);
    }
    return copies.at(attributes.score);
}

bool AtPosition::reads_index(const AttentionAttributes& attributes, Role role) const {
    for (const Node& node : source_.nodes) {
        if (node.region != attributes.region) continue;
        for (int input : node.inputs)
            if (input > 0 && source_[input].op == Op::pair && source_[input].port.role == role)
                return true;
    }
    return false;
}

int AtPosition::in_region(const Node& pair, Elementwise function, int index, Tensor other) {
    Node made{.op = Op::elementwise,
              .function = function,
              .dtype = i32,
              .inputs = inputs_of({index, other.id}),
              .region = pair.region,
              .location = pair.location};
    target_.nodes.push_back(made);
    return int(target_.nodes.size()) - 1;
}

}  // namespace fovea
