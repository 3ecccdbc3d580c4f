// Kernels over tiles: tasks that the threads share, loops over tiles with their bounds, and the
// blocks inside of them. Statements are written by tile_statements.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_statements.h"

namespace fovea::emit {

using namespace kernel;

namespace {

class TileKernel {
  public:
    TileKernel(const TilePlan& plan, Signature& signature, Writer& writer)
        : plan_(plan),
          kernel_(plan.kernel),
          signature_(signature),
          writer_(writer),
          axes_(plan),
          text_(plan, signature),
          statements_(plan, signature, text_, writer) {}

    /// The body of the function.
    void run() { write_tasks(writer_); }

  private:
    /// `constexpr i64 q_step = 64, q_width = 80;`, and the loops.
    void write_tasks(Writer& to) {
        Writer tasks(to.depth());
        std::swap(tasks, writer_);
        open_tasks();
        if (plan_.par >= 0) define_count(plan_.par, signature_.extent(plan_.par).text);
        write_block(-1);
        writer_.close();
        std::swap(tasks, writer_);
        if (const std::string sizes = text_.sizes(tasks.text()); !sizes.empty())
            to.line("constexpr i64 " + sizes + ";");
        to.append(tasks);
    }

    /// `batch * 8, queries * keys`: how many tasks there are, and the pairs of one.
    std::string tasks_and_pairs() const {
        Expression points{"1"}, pairs{"1"};
        for (AxisId axis : plan_.each) points = points * signature_.extent(axis);
        for (const auto& [axis, size] : plan_.schedule.tiles)
            pairs = pairs * signature_.extent(axis);
        return points.text + ", " + pairs.text;
    }
    /// `, queries, q_step`: of tasks that are tiles, the axis and the tile.
    std::string tiles_of_task() const {
        if (plan_.par < 0) return "";
        return ", " + signature_.extent(plan_.par).text + ", " + text_.tile_name(plan_.par);
    }

    /// Short sequences are taken several at a time. Tasks of one tile cost about the same: each
    /// thread has the sequences it had in kernels before. Where the last tasks are short they are
    /// dealt out, which costs less than to take what has nothing to do.
    std::string points() {
        if (plan_.in_one_tile()) return "my_points(";
        if (kernel_.ends_early) return "dealt_points(";
        const std::string name = signature_.fresh("at_once");
        writer_.line("const i64 " + name + " = tasks_at_once(" + tasks_and_pairs() +
                     tiles_of_task() + ");");
        return "taken_points(" + name;
    }

    /// One loop per axis of points and one over the tiles of the `par` axis. Where later tiles have
    /// longer loops, they come first.
    void open_tasks() {
        std::vector<SharedLoop> loops;
        for (AxisId axis : plan_.each)
            loops.push_back({text_.local(axis), signature_.extent(axis)});
        if (plan_.par >= 0 && !plan_.in_one_tile())
            loops.push_back({text_.at(plan_.par), signature_.extent(plan_.par),
                             text_.tile_name(plan_.par), axes_.takes_last_first()});
        open_shared_loops(loops, signature_, writer_, loops.empty() ? "" : points());
    }

    void define_count(AxisId axis, const std::string& end) {
        if (plan_.in_one_tile())
            return write_count(axis, "count_in_tile", signature_.extent(axis).text);
        writer_.line("const i64 " + text_.count_name(axis) + " = minimum(" + text_.tile_name(axis) +
                     ", " + end + " - " + text_.at(axis) + ");");
    }

    void write_block(Id loop) {
        const std::vector<const Access*> pointed = define_pointers(loop);
        for (const Statement& statement : plan_.blocks.at(loop)) {
            if (statement.kind == Statement::Kind::loop) write_loop(statement.source);
            else statements_.write(statement);
        }
        for (const Access* access : pointed) text_.forget_pointer(*access);
    }

    /// A load that nothing reads: keys of a score that does not depend on them.
    bool is_idle(Id id) const {
        if (!as<Load>(kernel_, id)) return false;
        for (Id user = 0; user < Id(kernel_.nodes.size()); ++user)
            for (Id operand : operands_of(kernel_, user))
                if (operand == id) return false;
        return true;
    }

