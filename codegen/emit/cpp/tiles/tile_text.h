// Expressions of values of kernels over tiles, at a place: which axis lies in the lanes, and which
// values have names there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/tiles/tile_plan.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

/// So many elements from position 0.
Expression moved(const std::string& position, const Dim& stride);

class TileText {
  public:
    TileText(const TilePlan& plan, Signature& signature);

    /// The lanes of what is written next; -1: numbers.
    kernel::AxisId lane = -1;
    /// Whether vectors are those of 8 lanes: all that the axis in the lanes has.
    bool half = false;

    // Names of an axis: `q` within a tile, `q_at` of the tile's first, `q_n` of its positions,
    // `q_step` of a whole tile's, `q_width` from row to row of an array with the axis in its lanes.
    const std::string& local(kernel::AxisId axis) const { return signature_.axis(axis); }
    const std::string& at(kernel::AxisId axis) const { return names_.at(axis).at; }
    const std::string& count_name(kernel::AxisId axis) const { return names_.at(axis).count; }
    const std::string& tile_name(kernel::AxisId axis) const { return names_.at(axis).tile; }
    /// `q_step = 64, k_step = 64, k_width = 80`: what `body` mentions of the tiles' sizes.
    std::string sizes(const std::string& body) const;
    /// The positions of an axis in the current tile: `q_n`, or `64`; -1: `1`.
    std::string count(kernel::AxisId axis) const;
    /// The same as an argument: `q_n`, or `fixed<64>`.
    std::string count_argument(kernel::AxisId axis) const;
    /// From row to row of an array, and its rows: `q_width`, `64`.
    std::string width(kernel::AxisId axis) const;
    std::string height(kernel::AxisId axis) const;
    /// The position along the whole axis: `q_at + q`.
    Expression position(kernel::AxisId axis) const;

    /// The name of the array, or of the variable, that keeps a value.
    const std::string& name(kernel::Id owner);
    /// That of a tile's copy with its columns in the lanes, and of a loaded one's in floats.
    const std::string& turned_name(kernel::Id tile) {
        return name_of_copy(turned_, tile, "_columns");
    }
    const std::string& widened_name(kernel::Id load) {
        return name_of_copy(widened_, load, "_floats");
    }
    /// That of an operand in pairs along `step`.
    const std::string& pairs_name(kernel::Id operand, kernel::AxisId step);
    /// `s_tile[k_step * q_step]`, and `// [k, q]`.
    std::string array_size(const Place2& place) const;
    std::string shape_comment(const Place2& place) const;
    /// The address of an array's element or vector at the current place.
    Expression element(const std::string& array, const Place2& place) const;
    /// The address of memory at the current place.
    Expression address(const kernel::Access& access);
    /// The pointer to a tile of memory, with the axes that do not move within it.
    Expression tile_start(const kernel::Access& access) const;
    /// From here on a tile of memory is addressed by a pointer; returns its name: the buffer's, or,
    /// where that is taken, that of `value`, which is loaded or stored there.
    std::string point_to(const kernel::Access& access, const std::string& value);
    void forget_pointer(const kernel::Access& access);
    bool has_pointer(const kernel::Access& access) const;
    std::string pointer(const kernel::Access& access) const;

    /// The value as an expression at the place; `vector`: 16 lanes.
    Expression value(kernel::Id id, DType dtype, bool vector);
    Expression value(kernel::Id id);
    /// The same for a value that the statement computes: made of its operands.
    Expression root_value(kernel::Id id);
    /// What is in memory where a store goes.
    Expression stored(const kernel::Store& store);
    /// From here on, a value is this variable of the statement.
    void set_register(kernel::Id id, std::string text) { registers_[id] = std::move(text); }
    void clear_register(kernel::Id id) { registers_.erase(id); }
    void clear_registers() { registers_.clear(); }
    /// Whether a value can be made of vectors of 8 lanes: sums and products of what lies in memory
    /// and of `sum`.
    bool fits_half(kernel::Id id, kernel::Id sum = -1) const;
    bool fits_half(const kernel::Access& access) const;
    /// `floats`, `floats8`
    std::string vector_type() const { return half ? "floats8" : "floats"; }
    /// `lanes_at(e, 20)`, or nothing where vectors are whole.
    std::string mask() const;
    std::string lanes() const;  // the same or `Lanes{}`
    /// The statement that draws a tile of dropout's factors; `to`: its first arguments.
    std::string draw(kernel::Id id, const std::string& to, const Place2& place) const;
    /// The statement that stores.
    std::string store(const kernel::Store& store);
    bool is_vector(kernel::Id id) const { return values_.has_axis(id, lane); }
    /// `floats`, `float`, ...
    std::string variable_type(kernel::Id id) const { return values_.variable_type(id); }

  private:
    struct AxisNames {
        std::string at, count, tile, width;
    };
    void define_leaves(kernel::Id id, std::vector<kernel::Id>& defined);
    Expression leaf(kernel::Id id);
    Expression load(kernel::Id id, const kernel::Load& load);
    Expression load_from(const kernel::Access& access, const Expression& from);
    std::string load_name() const { return half ? "load8(" : "load("; }
    Expression kept(kernel::Id id, const std::string& array, const Place2& place);
    bool lies_in_halves(const kernel::Access& access) const;
    Expression valid(const kernel::Valid& valid);
    Expression random(kernel::Id id, const kernel::Random& random) const;
    std::string draw_arguments(const kernel::Random& random,
                               const std::vector<kernel::AxisId>& tile) const;
    std::string key(const kernel::Access& access) const;
    const std::string& name_of_copy(std::map<kernel::Id, std::string>& names, kernel::Id id,
                                    const char* suffix);

    const TilePlan& plan_;
    const kernel::Kernel& kernel_;
    Signature& signature_;
    Writer unused_;
    Values values_;
    std::map<kernel::AxisId, AxisNames> names_;
    std::map<kernel::Id, std::string> arrays_, turned_, widened_, registers_;
    std::map<std::pair<kernel::Id, kernel::AxisId>, std::string> pairs_;
    std::map<std::string, std::string> pointers_;
    std::map<int, std::string> pointer_names_;  // by buffer
};

}  // namespace fovea::emit
