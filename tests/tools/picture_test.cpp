// Pictures of graphs: what stands in which module, layers drawn once, gradients beside forward.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/graph/scan_function.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/chart/fold_modules.h"
#include "tools/fovea/chart/graph_picture.h"
#include "tools/fovea/chart/merge_chains.h"
#include "tools/fovea/chart/merge_results.h"
#include "tools/fovea/chart/module_tree.h"
#include "tools/fovea/chart/place_modules.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

using namespace fovea::tool;

namespace {

using Settings = std::map<std::string, std::string>;

fovea::CompiledProgram compiled(const std::string& name, const Settings& settings) {
    const LoadedModel model = load_model(name, {settings.begin(), settings.end()});
    return compile(model, {runner_program(model, true, true, true)}).programs[0];
}

Settings small(const std::string& layers) {
    return {{"num_hidden_layers", layers},
            {"hidden_size", "16"},
            {"intermediate_size", "24"},
            {"num_attention_heads", "2"},
            {"num_key_value_heads", "1"},
            {"vocab_size", "40"},
            {"head_dim", "8"}};
}

void each_module(const PictureModule& module,
                 const std::function<void(const PictureModule&)>& use) {
    use(module);
    for (const auto& one : module.modules) each_module(*one, use);
}

const PictureModule* find(const PictureModule& root, const std::string& name) {
    const PictureModule* found = nullptr;
    each_module(root, [&](const PictureModule& module) {
        if (module.name == name) found = &module;
    });
    return found;
}

std::size_t count_nodes(const PictureModule& module) {
    std::size_t count = 0;
    each_module(module, [&](const PictureModule& one) { count += one.nodes.size(); });
    return count;
}

PictureModule folded(const fovea::Graph& graph, const std::vector<int>& group_of = {}) {
    PictureModule tree = module_tree(graph);
    fold_modules(tree, group_of);
    return tree;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
    return count;
}

}  // namespace

TEST_CASE("a transformer's picture is narrow, with scores in their attention") {
    const LoadedModel model =
        load_model("transformer", {{"hidden", "32"}, {"ffn", "64"}, {"heads", "4"}});
    const std::string picture = graph_picture(model.graph, "transformer");
    CHECK(picture.find("score = sum(q · k) / sqrt(8)") != std::string::npos);
    CHECK(picture.find("pair") == std::string::npos);
    for (const char* words : {">input src<", ">output loss<", ">weight [hidden=32]<",
                              ">blks.block0 … blks.block1: 2 times<"})
        CHECK_MESSAGE(picture.find(words) != std::string::npos, words);
    CHECK(std::stod(picture.substr(picture.find("0 0 ") + 4)) <= 1600);
    CHECK(picture.ends_with("</svg>\n"));
}

TEST_CASE("layers that compute the same are drawn once, in every stage") {
    const fovea::CompiledProgram of_three = compiled("llama", small("3"));
    const fovea::CompiledProgram of_five = compiled("llama", small("5"));
    const std::pair<const fovea::Graph*, const fovea::Graph*> graphs[] = {
        {&of_three.graph, &of_five.graph},
        {&of_three.gradient, &of_five.gradient},
        {&of_three.optimized, &of_five.optimized}};
    for (const auto& [three, five] : graphs) {
        const PictureModule tree = folded(*five), shorter = folded(*three);
        const PictureModule* layers = find(tree, "layers.0");
        REQUIRE(layers);
        CHECK(heading_of(*layers) == "layers.0 … layers.4: 5 times");
        CHECK(find(tree, "layers.1") == nullptr);
        CHECK(count_nodes(tree) == count_nodes(shorter));
        const std::string once = graph_picture(*five, "llama"),
                          all = graph_picture(*five, "llama", {}, RepeatedLayers::all);
        CHECK(occurrences(all, ">layers.4<") == 1);
        CHECK(all.size() > 2 * once.size());
    }
}

