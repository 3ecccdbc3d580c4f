// Writes strips of rows: for each pass a loop over groups of rows, in it the loop over the lanes,
// and in that one over the rows of the group. A number for each row is a variable without a type
// of its own, float or vector; what later passes need of it is kept for the strip.
#include "codegen/emit/cpp/rows/row_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/rows/pass_body.h"
#include "codegen/emit/cpp/rows/row_accumulators.h"
#include "codegen/emit/cpp/rows/row_arrays.h"
#include "codegen/emit/cpp/rows/row_group_form.h"
#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/kernel/analysis/passes.h"

namespace fovea::emit {

using namespace kernel;

namespace {

class RowGroups {
  public:
    RowGroups(const Kernel& kernel, const LoopNest& nest, const RowForm& rows,
              const target::CpuRows& target, Signature& signature, Writer& writer)
        : kernel_(kernel),
          nest_(nest),
          rows_(rows),
          signature_(signature),
          writer_(writer),
          values_(kernel, signature, writer),
          accumulators_(kernel, signature, writer, values_),
          passes_(find_passes(kernel, rows.nodes, rows.inner(), is_expensive)),
          stack_size_(stack_size_of_row(kernel, rows.lane, target)) {
        values_.place.lane = accumulators_.lane = lane_;
        values_.place.moving = {lane_};
        values_.place.grouped = axis_of_groups(nest, rows);
        values_.place.group = accumulators_.group = group_;
        values_.per_row = find_per_row(kernel, rows, values_.place.grouped);
    }

    void run() {
        find_crossing();
        write_memory();
        open_strips();
        write_uniform();
        for (std::size_t i = 0; i < passes_.passes.size(); ++i) write_phase(i);
        close_strips();
    }

  private:
    std::string extent_of_lane() const { return signature_.extent(lane_).text; }
    std::string row_of_strip() const {
        return signature_.axis(values_.place.grouped) + " - " + strip_ + ".begin";
    }
    bool is_load(Id id) const { return as<Load>(kernel_, id) != nullptr; }

    /// What phase `index` writes: a pass, and the scalars around it.
    std::vector<std::vector<Id>> nodes_of_phase(std::size_t index) const {
        const Pass& pass = passes_.passes[index];
        std::vector<std::vector<Id>> result = {pass.values,
                                               pass.reduces,
                                               pass.sums,
                                               pass.stores,
                                               passes_.scalars[index + 1],
                                               passes_.scalar_stores[index + 1]};
        if (index == 0) {
            result.push_back(passes_.scalars[0]);
            result.push_back(passes_.scalar_stores[0]);
        }
        return result;
    }

    /// Numbers of rows that a phase has of earlier ones: loads are repeated, others kept.
    void find_crossing() {
        std::set<Id> made;
        earlier_.resize(passes_.passes.size());
        for (std::size_t i = 0; i < passes_.passes.size(); ++i) {
            const std::set<Id> before = made;
            for (const std::vector<Id>& nodes : nodes_of_phase(i))
                for (Id id : nodes) {
                    if (values_.per_row.contains(id)) made.insert(id);
                    for (Id operand : operands_of(kernel_, id))
                        if (before.contains(operand)) earlier_[i].insert(operand);
                }
        }
        for (const std::set<Id>& ids : earlier_)
            for (Id id : ids)
                if (!is_load(id)) kept_[id];
    }

    /// Memory for what passes keep for later ones.
    void write_memory() {
        Expression points{"1"};  // among which threads share the strips
        for (AxisId axis : nest_.each) points = points * signature_.extent(axis);
        writer_.line("const i64 " + at_once_ + " = rows_at_once(" + extent_of_lane() +
                     (rows_.sums.empty() ? ", " + points.text : "") + ");");
        std::string names;
        for (auto& [id, name] : kept_) {
            name = signature_.fresh(signature_.value(id) + "_rows");
            names += (names.empty() ? "" : ", ") + name;
        }
        if (!names.empty()) writer_.line("RowValues " + names + ";");
        write_row_memory();
    }
    void write_row_memory() {
        std::vector<Id> ids;
        for (const Pass& pass : passes_.passes)
            ids.insert(ids.end(), pass.kept.begin(), pass.kept.end());
        if (ids.empty()) return;
        row_size_ = signature_.fresh("row_size");
        writer_.line("const i64 " + row_size_ + " = whole_lanes(" + extent_of_lane() + ");");
        const std::string size = at_once_ + " * " + row_size_;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            std::string& name = row_arrays_[ids[i]];
            name = signature_.fresh(signature_.value(ids[i]) + "_rows");
            const std::string count = ids.size() > 1 ? std::to_string(ids.size()) + " * " : "";
            writer_.line(
                "float* const " + name + " = " +
                (i ? row_arrays_[ids[i - 1]] + " + " + size : "scratch(" + count + size + ")") +
                ";");
        }
    }

