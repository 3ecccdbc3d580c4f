// Scopes name the modules of a model; parameters, inputs and outputs are made in them.
#pragma once

#include "codegen/graph/intern.h"
#include "codegen/ops/elementwise.h"

namespace fovea {

/// A part of a path, and where it was written.
struct PathPart {
    std::string_view name;
    Location location;

    constexpr PathPart(const char* part, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE(), const char* function = __builtin_FUNCTION())
        : name(part, __builtin_strlen(part)), location{file, line, function} {}
};

/// A place in the tree of modules. `scope / "ffn" / "dense1"` enters modules, `scope / "block" + 0`
/// extends the last name by a number; the paths are PyTorch's state_dict keys.
struct Scope {
    Graph* graph;
    int id = 0;
    bool is_frozen = false;  // see `frozen`

    /// For what is made of nothing: `iota(s, {"len"})`.
    constexpr operator Graph&() const { return *graph; }

    constexpr Scope operator/(PathPart part) const {
        if (!part.name[0]) {
            Text text;
            text << "a module without a name";
            fail(*graph, part.location, id, text);
        }
        return {graph, graph->add_scope(id, part.name, -1, false, part.location), is_frozen};
    }
    constexpr Scope operator/(int number) const {
        return {graph, graph->add_scope(id, "", number, false, graph->scope(id).location),
                is_frozen};
    }
    constexpr Scope operator+(int number) const {
        return {graph, graph->add_scope(id, "", number, true, graph->scope(id).location),
                is_frozen};
    }
    /// The same module, whose parameters, and those of modules in it, are not trained: they have no
    /// gradient, and the optimizer leaves them as they are (PyTorch's `requires_grad_(False)`).
    constexpr Scope frozen() const { return {graph, id, true}; }