TEST_CASE("what a stack reads and gives is that of its first and last layer") {
    const fovea::CompiledProgram program = compiled("llama", small("4"));
    const PictureModule tree = folded(program.graph);
    const PictureModule* layer = find(tree, "layers.0");
    REQUIRE(layer);
    std::vector<int> inside, outside, read_inside, read_outside;
    each_module(tree, [&](const PictureModule& module) {
        bool is_inside = false;
        each_module(*layer, [&](const PictureModule& one) { is_inside |= &one == &module; });
        for (const PictureNode& node : module.nodes) {
            (is_inside ? inside : outside).push_back(node.id);
            auto& read = is_inside ? read_inside : read_outside;
            read.insert(read.end(), node.inputs.begin(), node.inputs.end());
        }
    });
    const auto has = [](const std::vector<int>& ids, int id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    // The embedding goes in, with the cosines and sines; one sum comes out.
    std::vector<int> in, out;
    for (int id : outside)
        if (has(read_inside, id)) in.push_back(id);
    for (int id : inside)
        if (has(read_outside, id)) out.push_back(id);
    CHECK(in.size() == 3);
    REQUIRE(out.size() == 1);
    CHECK(out[0] == *std::max_element(inside.begin(), inside.end()));
    for (int id : read_inside) CHECK((has(inside, id) || has(outside, id)));
    for (int id : read_outside) CHECK((has(inside, id) || has(outside, id)));
}

TEST_CASE("layers that take turns are drawn once a turn") {
    Settings settings = small("6");
    const PictureModule tree = folded(compiled("gemma2", settings).gradient);
    const PictureModule* turn = nullptr;
    each_module(tree, [&](const PictureModule& module) {
        if (module.times > 1) turn = &module;
    });
    REQUIRE(turn);
    CHECK(heading_of(*turn) == "layers.0 … layers.5: 3 times");
    REQUIRE(turn->modules.size() == 2);
    CHECK(turn->modules[0]->name == "layers.0");
    CHECK(turn->modules[1]->name == "layers.1");
}

TEST_CASE("layers whose kernels differ are drawn apart") {
    const fovea::CompiledProgram program = compiled("llama", small("4"));
    std::vector<int> group_of = program.fused.group_of;
    const std::string before = heading_of(*find(folded(program.optimized, group_of), "layers.0"));
    // The second layer loses its kernels.
    for (std::size_t id = 0; id < group_of.size(); ++id)
        if (program.optimized.path(program.optimized[int(id)].scope).starts_with("model.layers.1."))
            group_of[id] = -1;
    const PictureModule tree = folded(program.optimized, group_of);
    CHECK(before != heading_of(*find(tree, "layers.0")));
    const PictureModule* second = find(tree, "layers.1");
    REQUIRE(second);
    CHECK(second->times == 1);
}

TEST_CASE("a gradient is in the module that it is of, and names what forward keeps for it") {
    const fovea::CompiledProgram program =
        compiled("encoder_block", {{"hidden", "16"}, {"ffn", "8"}});
    const fovea::Graph& graph = program.gradient;
    const PictureModule tree = module_tree(graph);
    CHECK(find(tree, "gradients") == nullptr);
    for (const char* name : {"W_q", "W_k", "W_v", "W_o", "dense1", "dense2"}) {
        const PictureModule* module = find(tree, name);
        REQUIRE_MESSAGE(module, name);
        std::size_t forward = 0, backward = 0, outputs = 0;
        for (const PictureNode& node : module->nodes) {
            (graph[node.id].backward ? backward : forward) += 1;
            outputs += node.title == "output weight.grad";
            for (int input : node.inputs) CHECK(graph[input].backward == graph[node.id].backward);
            for (int kept : node.kept) CHECK(graph[kept].backward != graph[node.id].backward);
        }
        CHECK(forward > 0);
        CHECK(backward > 1);
        CHECK(outputs == 1);
    }
    const ModulePlacing placing(graph, tree);
    CHECK(placing.has_kept());
    CHECK(placing.kept_number(find(tree, "W_q")->nodes[0].id) == 0);  // its rearrangement is kept
    const std::string picture = graph_picture(graph, "encoder_block");
    CHECK(picture.find("kept by forward for the gradient") != picture.npos);
    CHECK(graph_picture(program.graph, "encoder_block").find("kept by forward") == picture.npos);
}

TEST_CASE("the values of a loop over time are one node") {
    const fovea::CompiledProgram program =
        compiled("seq2seq_attention",
                 {{"hidden", "4"}, {"embed", "3"}, {"src_vocab", "9"}, {"tgt_vocab", "8"}});
    const fovea::Graph& graph = program.gradient;
    PictureModule tree = module_tree(graph);
    merge_results(tree, graph);
    std::set<int> drawn;
    std::vector<int> scans;
    each_module(tree, [&](const PictureModule& module) {
        for (const PictureNode& node : module.nodes) drawn.insert(node.id);
    });
    each_module(tree, [&](const PictureModule& module) {
        for (const PictureNode& node : module.nodes) {
            for (const auto* read : {&node.inputs, &node.kept})
                for (int id : *read) CHECK(drawn.count(id));
            for (int id : node.inputs) CHECK(graph[id].backward == graph[node.id].backward);
            for (int id : node.kept) CHECK(graph[id].backward != graph[node.id].backward);
            if (graph[node.id].op != fovea::Op::scan) continue;
            for (int other : scans) CHECK(!fovea::is_same_scan(graph, other, node.id));
            scans.push_back(node.id);
            CHECK(node.title.find(" state ") == node.title.npos);
            CHECK(node.gives.size() > 1);
            CHECK(node.shape.empty());
        }
    });
    // Two layers of the encoder, the decoder, and their gradients.
    CHECK(scans.size() == 6);
}

TEST_CASE("nodes that follow each other share a card, unless their kernels differ") {
    const fovea::CompiledProgram program = compiled("position_wise_ffn", {});
    const auto cards = [&](const std::vector<int>& group_of) {
        PictureModule tree = module_tree(program.graph);
        merge_chains(tree, program.graph, group_of);
        return tree;
    };
    // x, then einsum, add, relu, einsum, add and output in one.
    const PictureModule one = cards({});
    REQUIRE(count_nodes(one) == 2);
    CHECK(one.nodes.back().before.size() == 5);
    CHECK(one.nodes.back().before[0].title.starts_with("dense1: einsum"));
    CHECK(one.nodes.back().inputs == std::vector<int>{one.nodes[0].id});
    std::vector<int> apart;
    for (std::size_t id = 0; id < program.graph.nodes.size(); ++id) apart.push_back(int(id));
    CHECK(count_nodes(cards(apart)) == 7);
}

TEST_CASE("show draws layers once or all, of pictures alone") {
    const auto show = [](const std::vector<std::string>& more) {
        std::vector<std::string> words = {
            "show", "transformer_encoder", "--set", "hidden=8", "--set", "heads=2"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea::test::run_fovea(words);
    };
    const std::string once = show({"--format", "svg"}).output;
    const std::string all = show({"--format", "svg", "--layers", "all"}).output;
    CHECK(occurrences(once, ">blks.block0 … blks.block1: 2 times<") == 1);
    CHECK(occurrences(all, ">blks.block0<") == 1);
    CHECK(occurrences(all, ">blks.block1<") == 1);
    const auto refused = show({"--layers", "all"});
    CHECK(refused.status == 2);
    CHECK(refused.output ==
          "fovea: --layers is for --format svg: the other formats have every layer\n");
}
