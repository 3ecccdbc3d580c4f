// Sums over a step, in register tiles: where they begin, what a step adds, what is made of them.
#include <algorithm>

#include "codegen/emit/cpp/tiles/tile_ahead.h"
#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_joint_sums.h"
#include "codegen/emit/cpp/tiles/tile_statements.h"

namespace fovea::emit {

using namespace kernel;

std::string TileStatements::sum_formula(const Statement& statement) {
    const Node& node = kernel_.nodes[std::size_t(statement.source)];
    const auto letter = [&](AxisId axis) { return kernel_.axes[std::size_t(axis)].name; };
    std::string text = signature_.value(statement.value) + "[";
    if (statement.place.row >= 0) text += letter(statement.place.row) + ", ";
    text += letter(statement.place.lane) + "] ";
    if (statement.start >= 0) text += "+";
    text += "= ";
    if (auto contract = std::get_if<Contract>(&node.operation))
        return text + "sum over " + letter(statement.step) + " of " +
               signature_.value(contract->a) + " * " + signature_.value(contract->b);
    const bool adds = as<Reduce>(kernel_, statement.source)->reduction == Reduction::sum;
    return text + (adds ? "sum over " : "maximum over ") + letter(statement.step);
}

void TileStatements::write_start(const Statement& statement) {
    if (statement.start < 0) {
        auto reduce = as<Reduce>(kernel_, statement.source);
        const bool is_max = reduce && reduce->reduction == Reduction::max;
        writer_.line(is_max ? "from_lowest," : "from_zero,");
        return;
    }
    const auto store = as<Store>(kernel_, statement.start);
    const std::string value =
        store ? text_.stored(*store).text : text_.value(statement.start, DType::f32, true).text;
    const std::string row = statement.place.row < 0 ? "" : text_.local(statement.place.row);
    const bool once = is_long(value);
    write_returning(once ? "Once{" : "", {{"i64", row}, {"i64", text_.local(statement.place.lane)}},
                    value, once ? "}," : ",");
}

/// `products(` the numbers of the rows, the vectors of the lanes `),`.
void TileStatements::write_products(const Statement& statement, Id number, Id vector) {
    const std::string row = statement.place.row < 0 ? "" : text_.local(statement.place.row);
    const std::string step = text_.local(statement.step), lane = text_.local(statement.place.lane);
    const bool pairs = plan_.sums_of_pairs.contains(statement.source);
    const auto place = [&](Id operand, const std::string& x) {
        return text_.pairs_name(operand, statement.step) + ".at(" + x + ", " + step + ")";
    };
    writer_.line(pairs ? "pair_products(" : "products(");
    writer_.indent();
    write_returning("", {{"i64", row}, {"i64", step}},
                    pairs ? place(number, row) : text_.value(number, DType::f32, false).text, ",");
    write_returning("", {{"i64", lane}, {"i64", step}},
                    pairs ? place(vector, lane) : text_.value(vector, DType::f32, true).text, "),");
    writer_.unindent();
}

/// `const auto weights_pairs = rows_in_pairs(weights_pairs_memory, q_width, weights_tile, …);`
void TileStatements::write_pair(const Statement& statement) {
    const auto [row, lane] = statement.place;
    const auto load = as<Load>(kernel_, statement.source);
    std::string source, stride = text_.width(lane);
    bool is_whole = true;  // its rows have room for whole vectors, as those of arrays do
    if (!load) {
        source = text_.name(plan_.owner(statement.source));
    } else if (const auto turned = plan_.turned.find(statement.source);
               turned != plan_.turned.end() && turned->second.place == statement.place) {
        source = text_.turned_name(statement.source);
    } else {
        source = text_.pointer(load->access);
        stride = spell(stride_along(load->access.strides, row)).text;
        const Dim& lanes = kernel_.axes[std::size_t(lane)].extent;
        is_whole = lanes.is_static() && lanes.value() % target::kLanes == 0;
    }
    const bool is_row = row == statement.step;
    const std::string& name = text_.pairs_name(statement.source, statement.step);
    const std::string memory = name + "_memory";
    const std::string height =
        plan_.is_tiled(row)
            ? text_.height(row)
            : std::to_string((kernel_.axes[std::size_t(row)].extent.value() + 1) / 2 * 2);
    writer_.line("alignas(64) paired " + memory + "[" + height + " * " + text_.width(lane) +
                 "];  " + text_.shape_comment(statement.place));
    writer_.line("const auto " + name + " = " +
                 (!is_row    ? "steps"
                  : is_whole ? "rows"
                             : "cut_rows") +
                 "_in_pairs(" + memory + ", " + text_.width(lane) + ", " + source + ", " + stride +
                 ", " + text_.count(row) + ", " +
                 (is_row ? text_.count(lane) : text_.count_argument(lane)) + ");");
}

std::string TileStatements::steps_of(const Statement& statement, const std::string& steps) const {
    return plan_.sums_of_pairs.contains(statement.source) ? "in_pairs(" + steps + ")" : steps;
}

/// `multiply_add(tanh_of_sum, splat(w_tile[d]), sum)`: rounded once, with portable bits, too.
std::string TileStatements::added_product(Id a, Id b, const std::string& sum) {
    return "multiply_add(" + text_.value(a, DType::f32, true).text + ", " +
           text_.value(b, DType::f32, true).text + ", " + sum + ")";
}

/// What adds one step to a vector of the sum.
void TileStatements::write_term(const Statement& statement) {
    std::string value;
    if (auto contract = as<Contract>(kernel_, statement.source)) {
        Id a = contract->a, b = contract->b;
        if (text_.is_vector(a)) std::swap(a, b);
        if (!text_.is_vector(a) && text_.is_vector(b)) return write_products(statement, a, b);
        value = added_product(a, b, "sum");
    } else if (const Map* product = product_of_pairs(kernel_, statement.source)) {
        value = added_product(product->operands[0], product->operands[1], "sum");
    } else {
        const Reduce& reduce = *as<Reduce>(kernel_, statement.source);
        const Expression term = text_.value(reduce.operand, DType::f32, true);
        value = reduce.reduction == Reduction::sum ? "sum + " + term.in(Binding::product)
                                                   : "larger(sum, " + term.text + ")";
    }
    const std::string row = statement.place.row < 0 ? "" : text_.local(statement.place.row);
    write_returning("",
                    {{text_.vector_type(), "sum"},
                     {"i64", row},
                     {"i64", text_.local(statement.place.lane)},
                     {"i64", text_.local(statement.step)}},
                    value, ",");
}

/// `[&](i64 k) { prefetch<64>(K_tile, (k_step + k) * 64); });`: the rows of the tiles that come
/// next, of the next task's in the last tile of the loop; or the end of the call. `end` closes what
/// stands before.
void TileStatements::write_ahead(const Statement& statement, const std::string& end) {
    const AxisId row = statement.place.row;
    std::vector<std::string> lines;
    // The last tile of a window is the one that the task before began with.
    const auto bounds = bounds_.find(row);
    const bool has_window = bounds != bounds_.end() && !bounds->second.all_from.empty();
    const bool follows = row >= 0 && plan_.is_tiled(row) && !plan_.in_one_tile() && !has_window;
    if (follows && fetched_.insert(row).second) {
        const bool falls = row == plan_.par && TileAxes(plan_).takes_last_first();
        const Expression here{text_.local(row)}, step{text_.tile_name(row)};
        const Expression next =
            falls ? Expression{here.text + " - " + step.text, Binding::sum} : here + step;
        for (const RowsAhead& rows : rows_ahead(plan_, row)) {
            if (!text_.has_pointer(*rows.access)) continue;
            const std::string line = "prefetch<" + std::to_string(rows.width) + ">(" +
                                     text_.pointer(*rows.access) + ", " +
                                     ((rows.now ? here : next) * spell(rows.stride)).text + ");";
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
        }
    }
    if (lines.empty()) return writer_.line(end + ");");
    writer_.line(end + ",");
    writer_.line("[&](i64 " + text_.local(row) + ") FOVEA_LAMBDA {");
    writer_.indent();
    if (row == plan_.par && !has_more_.empty()) writer_.line("if (" + has_more_ + ") return;");
    for (const std::string& line : lines) writer_.line(line);
    writer_.unindent();
    writer_.line("});");
}

AxisId TileStatements::bounded_loop(const Statement& statement) const {
    if (statement.kind != Statement::Kind::sum) return -1;
    for (const auto& [loop, bounds] : bounds_) {
        const AxisId along = bounds.moves_along;
        if (along < 0) continue;
        const Place2& place = statement.place;
        const bool is_pair = place.row == loop && place.lane == along;
        const bool sums_loop = place.row == along && statement.step == loop;
        const bool sums_along = place.row == loop && statement.step == along;
        if (is_pair || sums_loop || sums_along) return loop;
    }
    return -1;
}

bool TileStatements::keeps_to_seen(const Statement& statement) const {
    switch (statement.kind) {
        case Statement::Kind::joint:
        case Statement::Kind::across:
        case Statement::Kind::loop: return false;
        case Statement::Kind::sum: return bounded_loop(statement) >= 0;
        case Statement::Kind::lanes: return is_strip(statement);
        default: return true;
    }
}

bool TileStatements::set_bounds(AxisId axis, const LoopBounds& bounds,
                                const std::vector<Statement>& block) {
    bounds_[axis] = bounds;
    const bool asks = std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
        return bounded_loop(statement) == axis;
    });
    bounds_[axis].keeps_to_seen =
        asks && std::all_of(block.begin(), block.end(),
                            [&](const Statement& statement) { return keeps_to_seen(statement); });
    return asks;
}