    /// A parameter `path.name`; two parameters of one name are an error. Of bf16 or f16, it is kept
    /// as f32 and cast.
    constexpr Tensor parameter(const char* name, const Shape& shape,
                               Initial initial = Initial::xavier_uniform, DType type = f32,
                               Location location = Location::here()) const {
        return parameter_at(graph->add_scope(id, name, -1, false, location), shape, initial, type,
                            location);
    }
    /// The same with a number behind its name: `weight_ih_l0`.
    constexpr Tensor parameter(const char* name, int number, const Shape& shape, Initial initial,
                               DType type = f32, Location location = Location::here()) const {
        return parameter_at(graph->add_scope(id, name, number, false, location), shape, initial,
                            type, location);
    }
    /// A value that outlives a call and is kept with the parameters, under its path: the running
    /// statistics of a norm (PyTorch's `register_buffer`). It is f32 and not trained; `update` says
    /// what it becomes.
    constexpr Tensor state(const char* name, const Shape& shape, Initial initial = Initial::zeros,
                           Location location = Location::here()) const {
        const int leaf = graph->add_scope(id, name, -1, false, location);
        return as_state(frozen().parameter_at(leaf, shape, initial, f32, location));
    }
    /// A value that outlives a call and is kept by whoever calls: keys and values of the positions
    /// before. It has any sizes and starts as zeros; `update` says what it becomes. Its name is its
    /// path.
    constexpr Tensor cache(const char* name, const Shape& shape, DType type = f32,
                           Location location = Location::here()) const {
        const int leaf = graph->add_scope(id, name, -1, false, location);
        if (!graph->claim_parameter(leaf)) return name_taken(leaf, "a cache", location);
        if (!is_name("cache", name, location) || !has_sizes("cache", name, shape, location))
            return {graph, 0};
        return as_state(make(*graph, {.op = Op::input,
                                      .dtype = type,
                                      .shape = shape,
                                      .scope = leaf,
                                      .location = location,
                                      .name = path_of(leaf, name)}));
    }
    /// From the next call on, `state` is `next`, of its type and shape. Within this call it stays
    /// what it was. No gradient passes from one call to another.
    constexpr void update(Tensor state, Tensor next, Location location = Location::here()) const {
        if (!is_own("update", state, location) || !is_own("update", next, location)) return;
        if (!is_of_a_call("update", graph->scope(state.node().scope).part, location)) return;
        const int leaf = state.node().scope;
        Text path, text;
        graph->write_path(path, leaf);
        if (!state.node().state)
            text
                << "update of what is neither a state nor a cache: make it with s.state or s.cache";
        else if (state.dtype() != next.dtype() || !fits(next.shape(), state.shape()))
            text << "update of " << path.view() << ", " << name_of(state.dtype()) << " "
                 << state.shape() << ", with " << name_of(next.dtype()) << " " << next.shape()
                 << ": both must have one type and one shape";
        else if (path.view() == "loss")
            text << "update of loss: what training differentiates has this name, so give the state "
                    "another";
        else if (!graph->claim_output(path.view()))
            text << path.view() << " is updated twice, or an output has its name";
        if (!text.view().empty()) {
            fail(*graph, location, id, text);
            return;
        }
        as_state(make(*graph, {.op = Op::output,
                               .dtype = state.dtype(),
                               .shape = state.shape(),
                               .inputs = inputs_of({next.id}),
                               .scope = leaf,
                               .location = location,
                               .name = path_of(leaf, graph->scope(leaf).part)}));
    }
    /// Another name of `parameter`, which files may hold it under (tied tensors).
    constexpr void tie(const char* name, Tensor parameter,
                       Location location = Location::here()) const {
        if (!is_own("tie", parameter, location)) return;
        int leaf = graph->add_scope(id, name, -1, false, location);
        const bool is_cast = parameter.node().function == Elementwise::identity;
        if (parameter.node().op == Op::elementwise && is_cast)
            parameter.id = parameter.node().inputs[0];
        if (parameter.node().op == Op::parameter && graph->claim_parameter(leaf)) {
            graph->aliases.push_back({leaf, parameter.node().scope});
            return;
        }
        Text text;
        text << "cannot tie ";
        graph->write_path(text, leaf);
        if (parameter.node().op == Op::parameter) text << ": a parameter has this name already";
        else text << " to what is no parameter";
        fail(*graph, location, id, text);
    }
    /// An input of the model. Its name stands by itself, without the path.
    constexpr Tensor input(const char* name, const Shape& shape, DType type = f32,
                           Location location = Location::here()) const {
        if (is_input(name)) return name_clash("inputs", name, location);
        if (!graph->claim_input(name)) {
            Text text;
            text << "a parameter and an input are named " << name
                 << ": files have one tensor of a name, so give one of them another";
            return fail(*graph, location, id, text);
        }
        if (!is_name("input", name, location) || !has_sizes("input", name, shape, location))
            return {graph, 0};
        return make(*graph, {.op = Op::input,
                             .dtype = type,
                             .shape = shape,
                             .scope = id,
                             .location = location,
                             .name = name});
    }
    /// An output of the model. `loss` is what training differentiates, summed; see also `loss`.
    constexpr void output(const char* name, Tensor value,
                          Location location = Location::here()) const {
        if (!is_own("output", value, location) || !is_name("output", name, location)) return;
        if (!is_of_a_call("output", name, location)) return;
        if (!graph->claim_output(name)) {
            name_clash("outputs", name, location);
            return;
        }
        make(*graph, {.op = Op::output,
                      .dtype = value.dtype(),
                      .shape = value.shape(),
                      .inputs = inputs_of({value.id}),
                      .scope = id,
                      .location = location,
                      .name = name});
    }

    /// An output of floats of any shape, of which training differentiates the sum, times `weight`,
    /// beside those of other losses. Their total is output `loss`, [].
    constexpr void loss(const char* name, Tensor value, double weight = 1,
                        Location location = Location::here()) const {
        if (!is_own("loss", value, location) || !is_name("loss", name, location)) return;
        if (!is_float(value.dtype())) {
            Text text;
            text << "loss " << name << ": expected f32, bf16 or f16, got " << name_of(value.dtype())
                 << " " << value.shape();
            fail(*graph, location, id, text);
            return;
        }
        if (std::string_view(name) == "loss") {
            Text text;
            text << "loss loss: the total of all losses is output loss, so give this one another "
                    "name";
            fail(*graph, location, id, text);
            return;
        }
        if (graph->losses.empty() && !graph->claim_output("loss")) {
            name_clash("outputs", "loss", location);
            return;
        }
        output(name, value, location);
        graph->losses.push_back({value.id, weight});
    }