    /// Threads share the strips, or, where rows are summed, the blocks of rows.
    void open_strips() {
        const std::string all = signature_.extent(values_.place.grouped).text;
        if (!rows_.sums.empty()) {
            const AxisId blocks = rows_.blocks;
            open_shared_loops({{signature_.axis(blocks), signature_.extent(blocks)}}, signature_,
                              writer_);
            write_parts(kernel_, rows_.sums, stack_size_, extent_of_lane(), values_, writer_);
            writer_.line("const Range " + block_ + " = block_of(" + all + ", " +
                         signature_.axis(rows_.blocks) + ", " +
                         signature_.extent(rows_.blocks).text + ");");
            writer_.open("for (i64 " + first_ + " = " + block_ + ".begin; " + first_ + " < " +
                         block_ + ".end; " + first_ + " += " + at_once_ + ")");
            return define_strip(block_ + ".end");
        }
        std::vector<SharedLoop> loops;
        for (std::size_t i = 0; i + 1 < nest_.each.size(); ++i)
            loops.push_back({signature_.axis(nest_.each[i]), signature_.extent(nest_.each[i])});
        loops.push_back({first_, signature_.extent(values_.place.grouped), at_once_});
        open_shared_loops(loops, signature_, writer_);
        define_strip(all);
    }
    void define_strip(const std::string& end) {
        writer_.line("const Range " + strip_ + " = strip_of(" + first_ + ", " + at_once_ + ", " +
                     end + ");");
    }
    void close_strips() {
        writer_.close();
        if (rows_.sums.empty()) return;
        copy_parts(kernel_, rows_.sums, stack_size_, extent_of_lane(), values_, writer_);
        writer_.close();
    }

    /// Scalars that are the same for all rows of a strip.
    void write_uniform() {
        std::vector<Id> uniform;
        for (Id id : passes_.scalars[0])
            if (!values_.per_row.contains(id)) uniform.push_back(id);
        values_.define_shared(uniform, {}, std::set<Id>(uniform.begin(), uniform.end()));
    }

    void write_phase(std::size_t index) {
        const Pass& pass = passes_.passes[index];
        writer_.open("for_row_groups(" + strip_ + ", " + extent_of_lane() + ", [&](i64 " +
                     signature_.axis(values_.place.grouped) + ", auto " + group_ +
                     ") FOVEA_LAMBDA");
        std::vector<Id> vectors = pass.values;
        vectors.insert(vectors.end(), pass.stores.begin(), pass.stores.end());
        values_.define_rows(vectors);
        std::vector<Id> known = write_earlier(index);
        const auto add = [&](const std::vector<Id>& ids) {
            known.insert(known.end(), ids.begin(), ids.end());
        };
        if (index == 0) add(write_scalars(0, index));
        write_pass(pass);
        add(pass.reduces);
        add(write_scalars(index + 1, index));
        for (Id id : known)
            if (kept_.contains(id) && !earlier_[index].contains(id))
                writer_.line("keep_each(" + kept_[id] + ", " + row_of_strip() + ", " +
                             values_.value(id).text + ");");
        for (Id id : known) values_.forget(id);
        values_.forget_rows();
        writer_.close("});");
    }

    std::vector<Id> write_earlier(std::size_t index) {
        for (Id id : earlier_[index]) {
            if (is_load(id)) {
                values_.define(id);
                continue;
            }
            writer_.line("const auto " + signature_.value(id) + " = kept_each(" + kept_[id] + ", " +
                         row_of_strip() + ", " + group_ + ");");
            values_.define_as(id, signature_.value(id));
        }
        return {earlier_[index].begin(), earlier_[index].end()};
    }

