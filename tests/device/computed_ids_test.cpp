// Ids, labels and lengths of every origin, in range and out of range, in every op that reads them:
// the reference, the CPU and PTX give the same values, or refuse. FOVEA_SEED sets the seed.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/graph/scan_function.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/error.h"
#include "runtime/session.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr std::int64_t kBatch = 3, kLen = 5, kRows = 7;
using Ids = std::vector<int>;
using Values = std::map<std::string, Array>;
using Sizes = std::vector<std::int64_t>;

Array array(const Sizes& shape, const std::function<double(std::size_t)>& value) {
    Array result{shape, {}};
    for (std::int64_t i = 0; i < result.size(); ++i) result.values.push_back(value(std::size_t(i)));
    return result;
}

Tensor take(Scope s, const std::string& name, const Shape& shape, DType type = i32) {
    static std::set<std::string> names;
    return s.input(names.insert(name).first->c_str(), shape, type);
}

/// How a model comes by ids [batch, len], or [batch]: what makes them of inputs, and the inputs
/// that make these.
struct Origin {
    const char* name;
    bool is_checked_before = false;  // the run, which then says: input ...
    Tensor (*make)(Scope s, const std::string& name, const Shape& shape);
    void (*set)(const std::string& name, Sizes shape, const Ids& ids, Values& values);
    bool is_in_range = false;  // by how it is made
};

void set_plain(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    values[name] = array(shape, [&](std::size_t i) { return ids[i]; });
}

/// A column before the ids, which holds anything.
Tensor make_slice(Scope s, const std::string& name, const Shape& shape) {
    Shape longer = shape;
    longer[-1] = shape[-1] + Dim(1);
    return slice(take(s, name, longer), -1, 1, shape[-1]);
}
void set_slice(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    const std::size_t n = std::size_t(++shape.back());
    values[name] = array(
        shape, [&](std::size_t i) { return i % n ? ids[i / n * (n - 1) + i % n - 1] : 99999999; });
}

/// The same, transposed before it is cut.
Tensor make_cut(Scope s, const std::string& name, const Shape& shape) {
    if (shape.rank() == 1)
        return squeeze(slice(rearrange(take(s, name, {shape[0], 2}), "a b -> b a"), 0, 1, 1), 0);
    Tensor all = take(s, name, {shape[1] + Dim(1), shape[0]});
    return slice(rearrange(all, "a b -> b a"), 1, 1, shape[1]);
}
void set_cut(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    const std::size_t rows = std::size_t(shape[0]);
    if (shape.size() == 1)
        values[name] = array({shape[0], 2}, [&](std::size_t i) { return i % 2 ? ids[i / 2] : -1; });
    else
        values[name] = array({shape[1] + 1, shape[0]}, [&](std::size_t i) {
            return i < rows ? -1 : ids[i % rows * std::size_t(shape[1]) + i / rows - 1];
        });
}

Tensor make_joined(Scope s, const std::string& name, const Shape& shape) {
    Shape first = shape, rest = shape;
    first[0] = 1, rest[0] = shape[0] + Dim(-1);
    return concat(take(s, name + ".first", first), take(s, name + ".rest", rest), 0);
}
void set_joined(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    Sizes first = shape, rest = shape;
    first[0] = 1, --rest[0];
    const std::size_t n = ids.size() / std::size_t(shape[0]);
    values[name + ".first"] = array(first, [&](std::size_t i) { return ids[i]; });
    values[name + ".rest"] = array(rest, [&](std::size_t i) { return ids[n + i]; });
}

Tensor make_chosen(Scope s, const std::string& name, const Shape& shape) {
    Tensor a = take(s, name + ".a", shape), b = take(s, name + ".b", shape);
    return where(eq(a, -5), b, a);
}
void set_chosen(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    values[name + ".a"] = array(shape, [&](std::size_t i) { return i % 2 ? -5 : ids[i]; });
    values[name + ".b"] = array(shape, [&](std::size_t i) { return i % 2 ? ids[i] : -99; });
}

