// Writes the statements of kernels over tiles: sums, strips of lanes, masks, turned tiles.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit/cpp/tiles/tile_plan.h"
#include "codegen/emit/cpp/tiles/tile_text.h"
#include "codegen/emit/cpp/writer.h"

namespace fovea::emit {

/// From where to where a tile of a loop is valid whole, as expressions; empty: everywhere. Where
/// its bounds move along an axis that is cut into tiles, too, `seen` names the blocks that they
/// leave.
struct LoopBounds {
    std::string all_from, all_to, seen;
    kernel::AxisId moves_along = -1;
    bool tells_edges = false;  // `seen` knows all rows that not every position beside them sees
    bool keeps_to_seen = false;  // whatever reads pairs reads those of seen blocks alone
};

class TileStatements {
  public:
    TileStatements(const TilePlan& plan, Signature& signature, TileText& text, Writer& writer)
        : plan_(plan), kernel_(plan.kernel), signature_(signature), text_(text), writer_(writer) {}

    void write(const Statement& statement);
    /// Sets the bounds of a loop around a block; whether sums in it are taken of `bounds.seen`.
    bool set_bounds(kernel::AxisId axis, const LoopBounds& bounds,
                    const std::vector<Statement>& block);
    /// `k_at + k_step < keys`: whether the loop around has more tiles; empty: there is no loop.
    void set_has_more(const std::string& condition) { has_more_ = condition; }

  private:
    void write_fill(const Statement& statement);
    void write_draw(const Statement& statement);
    void write_scalar(const Statement& statement);
    void write_lanes(const Statement& statement);
    void write_strip(const Statement& statement);
    void write_rows(const Statement& statement);
    void write_sum(const Statement& statement);
    void write_few_rows(const Statement& statement);
    /// What is made of a finished sum, of which 16 lanes are in the variable `sum`.
    Writer sum_body(const Statement& statement, const std::string& sum);
    std::string added_product(kernel::Id a, kernel::Id b, const std::string& sum);
    void write_joint(const Statement& statement);
    void write_across(const Statement& statement);
    void write_turn(const Statement& statement);
    void write_widen(const Statement& statement);
    void write_pair(const Statement& statement);
    void write_mask(const Statement& statement);

    /// The lines that compute and keep roots; returns those that must wait (`late`: of lanes).
    void write_root(kernel::Id id, std::vector<std::string>* late);
    void write_reduce(kernel::Id id, const Place2& place, const std::vector<kernel::Id>& rows);
    void write_start(const Statement& statement);
    void write_term(const Statement& statement);
    void write_ahead(const Statement& statement, const std::string& end);
    void write_products(const Statement& statement, kernel::Id number, kernel::Id vector);
    /// `in_pairs(fixed<64>)`, or what steps are where they are taken one by one.
    std::string steps_of(const Statement& statement, const std::string& steps) const;
    std::string strip_title(const Statement& statement) const;
    std::string sum_formula(const Statement& statement);
    std::string sum_head(const Statement& statement, const kernel::RegisterTile& tile) const;
    void declare(const Statement& statement);
    void declare(const std::string& name, const Place2& place);
    /// The loop whose seen blocks a sum is taken of: its rows or steps are the loop's, and its
    /// lanes, steps or rows those along which the bounds move. -1: none.
    kernel::AxisId bounded_loop(const Statement& statement) const;
    /// Whether a statement reads no pairs but those of seen blocks, if it reads any.
    bool keeps_to_seen(const Statement& statement) const;
    bool is_array(kernel::Id id) const;
    bool is_strip(const Statement& statement) const;
    /// The blocks that bounds leave of a tile of pairs; null: it is none, or there are no bounds.
    const LoopBounds* bounds_of_pairs(const Place2& place) const;
    std::string rows_of(const Place2& place) const;
    bool fits_half(const Statement& statement) const;
    std::string lane_head(kernel::AxisId axis) const;
    std::string row_head(kernel::AxisId axis) const;
    /// `[&](i64 k, i64 q) FOVEA_LAMBDA`, the parameters that `body` does not mention without names.
    static std::string lambda(const std::vector<std::pair<std::string, std::string>>& parameters,
                              const std::string& body);

    void write_returning(const std::string& before,
                         const std::vector<std::pair<std::string, std::string>>& names,
                         const std::string& value, const std::string& after);

    const TilePlan& plan_;
    const kernel::Kernel& kernel_;
    Signature& signature_;
    TileText& text_;
    Writer& writer_;
    std::map<kernel::AxisId, LoopBounds> bounds_;
    std::set<std::string> declared_;
    std::string has_more_;
    std::set<kernel::AxisId> fetched_;  // rows that a sum fetches ahead
};

}  // namespace fovea::emit
