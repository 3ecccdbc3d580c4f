// Row kernels and column kernels: loops of points around passes over the inner axes.
//
// Rows: the lanes lie along an inner axis, and reductions end in one sum across them. Columns: the
// lanes lie along a `par` axis outside the passes, and reductions are vertical. Sums over rows are
// taken in blocks of rows, always the same ones, that the threads share.
#include <algorithm>
#include <optional>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/rows/pass_body.h"
#include "codegen/emit/cpp/rows/row_accumulators.h"
#include "codegen/emit/cpp/rows/row_arrays.h"
#include "codegen/emit/cpp/rows/row_form.h"
#include "codegen/emit/cpp/rows/row_group_form.h"
#include "codegen/emit/cpp/rows/row_groups.h"
#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/kernel/analysis/kept_row.h"
#include "codegen/kernel/analysis/passes.h"

namespace fovea::emit {

using namespace kernel;

namespace {

class RowKernel {
  public:
    RowKernel(const Kernel& kernel, const LoopNest& nest, const RowForm& rows,
              const target::CpuRows& target, Signature& signature, Writer& writer)
        : kernel_(kernel),
          nest_(nest),
          rows_(rows),
          signature_(signature),
          writer_(writer),
          values_(kernel_, signature, writer),
          accumulators_(kernel_, signature, writer, values_) {
        find_row_ends();
        stack_size_ = stack_size_of_row(kernel_, lane_, target);
        if (!columns_) accumulators_.lane = lane_;
        const bool may_keep = lane_ >= 0 && !columns_ && steps_.empty();
        passes_ = find_passes(kernel_, nodes_, rows_.inner(),
                              may_keep ? WorthKeeping(is_expensive) : WorthKeeping());
        find_kept();
    }

    void run() {
        std::vector<AxisId> moving = steps_;
        if (lane_ >= 0) moving.push_back(lane_);
        values_.place = {lane_, "", moving};
        write_kept_rows();
        open_points();
        if (columns_) define_lanes();
        for (std::size_t i = 0; i < passes_.scalars.size(); ++i) {
            write_scalars(i);
            if (i == 0) {
                values_.define_rows(nodes_);
                write_seen();
                skip_kept_row();
            }
            if (i < passes_.passes.size()) write_pass(passes_.passes[i]);
        }
        close_points();
    }

  private:
    /// Rows that a mask hides from some position on are walked up to it.
    void find_row_ends() {
        if (lane_ < 0 || columns_ || !steps_.empty() || nest_.each.empty()) return;
        if (auto tail = cut_row_tail(kernel_, nodes_, lane_)) {
            bound_ = tail->bound;
            end_ = {signature_.fresh("seen"), extent_of_lane(), tail->values};
        }
    }
    /// `const i64 seen = …`
    void write_seen() {
        if (!end_) return;
        const std::string bound = values_.value(bound_).text;
        writer_.line("const i64 " + end_->seen + " = positions_below(" + bound + ", " +
                     end_->extent + ");");
    }

    void find_kept() {
        const bool has_rows = lane_ >= 0 && !columns_ && steps_.empty() && !nest_.each.empty();
        if (has_rows) kept_ = find_kept_row(kernel_, nodes_, lane_);
    }
    /// Whether the new row of an output that lies over its input is known in front of the loops.
    bool picks_row() const {
        const std::vector<AxisId>& each = nest_.each;
        return kept_ && std::find(each.begin(), each.end(), kept_->axis) != each.end();
    }

    /// `if (!is_equal && cache_next_row == cache_row) continue;`
    void skip_kept_row() {
        if (!kept_ || picks_row()) return;
        writer_.line("if (!" + values_.value(kept_->replaced).in(Binding::unary) + " && " +
                     values_.start_of_row(*kept_->stored) +
                     " == " + values_.start_of_row(*kept_->kept) + ") continue;");
    }

    /// `for (i64 k = 0; k < keys; k += kLanes)`
    std::string head(AxisId axis) const {
        const std::string& variable = signature_.axis(axis);
        const std::string step = axis == lane_ ? variable + " += kLanes" : "++" + variable;
        return "for (i64 " + variable + " = 0; " + variable + " < " + signature_.extent(axis).text +
               "; " + step + ")";
    }