    /// `const float* K_tile = K + …;  // [k, d]` for the memory that moves with the loop.
    std::vector<const Access*> define_pointers(Id loop) {
        std::vector<const Access*> pointed;
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id) {
            const Access* access = access_of(kernel_, id);
            if (!access || axes_.home(id) != loop) continue;
            const std::vector<AxisId> moving = axes_.of(*access);
            if (moving.empty() || text_.has_pointer(*access) || is_idle(id)) continue;
            const Buffer& buffer = kernel_.buffers[std::size_t(access->buffer)];
            if (buffer.optional) continue;  // no offset from a null pointer
            const std::string start = text_.tile_start(*access).text;
            const auto* store = as<Store>(kernel_, id);
            const std::string& value = signature_.value(store ? store->value : id);
            std::string shape;
            for (const Stride& stride : access->strides)
                if (std::find(moving.begin(), moving.end(), stride.axis) != moving.end())
                    shape +=
                        (shape.empty() ? "" : ", ") + kernel_.axes[std::size_t(stride.axis)].name;
            writer_.line((buffer.written ? "" : "const ") + element_type(buffer.dtype) + "* " +
                         text_.point_to(*access, value) + " = " + start + ";  // [" + shape + "]");
            pointed.push_back(access);
        }
        return pointed;
    }

    /// The bounds of the loop, its tiles, and its block.
    void write_loop(Id id) {
        const Loop& loop = *as<Loop>(kernel_, id);
        if (plan_.in_one_tile()) {
            if (loop.upper < 0) return define_count(loop.axis, "");
            return write_count(loop.axis, "count_below", define_bound(loop, loop.upper, "_end"));
        }
        const std::string &at = text_.at(loop.axis), &tile = text_.tile_name(loop.axis);
        LoopBounds bounds;
        std::string first = "0", end = signature_.extent(loop.axis).text;
        std::string seen_from = "unbounded", seen_end = "unbounded";
        if (loop.lower >= 0) {
            const std::string name = define_bound(loop, loop.lower, "_from");
            const bool moves = !kernel_.nodes[std::size_t(loop.lower)].axes.empty();
            first = (moves ? name + ".smallest" : name) + " / " + tile + " * " + tile;
            bounds.all_from = moves ? name + ".largest" : name;
            bounds.moves_along = moves_along(loop.lower);
            if (bounds.moves_along >= 0) seen_from = name;
        }
        if (loop.upper >= 0) {
            const std::string name = define_bound(loop, loop.upper, "_end");
            const bool moves = !kernel_.nodes[std::size_t(loop.upper)].axes.empty();
            end = moves ? name + ".largest" : name;
            if (moves) bounds.all_to = name + ".smallest";
            if (const AxisId along = moves_along(loop.upper); along >= 0) {
                bounds.moves_along = along;
                seen_end = name;
            }
        }
        const auto is_told = [&](Id bound) { return bound < 0 || moves_along(bound) >= 0; };
        bounds.tells_edges =
            is_told(loop.lower) &&
            (is_told(loop.upper) || kernel_.nodes[std::size_t(loop.upper)].axes.empty());
        if (bounds.moves_along >= 0)
            bounds.seen =
                signature_.fresh(identifier(kernel_.axes[std::size_t(loop.axis)].name) + "_seen");
        const bool asks_for_seen = statements_.set_bounds(loop.axis, bounds, plan_.blocks.at(id));
        writer_.open("for (i64 " + at + " = " + first + "; " + at + " < " + end + "; " + at +
                     " += " + tile + ")");
        define_count(loop.axis, end);
        if (asks_for_seen)
            writer_.line("const auto " + bounds.seen + " = seen_blocks<" + tile + ", " +
                         text_.tile_name(bounds.moves_along) + ">(" + at + ", " +
                         text_.count(loop.axis) + ", " + text_.count(bounds.moves_along) + ", " +
                         seen_from + ", " + seen_end + ");");
        statements_.set_has_more(at + " + " + tile + " < " + end);
        write_block(id);
        statements_.set_has_more("");
        writer_.close();
    }