Tensor make_gathered(Scope s, const std::string& name, const Shape& shape) {
    Dim count = 1;
    for (const Dim& dim : shape) count = count * dim;
    return gather(take(s, name + ".of", {count}), take(s, name + ".at", shape));
}
void set_gathered(const std::string& name, Sizes shape, const Ids& ids, Values& values) {
    values[name + ".of"] = array({std::int64_t(ids.size())}, [&](std::size_t i) { return ids[i]; });
    values[name + ".at"] = array(shape, [](std::size_t i) { return double(i); });
}

const Origin kOrigins[] = {
    {"input", true,
     [](Scope s, const std::string& name, const Shape& shape) { return take(s, name, shape); },
     set_plain},
    {"slice", true, make_slice, set_slice},
    {"slice of a transposed input", false, make_cut, set_cut},
    {"concat", true, make_joined, set_joined},
    {"gather", true, make_gathered, set_gathered},
    {"where", false, make_chosen, set_chosen},
    {"difference", false,
     [](Scope s, const std::string& name, const Shape& shape) { return 3 - take(s, name, shape); },
     [](const std::string& name, Sizes shape, const Ids& ids, Values& values) {
         values[name] = array(shape, [&](std::size_t i) { return 3 - ids[i]; });
     }},
    {"quotient", false,
     [](Scope s, const std::string& name, const Shape& shape) { return take(s, name, shape) / 2; },
     [](const std::string& name, Sizes shape, const Ids& ids, Values& values) {
         values[name] =
             array(shape, [&](std::size_t i) { return 2 * ids[i] + (ids[i] < 0 ? -1 : 1); });
     }},
    {"cast", false,
     [](Scope s, const std::string& name, const Shape& shape) {
         return cast(take(s, name, shape, f32), i32);
     },
     [](const std::string& name, Sizes shape, const Ids& ids, Values& values) {
         values[name] =
             array(shape, [&](std::size_t i) { return ids[i] + (ids[i] < 0 ? -0.5 : 0.5); });
     }},
    {"comparison", false,
     [](Scope s, const std::string& name, const Shape& shape) {
         return cast(take(s, name, shape) > 2, i32);
     },
     set_plain, true},
    {"clamp", false,
     [](Scope s, const std::string& name, const Shape& shape) {
         return maximum(minimum(take(s, name, shape), int(kLen)), 0);
     },
     set_plain, true},
};

/// An op that reads ids [batch, len] or lengths [batch].
struct Use {
    const char* name;  // and that of its output
    const char* op;    // as messages name it
    bool of_lengths;
    Tensor (*make)(Scope s, Tensor ids);
};

Tensor logits(Scope s, const char* name) { return s.input(name, {"batch", "len", kRows}); }

const Use kUses[] = {
    {"rows", "gather", false,
     [](Scope s, Tensor ids) { return gather(s.input("table", {kRows, 4}), ids); }},
    {"sums", "scatter_add", false,
     [](Scope s, Tensor ids) {
         return scatter_add(s.input("values", {"batch", "len", 4}), ids, kRows);
     }},
    {"labels", "cross_entropy", false,
     [](Scope s, Tensor ids) {
         return cross_entropy(logits(s, "x1"), ids, s.input("n1", {"batch"}, i32));
     }},
    {"lens", "cross_entropy", true,
     [](Scope s, Tensor ids) {
         return cross_entropy(logits(s, "x2"), s.input("n2", {"batch", "len"}, i32), ids);
     }},
    {"smoothed", "smoothed_cross_entropy", false,
     [](Scope s, Tensor ids) { return smoothed_cross_entropy(logits(s, "x3"), ids, 0, 0.1); }},
    {"masked", "masked_softmax", true,
     [](Scope s, Tensor ids) {
         return masked_softmax(s.input("scores", {"batch", 2, "len"}), padding(ids));
     }},
    {"attended", "attention", true,
     [](Scope s, Tensor ids) {
         Tensor k = s.input("keys", {"batch", "len", 8});
         return attention(s.input("queries", {"batch", 2, 8}), k, k, dot_product, padding(ids));
     }},
    {"steps", "gather", false,
     [](Scope s, Tensor ids) {
         Tensor table = s.input("table_of_steps", {kRows, 4});
         Tensor start = s.input("start", {"batch", 4});
         return scan(rearrange(ids, "b t -> t b"), start,
                     [&](Tensor id, Tensor state) {
                         Tensor next = state * 0.5 + gather(table, id);
                         return fovea::Step{next, next};
                     })
             .value;
     }},
};