    /// Threads share the points; without any, the vectors of a map; a lone row is one thread's.
    void open_points() {
        if (!rows_.sums.empty()) return open_row_blocks();
        std::vector<AxisId> shared = nest_.each;
        if (columns_) shared.push_back(lane_);
        shares_vectors_ = shared.empty() && lane_ >= 0 && steps_.empty() && !has_reduces() &&
                          passes_.passes.size() == 1;
        if (shares_vectors_) return;
        open_shared(shared);
    }

    void open_shared(const std::vector<AxisId>& axes) {
        std::vector<SharedLoop> loops;
        for (AxisId axis : axes)
            loops.push_back(
                {signature_.axis(axis), signature_.extent(axis), axis == lane_ ? "kLanes" : ""});
        if (picks_row()) return open_picked_rows(axes, loops);
        open_shared_loops(loops, signature_, writer_);
    }
    /// `const i64 step_i = in_place ? i64(position[0]) : step;`: where the output lies over its
    /// input, one row is visited, and the others are there already.
    void open_picked_rows(const std::vector<AxisId>& axes, std::vector<SharedLoop>& loops) {
        const std::string in_place = signature_.fresh("in_place");
        writer_.line("const bool " + in_place + " = " + signature_.buffer(kept_->stored->buffer) +
                     " == " + signature_.buffer(kept_->kept->buffer) + ";");
        const auto at = std::find(axes.begin(), axes.end(), kept_->axis) - axes.begin();
        SharedLoop& loop = loops[std::size_t(at)];
        const std::string row = loop.variable, rows = loop.extent.in(Binding::unary);
        loop.variable = signature_.fresh("row");
        loop.extent = {"(" + in_place + " ? 1 : " + rows + ")"};
        open_shared_loops(loops, signature_, writer_);
        writer_.line("const i64 " + row + " = " + in_place + " ? i64(" +
                     values_.value(kept_->position).text + ") : " + loop.variable + ";");
        writer_.line("if (" + row + " < 0 || " + row + " >= " + rows + ") continue;");
    }

    void open_row_blocks() {
        open_shared({rows_.blocks});
        write_parts(kernel_, rows_.sums, stack_size_, extent_of_lane(), values_, writer_);
        const std::vector<AxisId>& axes = rows_.rows;
        Expression count = signature_.extent(axes[0]);
        for (std::size_t i = 1; i < axes.size(); ++i) count = count * signature_.extent(axes[i]);
        const bool one = axes.size() == 1;
        const std::string row = one ? signature_.axis(axes[0]) : signature_.fresh("row");
        const std::string range = signature_.fresh("rows");
        const std::string blocks = signature_.extent(rows_.blocks).text;
        writer_.line("const Range " + range + " = block_of(" + count.text + ", " +
                     signature_.axis(rows_.blocks) + ", " + blocks + ");");
        writer_.open("for (i64 " + row + " = " + range + ".begin; " + row + " < " + range +
                     ".end; ++" + row + ")");
        Expression rest{row};
        for (std::size_t i = axes.size(); !one && i-- > 0;) {
            const std::string extent = signature_.extent(axes[i]).in(Binding::unary);
            const std::string at = rest.in(Binding::product);
            writer_.line("const i64 " + signature_.axis(axes[i]) + " = " + at +
                         (i ? " % " + extent : "") + ";");
            rest = {at + " / " + extent, Binding::product};
        }
    }

    std::string extent_of_lane() const { return lane_ < 0 ? "" : signature_.extent(lane_).text; }

    void close_row_blocks() {
        writer_.close();
        copy_parts(kernel_, rows_.sums, stack_size_, extent_of_lane(), values_, writer_);
    }

    void close_points() {
        if (!rows_.sums.empty()) close_row_blocks();
        if (!shares_vectors_) writer_.close();
    }

    bool has_reduces() const {
        return std::any_of(passes_.passes.begin(), passes_.passes.end(),
                           [](const Pass& pass) { return !pass.reduces.empty(); });
    }

    void define_lanes() {
        if (is_whole(kernel_, lane_)) return;
        writer_.line("const Lanes lanes = lanes_at(" + signature_.axis(lane_) + ", " +
                     extent_of_lane() + ");");
        values_.place.lanes = "lanes";
    }