/// `sum_tile<6, 4>(k_n, q_n, fixed<64>,`, or of the blocks that bounds leave.
std::string TileStatements::sum_head(const Statement& statement, const RegisterTile& tile) const {
    const Place2& place = statement.place;
    const std::string sizes = "<" + std::to_string(tile.rows) + ", " + std::to_string(tile.vectors);
    const std::string lanes = text_.count_argument(place.lane) + ", ";
    const std::string steps = steps_of(statement, text_.count_argument(statement.step)) + ",";
    const std::string half = text_.half ? ", floats8>(" : ">(";
    const AxisId loop = bounded_loop(statement);
    if (loop < 0) return "sum_tile" + sizes + half + text_.count(place.row) + ", " + lanes + steps;
    const LoopBounds& bounds = bounds_.at(loop);
    if (place.lane == bounds.moves_along)
        return "sum_seen" + sizes + ", Unseen::" + (bounds.keeps_to_seen ? "left" : "start") +
               ">(" + bounds.seen + ", " + steps;
    const std::string parts =
        steps_of(statement, bounds.seen + (statement.step == loop ? ".by_lanes()" : ".by_rows()"));
    return "sum_parts" + sizes + half + parts + ", " + text_.count_argument(place.lane) + ",";
}

void TileStatements::write_sum(const Statement& statement) {
    const Place2& place = statement.place;
    text_.half = !statement.has_few_rows && fits_half(statement);
    const Dim lanes =
        plan_.is_tiled(place.lane) ? Dim("n") : kernel_.axes[std::size_t(place.lane)].extent;
    RegisterTile tile =
        as<Contract>(kernel_, statement.source)
            ? register_tile(lanes, plan_.target)
            : RegisterTile{plan_.target.rows_of_terms, plan_.target.vectors_of_terms};
    if (place.row >= 0 && plan_.is_tiled(place.row))
        if (const Dim& rows = kernel_.axes[std::size_t(place.row)].extent; rows.is_static())
            tile.rows = int(std::clamp<std::int64_t>(rows.value(), 1, tile.rows));
    writer_.line("// " + sum_formula(statement));
    if (statement.has_few_rows) return write_few_rows(statement);
    writer_.line(sum_head(statement, tile));
    writer_.indent();
    write_start(statement);
    write_term(statement);
    const std::string& sum = signature_.value(statement.value);
    const Writer body = sum_body(statement, sum);
    const std::string row = place.row < 0 ? "" : text_.local(place.row);
    const bool once = is_long(body.text());
    writer_.line(
        (once ? "Once{" : "") +
        lambda({{"i64", row}, {"i64", text_.local(place.lane)}, {text_.vector_type(), sum}},
               body.text()) +
        " {");
    writer_.append(body);
    write_ahead(statement, once ? "}}" : "}");
    writer_.unindent();
}