    /// The axis that a bound moves along, if that is cut into tiles; else -1.
    AxisId moves_along(Id bound) const {
        const auto& axes = kernel_.nodes[std::size_t(bound)].axes;
        return !axes.empty() && plan_.is_tiled(axes[0]) ? axes[0] : -1;
    }

    /// `const auto k_n = count_below(fixed<16>, k_end);`: the positions of an axis of one tile.
    void write_count(AxisId axis, const std::string& function, const std::string& end) {
        writer_.line("const auto " + text_.count_name(axis) + " = " + function + "(fixed<" +
                     text_.tile_name(axis) + ">, " + end + ");");
    }

    /// Writes the smallest and the largest bound of a tile, or the bound that all have.
    std::string define_bound(const Loop& loop, Id bound, const std::string& suffix) {
        const std::string name =
            signature_.fresh(identifier(kernel_.axes[std::size_t(loop.axis)].name) + suffix);
        const std::string& extent = signature_.extent(loop.axis).text;
        const auto& axes = kernel_.nodes[std::size_t(bound)].axes;
        if (axes.empty()) {
            text_.lane = -1;
            writer_.line("const i64 " + name + " = positions_below(" + text_.value(bound).text +
                         ", " + extent + ");");
            return name;
        }
        text_.lane = axes[0];
        const std::string call =
            moves_along(bound) >= 0
                ? "const auto " + name + " = lane_bounds<" + text_.tile_name(axes[0]) + ">("
                : "const Bounds " + name + " = bounds_of(";
        writer_.line(call + text_.count(axes[0]) + ", " + extent + ", [&](i64 " +
                     text_.local(axes[0]) + ") FOVEA_LAMBDA { return " +
                     text_.value(bound, DType::i32, true).text + "; });");
        text_.lane = -1;
        return name;
    }

    const TilePlan& plan_;
    const Kernel& kernel_;
    Signature& signature_;
    Writer& writer_;
    TileAxes axes_;
    TileText text_;
    TileStatements statements_;
};

/// `if (fits_tile(fixed<16>, queries)) return in_one_tile();` in front of the loops, or where all
/// sizes are known, what it does instead of them; returns whether that is so.
bool write_one_tile(const TilePlan& plan, Writer& writer) {
    Signature signature(plan.kernel);
    std::set<std::string> conditions;
    for (const auto& [axis, size] : plan.schedule.tiles)
        if (!plan.kernel.axes[std::size_t(axis)].extent.is_static())
            conditions.insert("fits_tile(fixed<" + std::to_string(size) + ">, " +
                              signature.extent(axis).text + ")");
    if (conditions.empty()) {
        TileKernel(plan, signature, writer).run();
        return true;
    }
    writer.open("const auto in_one_tile = [&]() FOVEA_LAMBDA");
    TileKernel(plan, signature, writer).run();
    writer.close("};");
    writer.line(fmt::format("if ({}) return in_one_tile();", fmt::join(conditions, " && ")));
    return false;
}

}  // namespace

std::optional<std::string> why_not_tile_kernel(const Kernel& kernel,
                                               const target::CpuTiles& target) {
    try {
        plan_tiles(kernel, target);
    } catch (const TileRefusal& refusal) {
        return "it has " + refusal.reason;
    }
    return std::nullopt;
}

std::string cpp_tile_kernel(const Kernel& kernel, const target::CpuTiles& target) {
    TilePlan plan;
    std::optional<TilePlan> one_tile;
    try {
        plan = plan_tiles(kernel, target);
        one_tile = plan_one_tile(kernel, target);
    } catch (const TileRefusal& refusal) {
        throw InternalError("kernel " + kernel.name + " has " + refusal.reason +
                            ", which has no place in tiles on the CPU");
    }
    Signature signature(plan.kernel);
    Writer body;
    body.indent();
    const bool always = one_tile && write_one_tile(*one_tile, body);
    if (!always) TileKernel(plan, signature, body).run();
    Writer head;
    signature.write_head(head, body.text());
    return head.text() + body.text() + "}\n";
}

}  // namespace fovea::emit