Graph model_of(const Origin& origin) {
    Graph graph;
    Scope s{&graph};
    for (const Use& use : kUses) {
        const Shape shape = use.of_lengths ? Shape{"batch"} : Shape{"batch", "len"};
        s.output(use.name, use.make(s, origin.make(s, std::string(use.name) + ".ids", shape)));
    }
    return seal_scans(graph);
}

class Draw {
  public:
    explicit Draw(unsigned seed) : generator_(seed) {}
    int below(int end) { return int(generator_() % unsigned(end)); }
    double normal() { return double(float(std::normal_distribution<double>()(generator_))); }

  private:
    std::mt19937 generator_;
};

unsigned seed() {
    if (const char* given = std::getenv("FOVEA_SEED")) return unsigned(std::atoi(given));
    return std::random_device{}() % 1000000;
}

/// Values of all inputs, with the ids of `bad` out of range somewhere.
Values draw_values(const Graph& graph, const Origin& origin, const Use* bad, Draw& draw) {
    Values values;
    for (const Use& use : kUses) {
        const Sizes shape = use.of_lengths ? Sizes{kBatch} : Sizes{kBatch, kLen};
        const int end = int(use.of_lengths ? kLen + 1 : kRows);
        Ids ids(std::size_t(use.of_lengths ? kBatch : kBatch * kLen));
        for (int& id : ids) id = draw.below(end);
        const int wrong[] = {-1, end, 99999999, -99999999};
        if (&use == bad) ids[std::size_t(draw.below(int(ids.size())))] = wrong[draw.below(4)];
        origin.set(std::string(use.name) + ".ids", shape, ids, values);
    }
    for (const Node& node : graph.nodes) {
        if (node.op != Op::input || values.contains(std::string(node.name))) continue;
        Sizes shape;
        for (const Dim& dim : node.shape)
            shape.push_back(dim.is_static() ? dim.value() : dim == Dim("batch") ? kBatch : kLen);
        values[std::string(node.name)] = array(
            shape, [&](std::size_t) { return node.dtype == i32 ? draw.below(5) : draw.normal(); });
    }
    return values;
}

/// What a run gave, or the message of its refusal.
struct Outcome {
    Values outputs;
    std::string error;
};

Outcome run_reference(const Graph& gradient, const Values& values) {
    Outcome outcome;
    try {
        Interpreter reference(gradient);
        for (const auto& [name, value] : values) reference.set(name, value);
        outcome.outputs = reference.outputs();
    } catch (const UserError& error) {
        outcome.error = error.what();
    }
    return outcome;
}

template <class T>
void write(void* to, const Array& from) {
    std::copy(from.values.begin(), from.values.end(), static_cast<T*>(to));
}

Outcome run_on(runtime::Instance& instance, const Graph& gradient, const Values& values) {
    Outcome outcome;
    for (const auto& [name, value] : values) {
        const bool integers =
            std::any_of(gradient.nodes.begin(), gradient.nodes.end(),
                        [&](const Node& node) { return node.name == name && node.dtype == i32; });
        if (integers) write<std::int32_t>(instance.input<void>(name), value);
        else write<float>(instance.input<void>(name), value);
    }
    try {
        instance.run();
    } catch (const runtime::UserError& error) {
        outcome.error = error.what();
        return outcome;
    }
    for (const runtime::TensorSpec& spec : instance.program().outputs) {
        Array result{instance.shape_of(spec), {}};
        const float* data = instance.output<float>(spec.name);
        result.values.assign(data, data + result.size());
        outcome.outputs[spec.name] = std::move(result);
    }
    return outcome;
}