Writer TileStatements::sum_body(const Statement& statement, const std::string& sum) {
    Writer body(writer_.depth() + 1);
    std::swap(body, writer_);
    text_.set_register(statement.value, sum);
    for (Id id : statement.roots) {
        auto store = as<Store>(kernel_, id);
        if (store && statement.start == id) {
            Store plain = *store;
            plain.accumulate = false;
            writer_.line(text_.store(plain));
        } else if (id == statement.value || (id == statement.source && !store)) {
            if (is_array(id) && id == statement.value)
                writer_.line("store(" +
                             text_
                                 .element(text_.name(plan_.owner(id)),
                                          plan_.arrays.at(plan_.owner(id)).place)
                                 .text +
                             ", " + sum + ");");
        } else {
            write_root(id, nullptr);
        }
    }
    std::swap(body, writer_);
    return body;
}

/// `multiply_few_rows(q_n, k_n, fixed<64>, query_pairs, key_pairs, [&](i64 q, i64 k, floats
/// scores) { … });`
void TileStatements::write_few_rows(const Statement& statement) {
    const Contract& contract = *as<Contract>(kernel_, statement.source);
    const auto [row, lane] = statement.place;
    Id few = contract.a, all = contract.b;
    if (TileAxes(plan_).has(few, lane)) std::swap(few, all);
    const bool pairs = plan_.sums_of_pairs.contains(statement.source);
    const auto rows_of = [&](Id operand, AxisId axis) {
        if (pairs) return text_.pairs_name(operand, statement.step);
        const auto load = as<Load>(kernel_, operand);
        const std::string data =
            load ? text_.pointer(load->access) : text_.name(plan_.owner(operand));
        const std::string stride = load ? spell(stride_along(load->access.strides, axis)).text
                                        : text_.width(statement.step);
        return "tile_rows_at(" + data + ", " + stride + ")";
    };
    writer_.line("multiply_few_rows(" + text_.count(row) + ", " + text_.count(lane) + ", " +
                 text_.count_argument(statement.step) + ", " + rows_of(few, row) + ", " +
                 rows_of(all, lane) + ",");
    writer_.indent();
    const std::string& sum = signature_.value(statement.value);
    const Writer body = sum_body(statement, sum);
    writer_.line(lambda({{"i64", text_.local(row)}, {"i64", text_.local(lane)}, {"floats", sum}},
                        body.text()) +
                 " {");
    writer_.append(body);
    writer_.line("});");
    writer_.unindent();
}