    /// Numbers of rows between passes, and their stores. Returns those that have a name.
    std::vector<Id> write_scalars(std::size_t level, std::size_t phase) {
        std::vector<Id> roots = passes_.scalar_stores[level], scalars;
        std::set<Id> always;
        for (Id id : passes_.scalars[level]) {
            if (as<Reduce>(kernel_, id) || !values_.per_row.contains(id)) continue;
            if (is_load(id) && !is_used(id, phase)) continue;
            scalars.push_back(id);
            if (kept_.contains(id) || is_used_by_pass(kernel_, passes_, id)) always.insert(id);
        }
        std::vector<Id> defined = values_.define_shared(scalars, roots, always);
        for (Id id : roots) values_.write_store(*as<Store>(kernel_, id));
        return defined;
    }
    bool is_used(Id id, std::size_t phase) const {
        const std::vector<std::vector<Id>> nodes = nodes_of_phase(phase);
        return std::any_of(nodes.begin(), nodes.end(),
                           [&](const std::vector<Id>& users) { return reads(kernel_, users, id); });
    }

    void write_pass(const Pass& pass) {
        accumulators_.open(pass);
        if (is_whole(kernel_, lane_)) {
            const std::string& variable = signature_.axis(lane_);
            writer_.open("for (i64 " + variable + " = 0; " + variable + " < " + extent_of_lane() +
                         "; " + variable + " += kLanes)");
        } else {
            writer_.open("for_each_vector(" + extent_of_lane() + ", [&](i64 " +
                         signature_.axis(lane_) + ", auto lanes) FOVEA_LAMBDA");
            values_.place.lanes = "lanes";
        }
        write_lanes(pass);
        const bool masked = !values_.place.lanes.empty();
        values_.place.lanes.clear();
        writer_.close(masked ? "});" : "}");
        accumulators_.close(pass, nullptr);
    }

    /// One vector of each row of the group. Parts of sums over rows are read and written once.
    void write_lanes(const Pass& pass) {
        const std::string mask = values_.place.lanes.empty() ? "" : ", lanes";
        std::map<Id, std::string> parts;
        const auto at = [&](Id id) {
            return rows_.sum_of(id).part + " + " + signature_.axis(lane_);
        };
        for (Id id : pass.sums) {
            parts[id] = signature_.fresh(rows_.sum_of(id).part + "_lanes");
            writer_.line("floats " + parts[id] + " = load(" + at(id) + mask + ");");
        }
        values_.place.row = row_;
        accumulators_.row = row_;
        writer_.open("FOVEA_UNROLL for (i64 " + row_ + " = 0; " + row_ + " < " + group_ +
                     ".rows; ++" + row_ + ")");
        const auto add_to_part = [&](Id id) {
            const Id term = as<Reduce>(kernel_, id)->operand;
            writer_.line(parts.at(id) + " += " + values_.value(term, DType::f32, true).text + ";");
        };
        write_pass_body(
            kernel_, pass, [&](Id id) { return kept_row(id); }, add_to_part, signature_, writer_,
            values_, accumulators_);
        writer_.close();
        values_.place.row.clear();
        for (Id id : pass.sums) writer_.line("store(" + at(id) + ", " + parts[id] + mask + ");");
    }

    std::string kept_row(Id id) const {
        return row_arrays_.at(id) + " + (" + row_of_strip() + " + " + row_ + ") * " + row_size_ +
               " + " + signature_.axis(lane_);
    }

    const Kernel& kernel_;
    const LoopNest& nest_;
    const RowForm& rows_;
    Signature& signature_;
    Writer& writer_;
    const AxisId lane_ = rows_.lane;
    const std::string at_once_ = signature_.fresh("at_once"), first_ = signature_.fresh("first"),
                      strip_ = signature_.fresh("strip"), block_ = signature_.fresh("block"),
                      group_ = signature_.fresh("group"), row_ = signature_.fresh("row");
    Values values_;
    RowAccumulators accumulators_;
    Passes passes_;
    const std::int64_t stack_size_;
    std::vector<std::set<Id>> earlier_;  // by phase: numbers of rows that earlier ones have made
    std::map<Id, std::string> kept_;     // numbers of rows that later phases need, and where
    std::map<Id, std::string> row_arrays_;
    std::string row_size_;
};

}  // namespace

void write_row_groups(const Kernel& kernel, const LoopNest& nest, const RowForm& rows,
                      const target::CpuRows& target, Signature& signature, Writer& writer) {
    RowGroups(kernel, nest, rows, target, signature, writer).run();
}

}  // namespace fovea::emit
