// One function per kind of statement; loops and register tiles are those of runtime/cpu/tile.h.
#include "codegen/emit/cpp/tiles/tile_statements.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/tiles/tile_strip.h"

namespace fovea::emit {

using namespace kernel;

namespace {

using Kind = Statement::Kind;

}  // namespace

void TileStatements::write(const Statement& statement) {
    text_.clear_registers();
    text_.lane = statement.place.lane;
    declare(statement);
    switch (statement.kind) {
        case Kind::scalar: write_scalar(statement); break;
        case Kind::lanes: write_lanes(statement); break;
        case Kind::sum: write_sum(statement); break;
        case Kind::joint: write_joint(statement); break;
        case Kind::across: write_across(statement); break;
        case Kind::turn: write_turn(statement); break;
        case Kind::widen: write_widen(statement); break;
        case Kind::pair: write_pair(statement); break;
        case Kind::mask: write_mask(statement); break;
        case Kind::fill: write_fill(statement); break;
        case Kind::draw: write_draw(statement); break;
        case Kind::loop: throw InternalError("a loop is no statement of tiles");
    }
    text_.clear_registers();
    text_.lane = -1;
    text_.half = false;
}

/// Sums along an axis of 8 lanes, and copies, when nothing but sums and products is in them.
bool TileStatements::fits_half(const Statement& statement) const {
    const AxisId lane = statement.place.lane;
    if (plan_.is_tiled(lane) || kernel_.axes[std::size_t(lane)].extent != Dim(8)) return false;
    const bool is_sum = statement.kind == Kind::sum;
    const bool stores = std::all_of(statement.roots.begin(), statement.roots.end(), [&](Id id) {
        auto store = as<Store>(kernel_, id);
        if (!store) return is_sum && (id == statement.value || id == statement.source);
        return text_.fits_half(store->access) &&
               (statement.start == id || text_.fits_half(store->value, statement.value));
    });
    if (!is_sum) return stores;
    const auto contract = as<Contract>(kernel_, statement.source);
    const bool starts = statement.start < 0 || as<Store>(kernel_, statement.start) ||
                        text_.fits_half(statement.start);
    return stores && starts && contract && text_.fits_half(contract->a) &&
           text_.fits_half(contract->b);
}

// ---- arrays and heads

namespace {

/// Of a copy with other lanes: the load, or what is made of it again.
Id what_is_turned(const Statement& statement) {
    return statement.value >= 0 ? statement.value : statement.source;
}

}  // namespace

bool TileStatements::is_array(Id id) const {
    return !as<Store>(kernel_, id) && plan_.arrays.contains(plan_.owner(id));
}

void TileStatements::declare(const std::string& name, const Place2& place) {
    if (!declared_.insert(name).second) return;
    writer_.line("alignas(64) float " + name + "[" + text_.array_size(place) + "];  " +
                 text_.shape_comment(place));
}

void TileStatements::declare(const Statement& statement) {
    for (Id id : statement.roots)
        if (is_array(id))
            declare(text_.name(plan_.owner(id)), plan_.arrays.at(plan_.owner(id)).place);
    if (statement.kind == Kind::turn && statement.roots.empty())
        declare(text_.turned_name(what_is_turned(statement)), statement.place);
    if (statement.kind == Kind::widen)
        declare(text_.widened_name(statement.source), statement.place);
}

std::string TileStatements::lane_head(AxisId axis) const {
    const std::string& at = text_.local(axis);
    return "for (i64 " + at + " = 0; " + at + " < " + text_.count(axis) + "; " + at + " += kLanes)";
}

std::string TileStatements::row_head(AxisId axis) const {
    const std::string& at = text_.local(axis);
    return "for (i64 " + at + " = 0; " + at + " < " + text_.count(axis) + "; ++" + at + ")";
}

std::string TileStatements::lambda(
    const std::vector<std::pair<std::string, std::string>>& parameters, const std::string& body) {
    std::string text;
    for (const auto& [type, name] : parameters)
        text += (text.empty() ? "" : ", ") + type + (mentions(body, name) ? " " + name : "");
    return "[&](" + text + ") FOVEA_LAMBDA";
}

/// `before lambda { return value; }after`, in three lines where one is too short.
void TileStatements::write_returning(const std::string& before,
                                     const std::vector<std::pair<std::string, std::string>>& names,
                                     const std::string& value, const std::string& after) {
    constexpr std::size_t kColumns = 100;
    const std::string head = before + lambda(names, value) + " {", body = "return " + value + ";";
    if (4 * std::size_t(writer_.depth()) + head.size() + body.size() + after.size() + 3 <= kColumns)
        return writer_.line(head + " " + body + " }" + after);
    writer_.line(head);
    writer_.indent();
    writer_.line(body);
    writer_.unindent();
    writer_.line("}" + after);
}

// ---- statements

void TileStatements::write_fill(const Statement& statement) {
    const Id carried = statement.roots[0];
    const std::string value = spell_float(as<Constant>(kernel_, statement.source)->value).text;
    const std::string& name = text_.name(carried);
    if (statement.place.lane < 0) {
        const DType dtype = kernel_.nodes[std::size_t(carried)].dtype;
        writer_.line(element_type(dtype) + " " + name + " = " + value + ";");
        return;
    }
    const std::string count = statement.place.row < 0 ? text_.count(statement.place.lane)
                                                      : text_.count(statement.place.row) + " * " +
                                                            text_.width(statement.place.lane);
    writer_.line("fill_tile(" + name + ", " + count + ", " + value + ");");
}

void TileStatements::write_draw(const Statement& statement) {
    const Id id = statement.roots[0];
    const auto [row, lane] = statement.place;
    const std::string to = text_.name(plan_.owner(id)) + ", " + text_.width(lane) + ", " +
                           text_.count(row) + ", " + text_.count(lane) + ", ";
    writer_.line(text_.draw(id, to, statement.place));
}

void TileStatements::write_scalar(const Statement& statement) {
    for (Id id : statement.roots) {
        if (auto store = as<Store>(kernel_, id)) {
            writer_.line(text_.store(*store));
            continue;
        }
        const std::string value = text_.root_value(id).text;
        const bool carried = plan_.owner(id) != id;
        writer_.line((carried ? "" : "const " + text_.variable_type(id) + " ") +
                     text_.name(plan_.owner(id)) + " = " + value + ";");
    }
}

void TileStatements::write_root(Id id, std::vector<std::string>* late) {
    if (auto store = as<Store>(kernel_, id)) {
        writer_.line(text_.store(*store));
        return;
    }
    const std::string& name = signature_.value(id);
    // The value first: whether the variable is a vector follows from what is in registers.
    const std::string value = text_.root_value(id).text;
    writer_.line("const " + text_.variable_type(id) + " " + name + " = " + value + ";");
    text_.set_register(id, name);
    if (!is_array(id)) return;
    const Id array = plan_.owner(id);
    const std::string line = "store(" +
                             text_.element(text_.name(array), plan_.arrays.at(array).place).text +
                             ", " + name + ");";
    if (late) late->push_back(line);
    else writer_.line(line);
}

/// Whether a statement of lanes has values of the lanes alone: then rows are passes within.
bool TileStatements::is_strip(const Statement& statement) const {
    return statement.place.row < 0 ||
           std::any_of(
               statement.roots.begin(), statement.roots.end(),
               [&](Id id) { return as<Reduce>(kernel_, id) || !is_in_rows(plan_, statement, id); });
}

void TileStatements::write_lanes(const Statement& statement) {
    if (is_strip(statement)) write_strip(statement);
    else write_rows(statement);
}

const LoopBounds* TileStatements::bounds_of_pairs(const Place2& place) const {
    const auto found = bounds_.find(place.row);
    const bool has = found != bounds_.end() && found->second.keeps_to_seen &&
                     found->second.moves_along == place.lane;
    return has ? &found->second : nullptr;
}

/// The rows of a strip's pass: `k_n`, or `k_seen.rows_of(q)`.
std::string TileStatements::rows_of(const Place2& place) const {
    const LoopBounds* bounds = bounds_of_pairs(place);
    return bounds ? bounds->seen + ".rows_of(" + text_.local(place.lane) + ")"
                  : text_.count(place.row);
}

/// Elementwise work: row by row, as memory lies.
void TileStatements::write_rows(const Statement& statement) {
    text_.half = fits_half(statement);
    writer_.line(row_head(statement.place.row));
    writer_.indent();
    const bool single = statement.roots.size() == 1 && as<Store>(kernel_, statement.roots[0]);
    if (single) writer_.line(lane_head(statement.place.lane)), writer_.indent();
    else writer_.open(lane_head(statement.place.lane));
    for (Id id : statement.roots) write_root(id, nullptr);
    if (single) writer_.unindent();
    else writer_.close();
    writer_.unindent();
}

/// Vectors of lanes, and within each the passes over the rows that its reductions need.
void TileStatements::write_strip(const Statement& statement) {
    writer_.line("// " + strip_title(statement));
    writer_.open(lane_head(statement.place.lane));
    std::vector<std::string> late;
    for (const StripStep& step : strip_steps(plan_, statement)) {
        if (step.lanes >= 0) {
            write_root(step.lanes, &late);
        } else if (step.reduce >= 0) {
            write_reduce(step.reduce, statement.place, step.rows);
        } else {
            writer_.open("for_rows(" + rows_of(statement.place) + ", [&](i64 " +
                         text_.local(statement.place.row) + ") FOVEA_LAMBDA");
            for (Id id : step.rows) write_root(id, nullptr);
            writer_.close("});");
        }
        for (Id id : step.rows) text_.clear_register(id);
    }
    for (const std::string& line : late) writer_.line(line);
    writer_.close();
}

void TileStatements::write_reduce(Id id, const Place2& place, const std::vector<Id>& rows) {
    const Reduce& reduce = *as<Reduce>(kernel_, id);
    const bool adds = reduce.reduction == Reduction::sum;
    const std::string& name = signature_.value(id);
    const std::string head =
        "const floats " + name + " = " + (adds ? "sum_rows(" : "max_rows(") + rows_of(place) + ", ";
    const std::string row = text_.local(place.row);
    if (rows.empty()) {
        const std::string value = text_.value(reduce.operand, DType::f32, true).text;
        write_returning(head, {{"i64", row}}, value, ");");
    } else {
        writer_.open(head + "[&](i64 " + row + ") FOVEA_LAMBDA");
        for (Id value : rows) write_root(value, nullptr);
        writer_.line("return " + text_.value(reduce.operand, DType::f32, true).text + ";");
        writer_.close("});");
    }
    text_.set_register(id, name);
    if (is_array(id))
        writer_.line(
            "store(" +
            text_.element(text_.name(plan_.owner(id)), plan_.arrays.at(plan_.owner(id)).place)
                .text +
            ", " + name + ");");
}

/// `alpha[q], p[k, q]`: what a strip makes.
std::string TileStatements::strip_title(const Statement& statement) const {
    std::string text;
    for (Id id : statement.roots) {
        const auto store = as<Store>(kernel_, id);
        if (!store && !is_array(id)) continue;
        const std::string name =
            store ? kernel_.buffers[std::size_t(store->access.buffer)].name : signature_.value(id);
        Place2 place = {-1, statement.place.lane};
        if (is_in_rows(plan_, statement, id)) place.row = statement.place.row;
        text += (text.empty() ? "" : ", ") + name + text_.shape_comment(place).substr(3);
    }
    return text;
}

void TileStatements::write_across(const Statement& statement) {
    const Id id = statement.roots[0];
    const Reduce& reduce = *as<Reduce>(kernel_, id);
    const Place2& place = statement.place;
    const std::string value = text_.value(reduce.operand, DType::f32, true).text;
    const std::string call =
        std::string(reduce.reduction == Reduction::sum ? "sum_lanes(" : "max_lanes(") +
        text_.count_argument(place.lane) + ", ";
    const std::string& name = text_.name(plan_.owner(id));
    if (place.row >= 0) {
        writer_.line(row_head(place.row));
        writer_.indent();
    }
    const std::string to = place.row >= 0          ? name + "[" + text_.local(place.row) + "] = "
                           : plan_.owner(id) != id ? name + " = "
                                                   : "const float " + name + " = ";
    write_returning(to + call, {{"i64", text_.local(place.lane)}}, value, ");");
    if (place.row >= 0) writer_.unindent();
}

void TileStatements::write_turn(const Statement& statement) {
    const Access& access = as<Load>(kernel_, statement.source)->access;
    const AxisId row = statement.place.row, lane = statement.place.lane;
    const Dim stride = stride_along(access.strides, lane);
    std::string element = signature_.value(statement.source);
    text_.set_register(statement.source, element);
    std::string body;
    if (statement.roots.empty()) {
        const Id id = what_is_turned(statement);
        body = "store(" + text_.element(text_.turned_name(id), statement.place).text + ", " +
               (id == statement.source ? element : text_.root_value(id).text) + ");";
    } else {
        const Id id = statement.roots[0];
        body = "store(" + text_.element(text_.name(plan_.owner(id)), statement.place).text + ", " +
               text_.root_value(id).text + ");";
    }
    writer_.line("for_columns(" + text_.count(lane) + ", " + text_.count_argument(row) + ", " +
                 text_.pointer(access) + ", " +
                 (stride.is_static() ? "fixed<" + spell(stride).text + ">" : spell(stride).text) +
                 ",");
    writer_.indent();
    writer_.line("[&](i64 " + text_.local(row) + ", i64 " + text_.local(lane) + ", floats " +
                 element + ") FOVEA_LAMBDA {");
    writer_.indent();
    writer_.line(body);
    writer_.unindent();
    writer_.line("});");
    writer_.unindent();
}

void TileStatements::write_widen(const Statement& statement) {
    const Access& access = as<Load>(kernel_, statement.source)->access;
    const auto [row, lane] = statement.place;
    const Dim stride = stride_along(access.strides, row);
    writer_.line("copy_tile(" + text_.widened_name(statement.source) + ", " + text_.width(lane) +
                 ", " + text_.pointer(access) + ", " + spell(stride).text + ", " +
                 text_.count(row) + ", " + text_.count_argument(lane) + ");");
}

void TileStatements::write_mask(const Statement& statement) {
    const Id id = statement.roots[0];
    const AxisId axis = as<Valid>(kernel_, as<Map>(kernel_, id)->operands[0])->axis;
    const LoopBounds& bounds = bounds_[axis];
    std::string condition;
    if (!bounds.all_from.empty()) condition = text_.at(axis) + " < " + bounds.all_from;
    if (!bounds.all_to.empty())
        condition += (condition.empty() ? "" : " || ") + text_.at(axis) + " + " +
                     text_.count_name(axis) + " > " + bounds.all_to;
    if (!condition.empty()) {
        writer_.line("if (" + condition + ")");
        writer_.indent();
    }
    const LoopBounds* seen = bounds_of_pairs(statement.place);
    writer_.line(seen ? lane_head(statement.place.lane) : row_head(statement.place.row));
    writer_.indent();
    if (seen) {
        const std::string rows = seen->tells_edges ? "for_edge_rows(" + seen->seen + ", " +
                                                         text_.local(statement.place.lane)
                                                   : "for_rows(" + rows_of(statement.place);
        writer_.open(rows + ", [&](i64 " + text_.local(statement.place.row) + ") FOVEA_LAMBDA");
    } else writer_.line(lane_head(statement.place.lane)), writer_.indent();
    writer_.line(
        "store(" +
        text_.element(text_.name(plan_.owner(id)), plan_.arrays.at(plan_.owner(id)).place).text +
        ", " + text_.root_value(id).text + ");");
    if (seen) writer_.close("});");
    else writer_.unindent();
    writer_.unindent();
    if (!condition.empty()) writer_.unindent();
}

}  // namespace fovea::emit