void check_same(const Values& actual, const Values& expected) {
    REQUIRE(actual.size() == expected.size());
    for (const auto& [name, value] : expected)
        for (std::size_t i = 0; i < value.values.size(); ++i) {
            CAPTURE(name);
            CHECK(actual.at(name).values[i] == doctest::Approx(value.values[i]).epsilon(1e-4));
        }
}

void check_error(const Outcome& outcome, const Origin& origin, const Use& use) {
    CAPTURE(outcome.error);
    const auto has = [&](const std::string& part) {
        return outcome.error.find(part) != std::string::npos;
    };
    CHECK(has(use.of_lengths ? "lengths are from 0 to 5" : "ids are from 0 to 6"));
    if (origin.is_checked_before) {
        CHECK(has("input " + std::string(use.name) + ".ids"));
        return;
    }
    CHECK(has("computed_ids_test.cpp:"));
    CHECK(has(std::string("the ") + (use.of_lengths ? "lengths" : "ids") + " of " + use.op));
}

/// One program for each origin, with all uses in it.
struct Models {
    std::vector<Graph> graphs, gradients;
    CompiledModel compiled;

    Models() {
        std::vector<ProgramRequest> requests;
        for (const Origin& origin : kOrigins) {
            graphs.push_back(model_of(origin));
            gradients.push_back(
                add_gradients(graphs.back(), {.from_loss = false, .of_inputs = true}));
            requests.push_back({.name = origin.name,
                                .graph = graphs.back(),
                                .training = false,
                                .gradients = Gradients::of_parameters_and_inputs,
                                .fusion = {true, AttentionForm::fused}});
        }
        compiled = compile_model("ids", "", {}, std::move(requests));
    }
};

void check_origin(const Models& models, const runtime::Model& model, std::size_t number,
                  Draw& draw) {
    const Origin& origin = kOrigins[number];
    CAPTURE(origin.name);
    const Graph& gradient = models.gradients[number];
    runtime::Parameters parameters(model, {});
    runtime::Instance instance(model, origin.name, parameters);
    instance.bind({{"batch", kBatch}, {"len", kLen}});
    const auto check = [&](const Use* bad) {
        const Values values = draw_values(gradient, origin, bad, draw);
        const Outcome expected = run_reference(gradient, values);
        const Outcome actual = run_on(instance, gradient, values);
        CAPTURE(expected.error);
        CHECK(expected.error.empty() == !bad);
        if (bad) return check_error(actual, origin, *bad);
        CHECK(actual.error == "");
        if (actual.error.empty()) check_same(actual.outputs, expected.outputs);
    };
    check(nullptr);
    for (const Use& use : kUses) {
        if (origin.is_in_range) break;
        CAPTURE(use.name);
        check(&use);
    }
    check(nullptr);
}

void check_on(const std::string& target) {
    const unsigned start = seed();
    MESSAGE("FOVEA_SEED=", start);
    CAPTURE(start);
    CAPTURE(target);
    Draw draw(start);
    const Models models;
    const auto model =
        tool::model_on({target, "sm_80"}, models.compiled.plan, f32, tool::Optimized::little);
    for (std::size_t i = 0; i < std::size(kOrigins); ++i) check_origin(models, *model, i, draw);
}

}  // namespace

TEST_CASE("ids of every origin are checked on the CPU and in the reference") { check_on("cpu"); }

TEST_CASE("ids of every origin are checked on PTX") {
    if (!emit::why_not_ptx()) check_on("ptx-interpreter");
}
