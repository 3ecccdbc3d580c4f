// Writes the values of a kernel: which become variables, which stand inside an expression, and how
// memory is addressed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit {

/// Where code is being written: which axis lies in the lanes, and which axes move in inner loops.
struct Place {
    kernel::AxisId lane = -1;              // -1: everything is scalar
    std::string lanes;                     // the variable that says which lanes take part; or ""
    std::vector<kernel::AxisId> moving;    // axes of inner loops: row pointers leave them out
    kernel::AxisId grouped = -1;  // its positions are taken in groups, the first is its variable
    std::string group{}, row{};   // the variables of the group and, within it, of the row
};

class Values {
  public:
    Values(const kernel::Kernel& kernel, Signature& signature, Writer& writer)
        : kernel_(kernel), signature_(signature), writer_(writer) {}

    Place place;
    std::set<kernel::Id> per_row;  // nodes that have one number for each row of a group

    /// Whether the node's tile lies in lanes; the number of a row does in all of them.
    bool is_vector(kernel::Id id) const { return has_axis(id, place.lane) || is_of_row(id); }
    bool has_axis(kernel::Id id, kernel::AxisId axis) const;
    /// The type of a variable for the node: floats, ints, float, i32, bool; auto for a group.
    std::string variable_type(kernel::Id id) const;

    /// The value of a node: the name of its variable if it has one, else an expression.
    Expression value(kernel::Id id);
    /// The same converted to a type, and to lanes if `vector`.
    Expression value(kernel::Id id, DType dtype, bool vector);
    /// Writes `const floats name = …;`; from here on the value is its name.
    void define(kernel::Id id);
    /// From here on, the node's value is `text`.
    void define_as(kernel::Id id, std::string text) { known_[id] = {std::move(text)}; }
    void define_as(kernel::Id id, const Expression& expression) { known_[id] = expression; }
    void forget(kernel::Id id) { known_.erase(id); }
    bool is_known(kernel::Id id) const { return known_.contains(id); }

    /// Writes variables for those of `nodes` (in order) that are used twice, named, long or in
    /// `always`; then the others stand inside the expressions that use them. Returns what to
    /// `forget` at the end of the scope.
    std::vector<kernel::Id> define_shared(const std::vector<kernel::Id>& nodes,
                                          const std::vector<kernel::Id>& roots,
                                          const std::set<kernel::Id>& always = {});

    /// Writes `const float* x_row = x + …;` for the accesses of `nodes` that move.
    void define_rows(const std::vector<kernel::Id>& nodes);
    /// Ends the scope of those variables; in the next one they have the same names.
    void forget_rows() { rows_.clear(); }
    void write_store(const kernel::Store& store);
    /// The address of an access with all moving axes at 0: `x + b * 32`.
    Expression start(const kernel::Access& access);
    /// The same, or the row pointer that was defined for it.
    std::string start_of_row(const kernel::Access& access);

  private:
    struct Address {
        std::string pointer;
        Expression offset;
    };
    Address address(const kernel::Access& access);
    bool is_of_group(kernel::Id id) const { return place.row.empty() && per_row.contains(id); }
    bool is_of_row(kernel::Id id) const { return !place.row.empty() && per_row.contains(id); }
    /// How far the position along its axis moves an access.
    Expression offset_along(const kernel::Stride& stride) const;
    Expression fixed_offset(const kernel::Access& access);
    bool moves(kernel::AxisId axis) const;
    bool row_moves(const kernel::Access& access) const;
    Dim lane_stride(const kernel::Access& access) const {
        return kernel::stride_along(access.strides, place.lane);
    }
    std::string mask_argument() const { return place.lanes.empty() ? "" : ", " + place.lanes; }
    std::string mask_or_all() const { return place.lanes.empty() ? "Lanes{}" : place.lanes; }

    Expression make(kernel::Id id);
    Expression make_load(kernel::Id id, const kernel::Load& load);
    Expression make_map(kernel::Id id, const kernel::Map& map);
    Expression make_random(kernel::Id id, const kernel::Random& random);
    Expression position(const std::vector<kernel::Stride>& strides);
    Expression constant(const kernel::Constant& constant, DType dtype) const;

    const kernel::Kernel& kernel_;
    Signature& signature_;
    Writer& writer_;
    std::map<kernel::Id, Expression> known_;
    // Buffer and offset -> the name of a pointer: of this scope, and of all.
    std::map<std::string, std::string> rows_, row_names_;
};

}  // namespace fovea::emit
