// The values of a model at one position of its text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/decode/source_values.h"
#include "codegen/decode/time_axis.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

/// Builds values of a model at one position. Those that do not depend on positions are the model's
/// own. What the positions before have left, cached operands of attention and states of loops, is
/// the deriving program's to give.
class AtPosition {
  public:
    AtPosition(const TimedGraph& timed, DType caches);
    AtPosition(const AtPosition&) = delete;
    AtPosition& operator=(const AtPosition&) = delete;
    virtual ~AtPosition() = default;

  protected:
    bool has_time(int id) const { return timed_.has_time(id); }
    int time(int id) const { return timed_.axis[std::size_t(id)]; }

    /// A value where it stands: as it is without positions, else at the one position.
    Tensor at(int id);
    void set_at(int id, Tensor value) { at_[std::size_t(id)] = value; }
    /// Makes it of its operands there, unless it is a loop's.
    void make_at(int id);
    /// A value of all positions where it is wanted at one.
    virtual Tensor of_all(int id) = 0;
    /// An operand of an attention along positions, under a name, as queries at the position read
    /// it, and the positions that it has.
    virtual Tensor make_cached(const char* name, int operand, int scope, std::int64_t ring) = 0;
    virtual Dim cached_positions() const = 0;
    /// Whether queries at the position read caches as they are kept.
    virtual bool reads_rings() const = 0;
    /// Keys, values, and which of the keys are allowed, where they lie along positions.
    bool is_cached(int attention, int operand) const;
    /// What several attentions read is cached once.
    Tensor cached(int attention, int operand);
    /// The positions of a cache that is written around: those of a window that alone says which
    /// keys are seen, where the score does not tell them apart by their number. 0: positions lie in
    /// the cache as in the text.
    std::int64_t ring_of(int attention) const;
    static Dim room_of(std::int64_t ring);
    /// The number of slots, i32, at least 1.
    Tensor slots_of(std::int64_t ring);
    /// `MODULE.state`, or with a number where a module has several.
    const char* name_of_state(int scan) { return new_name(scan, "state"); }
    /// The state of a value that is kept of the source.
    const char* name_of_kept(int id) const { return kept_names_.at(id); }
    bool is_kept(int id) const { return of_source_.kept[std::size_t(id)]; }

    /// Outputs, and the states of their names before the call; truths are kept as numbers.
    void output(const char* name, Tensor value, bool is_state, int scope);
    Tensor before(const char* name, const Shape& shape, DType dtype, int scope);
    static Tensor truths_as_numbers(Tensor value);
    /// Of what values of a type lie in a cache.
    DType type_in_cache(DType type) const { return type == f32 ? caches_ : type; }

    /// A loop along positions, by one of its results. Results of one loop have the same key.
    bool is_loop(int id) const { return has_time(id) && is_scan(source_, id); }
    using Loop = std::pair<const ScanFunction*, Inputs>;
    Loop loop_of(int scan) const { return {scan_of(source_, scan).function, source_[scan].inputs}; }

    const TimedGraph& timed_;
    const DType caches_;
    const SourceValues of_source_;
    const Graph& source_;
    Rewrite rewrite_;
    Graph& target_;
    Tensor position_;  // i32 [1]

  private:
    static constexpr const char* kOperands[] = {"", "keys", "values", "", "allowed"};

    void name_kept();
    const char* new_name(int id, const char* what);
    bool is_origin(int id) const;
    Shape shape_at(int id) const;
    Tensor row_at(int id);
    Tensor copy_at(int id);
    Tensor attention_at(int id);
    Tensor lens_at(const Node& node, std::int64_t ring);
    Tensor allowed_at(int id, const KeyWindow& window, const Dim& key_count);
    int copy_score(const AttentionAttributes& attributes);
    bool reads_index(const AttentionAttributes& attributes, Role role) const;
    int in_region(const Node& pair, Elementwise function, int index, Tensor other);

    std::vector<Tensor> at_;  // by node of the source
    std::set<std::string> taken_;  // names
    std::map<int, const char*> kept_names_;  // by node of the source
    std::map<std::pair<int, std::int64_t>, Tensor> cached_;  // by node of the source and ring
};

}  // namespace fovea
