// The computation graph: a list of nodes in topological order, the modules they were made in, and
// the errors found while making them. It can be built while compiling.
//
// Node 0 is poison. A node's inputs have smaller numbers. A parameter's name is the path of its
// scope (`encoder.blks.block0.ffn.dense1.weight`), which is PyTorch's state_dict key.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "codegen/base/error.h"
#include "codegen/base/list.h"
#include "codegen/base/text.h"
#include "codegen/graph/node.h"

namespace fovea {

/// A module that was entered: `scope / "ffn"`, or `scope / "block" + 0` (joined).
struct ScopeRecord {
    int parent = -1;
    std::string_view part{};
    int index = -1;       // >= 0: a number after the part
    bool joined = false;  // no dot before it
    Location location{};
    std::uint64_t hash = 0;  // of the whole path
    int depth = 0;           // how many modules it lies in
};

/// Another name of a parameter (tied tensors): both are scopes, as parameters' names are.
struct ParameterAlias {
    int name = 0, parameter = 0;
};

/// A value that training adds to what it differentiates.
struct LossTerm {
    int value = 0;  // a node
    double weight = 1;
};

struct Diagnostic {
    Location location{};
    int scope = 0;
    Text text;
};

/// Never called: its name is what the compiler prints on a model with an error. See well_formed.h.
inline void the_model_is_wrong_in_the_calls_above() {}

/// More than any model has whose code a compiler takes: 96 layers with gradients have 20,000.
inline constexpr std::size_t kMostNodes = 200'000;
inline UserError too_many_nodes() {
    return UserError("the model has more than " + std::to_string(kMostNodes) +
                     " operations, which is the limit: take fewer layers, or a scan over them");
}

/// A name of a parameter or an input that is taken, and the next one of the same list.
struct Claim {
    std::uint64_t hash = 0;
    int next = -1;
};
inline constexpr std::size_t kClaimLists = 256;
using ClaimLists = FixedArray<int, kClaimLists>;
inline constexpr ClaimLists kNoClaims = [] {
    ClaimLists lists{};
    lists.fill(-1);
    return lists;
}();

class Graph {
  public:
    List<Node> nodes;
    List<ScopeRecord> scopes;
    List<EinsumAxes> einsums;
    List<RearrangeAxes> rearranges;
    List<AttentionAttributes> attentions;
    List<ScanAttributes> scans;
    List<LogitCurve> logit_curves;
    List<ParameterAlias> aliases;
    List<LossTerm> losses;  // until the model is whole
    List<Diagnostic> errors;
    int region = 0, regions = 1;  // the region that new nodes go to; how many there are
    int sites = 0;                // places where random numbers are drawn
    int checkpoint = 0, checkpoints = 0;  // that new nodes are of; how many there are
    bool strict = false;          // stop the compiler at the first error
    bool collects = false;        // errors do not throw at run time

    constexpr Graph() {
        // Growing copies every node, which is slow while compiling.
        bool compiling = std::is_constant_evaluated();
        nodes.reserve(compiling ? 16384 : 256);
        scopes.reserve(compiling ? 4096 : 128);
        nodes.push_back({});
        scopes.push_back({.parent = -1,
                          .part = "",
                          .index = -1,
                          .joined = false,
                          .location = {},
                          .hash = kHashStart});
    }

    constexpr int add(const Node& node) {
        if (!__builtin_is_constant_evaluated() && nodes.size() >= kMostNodes)
            throw too_many_nodes();
        const int id = int(nodes.size());
        nodes.push_back(node);
        Node& added = nodes.first[id];
        // A leaf made inside a score is one of the model's, which the score captures.
        added.region = node.op == Op::parameter || node.op == Op::input ? 0 : region;
        if (origin_.active) {
            added.location = origin_.location;
            added.scope = origin_.scope;
            added.composite = origin_.composite;
            added.backward = origin_.backward;
            added.checkpoint = origin_.checkpoint;
            added.recomputed = origin_.recomputed;
        } else {
            added.checkpoint = checkpoint;
        }
        return id;
    }
    /// A region of its own for a score or a step, until `leave_region`, which takes the region
    /// around it. Nothing outside may read what is inside.
    constexpr int enter_region() { return region = regions++; }
    constexpr void leave_region(int outer) {
        while (closed_.size() < std::size_t(regions)) closed_.push_back(0);
        for (int inside = region; inside < regions; ++inside) closed_[std::size_t(inside)] = 1;
        region = outer;
    }
    constexpr bool is_closed(int of) const {
        return std::size_t(of) < closed_.size() && closed_[std::size_t(of)] != 0;
    }
    constexpr int add_scope(int parent, std::string_view part, int index, bool joined,
                            Location where) {
        const int id = int(scopes.size());
        scopes.push_back({parent, part, index, joined, where, 0, scope(parent).depth + 1});
        ScopeRecord& record = scopes.first[id];
        record.hash = hash_of(record);
        return id;
    }
    constexpr const Node& operator[](int id) const { return nodes.first[id]; }
    constexpr Node& operator[](int id) { return nodes.first[id]; }
    constexpr const ScopeRecord& scope(int id) const { return scopes[std::size_t(id)]; }

    constexpr void write_path(Text& text, int scope_id) const {
        if (scope_id <= 0) return;
        const ScopeRecord& record = scope(scope_id);
        write_path(text, record.parent);
        if (record.parent > 0 && !record.joined) text << ".";
        text << record.part;
        if (record.index >= 0) text << record.index;
    }
    std::string path(int scope_id) const {
        Text text;
        write_path(text, scope_id);
        return std::string(text.view());
    }