/// `dk[k, d], dw[k, d] = sums over q, dq[q, d] = sums over k`, with shared values in variables.
void TileStatements::write_joint(const Statement& statement) {
    const AxisId row = statement.place.row, column = statement.step, lane = statement.place.lane;
    const auto letter = [&](AxisId axis) { return kernel_.axes[std::size_t(axis)].name; };
    std::string titles[2], tiles[2];  // of the rows' sums, of the columns'
    const std::string of[2] = {"of_" + letter(row), "of_" + letter(column)};
    int count[2] = {0, 0};
    const std::vector<Id> shared = shared_values(kernel_, statement.roots);
    Writer body(writer_.depth() + 2);
    std::swap(body, writer_);
    for (Id id : shared) write_root(id, nullptr);
    for (Id id : statement.roots) {
        const Reduce& reduce = *as<Reduce>(kernel_, id);
        const int side = reduce.axes[0] == column ? 0 : 1;
        titles[side] += (count[side] ? ", " : "") + signature_.value(id) + "[" +
                        letter(side ? column : row) + ", " + letter(lane) + "]";
        tiles[side] += (count[side] ? ", " : "") + text_.name(plan_.owner(id));
        const std::string sum = of[side] + "[" + std::to_string(count[side]++) + "]";
        const bool is_named = std::ranges::find(shared, reduce.operand) != shared.end();
        const Map* const product = is_named ? nullptr : product_of_pairs(kernel_, id);
        writer_.line(sum +
                     (product
                          ? " = " + added_product(product->operands[0], product->operands[1], sum)
                          : " += " + text_.value(reduce.operand, DType::f32, true).text) +
                     ";");
    }
    std::swap(body, writer_);
    writer_.line("// " + titles[0] + " = sums over " + letter(column) + "; " + titles[1] +
                 " = sums over " + letter(row));
    writer_.line("joint_sums(" + text_.count(row) + ", " + text_.count(column) + ", " +
                 text_.width(lane) + ", {" + tiles[0] + "}, {" + tiles[1] + "},");
    writer_.indent();
    const auto sums = [&](int side) {
        return "floats (&" + of[side] + ")[" + std::to_string(count[side]) + "]";
    };
    writer_.line("[&](i64 " + text_.local(row) + ", i64 " + text_.local(column) + ", i64 " +
                 text_.local(lane) + ", " + sums(0) + ", " + sums(1) + ") FOVEA_LAMBDA {");
    writer_.append(body);
    writer_.line("});");
    writer_.unindent();
}

}  // namespace fovea::emit