  private:
    constexpr Tensor as_state(Tensor value) const {
        if (!value.is_poison()) graph->nodes[std::size_t(value.id)].state = true;
        return value;
    }
    /// The text of a path, where the model runs; a compiler needs no more than its last part.
    constexpr std::string_view path_of(int leaf, std::string_view part) const {
        if (std::is_constant_evaluated()) return part;
        return intern(graph->path(leaf));
    }
    constexpr Tensor name_taken(int leaf, const char* what, Location location) const {
        Text text;
        text << what << " ";
        graph->write_path(text, leaf);
        text << ": a parameter or an input has this name";
        return fail(*graph, location, id, text);
    }
    constexpr Tensor parameter_at(int leaf, const Shape& shape, Initial initial, DType type,
                                  Location location) const {
        if (!graph->claim_parameter(leaf)) {
            Text text;
            Text path;
            graph->write_path(path, leaf);
            const bool by_input = is_input(path.view());
            text << (by_input ? "an input and a parameter" : "two parameters") << " are named "
                 << path.view()
                 << (by_input
                         ? ": files have one tensor of a name, so give one of them another"
                         : ": give the modules different names, or pass the first parameter on");
            return fail(*graph, location, id, text);
        }
        if (!is_name("parameter", graph->scope(leaf).part, location)) return {graph, 0};
        if (!has_sizes("parameter", graph->scope(leaf).part, shape, location)) return {graph, 0};
        if (!is_float(type)) {
            Text text;
            text << "parameter " << graph->scope(leaf).part << " " << shape
                 << ": parameters are f32, bf16 or f16, not " << name_of(type);
            return fail(*graph, location, id, text);
        }
        const Tensor weights = {graph, graph->add({.op = Op::parameter,
                                                   .dtype = f32,
                                                   .shape = shape,
                                                   .scope = leaf,
                                                   .location = location,
                                                   .initial = initial,
                                                   .frozen = is_frozen})};
        return type == f32 ? weights : cast(weights, type, location);
    }
    /// Whether a value can be used and is of this model.
    constexpr bool is_own(const char* what, Tensor value, Location location) const {
        if (value.graph == graph) return is_usable(what, location, {value});
        Text text;
        text << what
             << (value.graph ? " of a Tensor of another graph"
                             : " of a Tensor that is empty: no op has made it");
        fail(*graph, location, id, text);
        return false;
    }
    /// Outputs are of a call, and not of each pair or step in it.
    constexpr bool is_of_a_call(const char* what, std::string_view name, Location location) const {
        if (!graph->region) return true;
        Text text;
        text << what << " " << name
             << " inside a score or the step of a loop, which has a value for each pair or step: "
                "return it from the step, and name what the loop gives";
        fail(*graph, location, id, text);
        return false;
    }
    /// Names are printed, and keys of files.
    constexpr bool is_name(const char* what, std::string_view name, Location location) const {
        const char *at = name.data(), *end = at + name.size();
        while (at != end && (unsigned char)*at >= ' ' && *at != 127 && *at != '"' && *at != '\\')
            ++at;
        const bool is_gradient =
            at == end && at != name.data() && at[-1] == 'd' && name.ends_with(".grad");
        if (at == end && !name.empty() && !is_gradient) return true;
        Text text;
        text << what << " '" << name << "': "
             << (is_gradient ? "names that end in .grad are those of gradients"
                             : "a name has at least one character, and no quotes, backslashes or "
                               "control characters");
        fail(*graph, location, id, text);
        return false;
    }
    constexpr bool has_sizes(const char* what, std::string_view name, const Shape& shape,
                             Location location) const {
        const Dim *at = shape.begin(), *end = shape.end();
        while (at != end && !at->is_no_size() && !at->is_zero()) ++at;
        if (at == end && !shape.is_wrong()) return true;
        Text text;
        text << what << " " << name << ": ";
        if (shape.is_wrong()) shape.write_mistake(text);
        else text << "a size is 0 in " << shape;
        fail(*graph, location, id, text);
        return false;
    }
    constexpr bool is_input(std::string_view name) const {
        const Node *at = graph->nodes.begin(), *end = graph->nodes.end();
        while (at != end && (at->op != Op::input || at->name != name)) ++at;
        return at != end;
    }
    constexpr Tensor name_clash(const char* kind, std::string_view name, Location location) const {
        Text text;
        text << "two " << kind << " are named " << name;
        return fail(*graph, location, id, text);
    }
};

/// `x`, the value of module `s`: kernels and attention weights are named after it.
constexpr Tensor value_of(Scope s, Tensor x) {
    if (!x.is_poison()) x.graph->nodes[std::size_t(x.id)].scope = s.id;
    return x;
}

}  // namespace fovea
