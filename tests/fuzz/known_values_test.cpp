// Which outputs of a graph are computed again after a pass, and which nodes are alike.
#include "tools/fovea/fuzz/known_values.h"

#include <doctest/doctest.h>

#include "codegen/graph/scan_function.h"
#include "codegen/optimize/dead_code.h"
#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::tool;
using namespace fovea::tool::fuzz;

namespace {

template <class Body>
Graph model_of_x(const Body& body) {
    Graph graph;
    Scope s{&graph};
    body(s, s.input("x", {"len", 3}));
    return seal_scans(graph);
}

int key_of_output(NodeKeys& keys, const Graph& graph, std::string_view name) {
    return keys.of(graph)[std::size_t(find_output(graph, name))];
}

/// Whether two functions of x are alike.
bool alike(Tensor (*one)(Tensor), Tensor (*other)(Tensor)) {
    NodeKeys keys({{Symbol("len"), 3}});
    const auto key = [&](Tensor (*f)(Tensor)) {
        const Graph graph = model_of_x([&](Scope s, Tensor x) { s.output("y", f(x)); });
        return key_of_output(keys, graph, "y");
    };
    return key(one) == key(other);
}

std::vector<std::string> visited(KnownValues& known, const Graph& graph) {
    std::vector<std::string> names;
    known.each_new_output(graph,
                          [&](const std::string& name, const Bounded&) { names.push_back(name); });
    return names;
}

KnownValues known_of_x() {
    return {{{"len", 2}}, {{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}, {}, 0x1p-24};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("nodes are alike by op, attributes, sizes and operands") {
    CHECK(alike([](Tensor x) { return exp(x) * 2.0; }, [](Tensor x) { return exp(x) * 2.0; }));
    CHECK(!alike([](Tensor x) { return exp(x) * 2.0; }, [](Tensor x) { return exp(x) * 3.0; }));
    CHECK(!alike([](Tensor x) { return exp(x); }, [](Tensor x) { return tanh(x); }));
    CHECK(!alike([](Tensor x) { return softmax(x, 0); }, [](Tensor x) { return softmax(x, 1); }));
    CHECK(!alike([](Tensor x) { return sum(x, 0); }, [](Tensor x) { return amax(x, 0); }));
    CHECK(!alike([](Tensor x) { return einsum("a b, c b -> a c", x, x); },
                 [](Tensor x) { return einsum("b a, b c -> a c", x, x); }));
    CHECK(!alike([](Tensor x) { return slice(x, 1, Dim(0), Dim(2), 1); },
                 [](Tensor x) { return slice(x, 1, Dim(0), Dim(2), 2); }));
}

TEST_CASE("loops are alike by their steps") {
    const auto cumulated = [](double factor) {
        return [factor](Scope s, Tensor x) {
            Tensor start = sum(x, 0) * 0.0;
            s.output("y", scan(x, start, [&](Tensor now, Tensor before) {
                              Tensor next = before * factor + now;
                              return Step{next, next};
                          }).value);
        };
    };
    NodeKeys keys({{Symbol("len"), 2}});
    const int one = key_of_output(keys, model_of_x(cumulated(0.5)), "y");
    CHECK(key_of_output(keys, model_of_x(cumulated(0.5)), "y") == one);
    CHECK(key_of_output(keys, model_of_x(cumulated(0.25)), "y") != one);
}

TEST_CASE("attentions are alike by their scores") {
    const auto attend = [](double factor) {
        return [factor](Scope s, Tensor x) {
            Tensor q = rearrange(x, "len w -> 1 len w");
            s.output("y",
                     attention(q, q, q, [&](Pair p) { return dot(p.q, p.k) * factor; }, causal));
        };
    };
    NodeKeys keys({{Symbol("len"), 2}});
    const int one = key_of_output(keys, model_of_x(attend(0.5)), "y");
    CHECK(key_of_output(keys, model_of_x(attend(0.5)), "y") == one);
    CHECK(key_of_output(keys, model_of_x(attend(0.25)), "y") != one);
}

TEST_CASE("only outputs that are computed in another way are visited again") {
    KnownValues known = known_of_x();
    const Graph graph = model_of_x([](Scope s, Tensor x) {
        s.output("a", exp(x));
        s.output("b", exp(x) * 2.0);
    });
    CHECK(visited(known, graph) == Names{"a", "b"});
    CHECK(visited(known, dead_code(graph)) == Names{});
    const Graph changed = model_of_x([](Scope s, Tensor x) {
        s.output("a", exp(x));
        s.output("b", exp(x) + exp(x));
    });
    CHECK(visited(known, changed) == Names{"b"});
}

TEST_CASE("an output that takes the place of another one is visited") {
    KnownValues known = known_of_x();
    visited(known, model_of_x([](Scope s, Tensor x) {
                s.output("a", x * 2.0);
                s.output("b", x * 3.0);
            }));
    std::map<std::string, double> first;
    known.each_new_output(model_of_x([](Scope s, Tensor x) {
                              s.output("a", x * 3.0);
                              s.output("b", x * 3.0);
                          }),
                          [&](const std::string& name, const Bounded& value) {
                              first[name] = value.value.values[0];
                          });
    CHECK(first == std::map<std::string, double>{{"a", 3}});
}

TEST_CASE("values and bounds are those of a computation from the start") {
    KnownValues known = known_of_x();
    visited(known, model_of_x([](Scope s, Tensor x) { s.output("a", exp(x)); }));
    known.each_new_output(
        model_of_x([](Scope s, Tensor x) { s.output("a", exp(x) * 3.0); }),
        [&](const std::string&, const Bounded& value) {
            KnownValues other = known_of_x();
            other.each_new_output(
                model_of_x([](Scope s, Tensor x) { s.output("a", exp(x) * 3.0); }),
                [&](const std::string&, const Bounded& again) {
                    CHECK(value.value.values == again.value.values);
                    CHECK(value.bound.values == again.bound.values);
                });
            CHECK(value.bound.values[0] > 0);
        });
}