    /// Records an error and gives poison (0); at run time throws it as UserError, unless errors are
    /// collected.
    constexpr int fail(Location location, int scope_id, const Text& text) {
        if (std::is_constant_evaluated()) {
            if (strict) the_model_is_wrong_in_the_calls_above();
        }
        errors.push_back({location, scope_id, text});
        if (!std::is_constant_evaluated() && !collects)
            throw UserError(std::string(render(errors.back()).view()));
        return 0;
    }
    /// `transformer.cpp:21: what is wrong; in encoder.blks.block0 at transformer.cpp:52`
    constexpr Text render(const Diagnostic& error) const {
        Text text;
        if (error.location.line)
            text << error.location.file_name() << ":" << error.location.line << ": ";
        text << error.text.view();
        int last_line = error.location.line;
        for (int s = error.scope; s > 0; s = scope(s).parent) {
            const Location& place = scope(s).location;
            if (!place.line || place.line == last_line) continue;
            text << "; in ";
            write_path(text, s);
            text << " at " << place.file_name() << ":" << place.line;
            last_line = place.line;
        }
        return text;
    }

    /// The module that a value comes from: its own, or its first input's.
    constexpr int scope_of(int id) const {
        for (; id > 0; id = (*this)[id].inputs[0])
            if ((*this)[id].scope > 0) return (*this)[id].scope;
        return 0;
    }
    /// ` (from encoder.blks.block0.ffn.dense2)`, or nothing.
    constexpr void write_origin(Text& text, int id) const {
        int from = scope_of(id);
        if (from <= 0) return;
        text << " (from ";
        write_path(text, from);
        text << ")";
    }
    /// The innermost module that two modules share.
    constexpr int common_scope(int a, int b) const {
        int depth_a = scope(a).depth, depth_b = scope(b).depth;
        for (; depth_a > depth_b; --depth_a) a = scope(a).parent;
        for (; depth_b > depth_a; --depth_b) b = scope(b).parent;
        for (; depth_a > 0 && scope(a).hash != scope(b).hash; --depth_a) {
            a = scope(a).parent;
            b = scope(b).parent;
        }
        return depth_a > 0 ? b : 0;
    }

    /// Whether a parameter of this path exists; remembers it if not.
    constexpr bool claim_parameter(int scope_id) { return claim(scope(scope_id).hash); }

    /// The same for the name of an input, which no parameter has.
    constexpr bool claim_input(std::string_view name) { return claim(hash_in(kHashStart, name)); }
    /// The same for the name of an output, beside those.
    constexpr bool claim_output(std::string_view name) {
        return claim(hash_in(hash_in(kHashStart, ">"), name));
    }

    /// Whether a pass adds nodes, or a gradient rule: names of sizes are checked in models alone.
    constexpr bool in_pass() const { return origin_.active; }

    /// Where new nodes say they come from, in passes.
    struct Origin {
        bool active = false;
        Location location{};
        int scope = 0;
        Op composite = Op::poison;
        bool backward = false;
        int checkpoint = 0;
        bool recomputed = false;
    };
    /// While it lives, nodes added to `graph` take the location, the module, the composite and the
    /// checkpoint of `node` (of this graph or of the one that it is rewritten from). `backward`
    /// marks what gradient rules make; it is inherited.
    class From {
      public:
        constexpr From(Graph& graph, const Node& node, bool backward = false)
            : graph_(graph), before_(graph.origin_) {
            bool composite = row_of(node.op).op_class == OpClass::composite;
            graph.origin_ = {true,
                             node.location,
                             node.scope,
                             composite ? node.op : node.composite,
                             backward || node.backward,
                             node.checkpoint,
                             node.recomputed};
        }
        constexpr ~From() { graph_.origin_ = before_; }
        From(const From&) = delete;
        From& operator=(const From&) = delete;

      private:
        Graph& graph_;
        Origin before_;
    };

  private:
    static constexpr std::uint64_t kHashStart = 1469598103934665603u;  // FNV-1a
    static constexpr std::uint64_t kHashFactor = 1099511628211u;

    static constexpr std::uint64_t hash_in(std::uint64_t hash, std::string_view text) {
        const char* end = text.data() + text.size();
        for (const char* at = text.data(); at != end; ++at)
            hash = (hash ^ std::uint64_t(*at)) * kHashFactor;
        return hash;
    }
    constexpr std::uint64_t hash_of(const ScopeRecord& record) const {
        std::uint64_t hash = scopes.first[record.parent].hash;
        if (record.parent > 0 && !record.joined) hash = (hash ^ std::uint64_t('.')) * kHashFactor;
        hash = hash_in(hash, record.part);
        if (record.index >= 0) {
            int power = 1;
            while (record.index / power >= 10) power *= 10;
            for (; power; power /= 10)
                hash = (hash ^ std::uint64_t('0' + record.index / power % 10)) * kHashFactor;
        }
        return hash;
    }
    constexpr bool claim(std::uint64_t hash) {
        int& first = first_claims_.values[hash % kClaimLists];
        for (int i = first; i >= 0; i = claims_[std::size_t(i)].next)
            if (claims_[std::size_t(i)].hash == hash) return false;
        claims_.push_back({hash, first});
        first = int(claims_.size()) - 1;
        return true;
    }

    Origin origin_;
    List<char> closed_;  // by region
    ClaimLists first_claims_ = kNoClaims;
    List<Claim> claims_;
};

/// Whether a product reads a weight that lies as whole numbers: it then rounds neither operand.
inline bool multiplies_stored(const Graph& graph, const Node& node) {
    return node.op == Op::einsum &&
           (storage_of(graph[node.inputs[0]]) || storage_of(graph[node.inputs[1]]));
}

}  // namespace fovea