    /// Memory for rows that a pass keeps for a later one.
    void write_kept_rows() {
        std::vector<std::string> names;
        for (const Pass& pass : passes_.passes)
            for (Id id : pass.kept) {
                names.push_back(signature_.fresh(signature_.value(id) + "_row"));
                row_arrays_[id] = names.back();
            }
        write_row_arrays(names, stack_size_, extent_of_lane(), signature_, writer_);
    }

    void write_scalars(std::size_t index) {
        std::vector<Id> roots = passes_.scalar_stores[index], scalars;
        for (Id id : passes_.scalars[index])
            if (!as<Reduce>(kernel_, id)) scalars.push_back(id);
        std::set<Id> always;  // what the passes use is computed once, before them
        for (Id id : scalars)
            if (is_used_by_pass(kernel_, passes_, id) || as<Random>(kernel_, id)) always.insert(id);
        values_.define_shared(scalars, roots, always);
        for (Id id : roots) values_.write_store(*as<Store>(kernel_, id));
    }

    void add_to_part(Id id) {
        const std::string mask = values_.place.lanes.empty() ? "" : ", " + values_.place.lanes;
        writer_.line("add_to(" + rows_.sum_of(id).part + " + " + signature_.axis(lane_) + ", " +
                     values_.value(as<Reduce>(kernel_, id)->operand, DType::f32, true).text + mask +
                     ");");
    }

    void write_pass(const Pass& pass) {
        accumulators_.open(pass);
        const bool over_lanes = lane_ >= 0 && !columns_;
        for (AxisId axis : steps_) writer_.open(head(axis));
        // Whole vectors need no masks; the last, which does, is written by the same text.
        const bool one_text = over_lanes && (end_ || !is_whole(kernel_, lane_)) && !shares_vectors_;
        if (one_text) {
            writer_.open("for_each_vector(" + (end_ ? end_->seen : extent_of_lane()) +
                         ", [&](i64 " + signature_.axis(lane_) + ", auto lanes) FOVEA_LAMBDA");
            values_.place.lanes = "lanes";
        } else if (over_lanes) {
            shares_vectors_ ? open_shared({lane_}) : writer_.open(head(lane_));
            define_lanes();
        }
        const auto kept_at = [&](Id id) {
            return row_arrays_[id] + " + " + signature_.axis(lane_);
        };
        write_pass_body(
            kernel_, pass, kept_at, [&](Id id) { add_to_part(id); }, signature_, writer_, values_,
            accumulators_);
        if (over_lanes) {
            values_.place.lanes.clear();
            writer_.close(one_text ? "});" : "}");
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) writer_.close();
        accumulators_.close(pass, end_ ? &*end_ : nullptr);
        if (end_) fill_row_ends(pass, *end_);
    }

    /// What lies past the positions seen is the same everywhere.
    void fill_row_ends(const Pass& pass, const RowEnd& end) {
        for (Id id : pass.stores) {
            const Store& store = *as<Store>(kernel_, id);
            const auto value = end.values.find(store.value);
            writer_.line("fill_row(" + values_.start_of_row(store.access) + ", " + end.seen + ", " +
                         end.extent + ", " +
                         values_
                             .value(value == end.values.end() ? store.value : value->second,
                                    DType::f32, false)
                             .text +
                         ");");
        }
    }

    Kernel kernel_;
    const LoopNest& nest_;
    const RowForm& rows_;
    Signature& signature_;
    Writer& writer_;
    const AxisId lane_ = rows_.lane;
    const bool columns_ = rows_.columns;
    const std::vector<Id>& nodes_ = rows_.nodes;
    const std::vector<AxisId>& steps_ = rows_.steps;
    Values values_;
    RowAccumulators accumulators_;
    Passes passes_;
    std::optional<RowEnd> end_;
    std::optional<KeptRow> kept_;  // rows that lie in the output already
    Id bound_ = -1;  // of the positions of a row that are seen
    std::map<Id, std::string> row_arrays_;
    std::int64_t stack_size_ = 0;
    bool shares_vectors_ = false;
};

}  // namespace

void write_row_kernel(const Kernel& kernel, const LoopNest& nest, const target::CpuRows& target,
                      Signature& signature, Writer& writer) {
    const RowForm rows = find_row_form(kernel, nest, signature);
    if (!why_not_row_groups(kernel, nest, rows, target))
        return write_row_groups(kernel, nest, rows, target, signature, writer);
    RowKernel(kernel, nest, rows, target, signature, writer).run();
}

}  // namespace fovea::emit
