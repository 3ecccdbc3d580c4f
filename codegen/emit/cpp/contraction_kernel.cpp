// Contractions: which operand's axis lies in the lanes, the panels, and the epilogue.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/contraction_epilogue.h"
#include "codegen/emit/cpp/quantized_rows.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/kernel/schedule.h"

namespace fovea::emit {

using namespace kernel;

namespace {

class ContractionKernel {
  public:
    ContractionKernel(const Kernel& kernel, const LoopNest& nest, const target::Target& target,
                      Signature& signature, Writer& writer)
        : kernel_(kernel),
          nest_(nest),
          signature_(signature),
          outside_(writer),
          writer_(writer.depth() + 1),
          values_(kernel, signature, writer_),
          contract_(*as<Contract>(kernel, nest.contract)),
          schedule_(contraction_schedule(kernel, target)),
          small_floats_(target.cpu.contraction.small_floats) {
        points_ = nest.each;
        points_.insert(points_.end(), schedule_.points.begin(), schedule_.points.end());
        if (contract_.blocks >= 0) block_ = signature.fresh("rows");
        if (schedule_.is_stored) rows_ = signature.fresh("rows");
        if (!nest.before.empty()) panel_ = signature.fresh("part");
        for (Id id : nest.before) {
            const ContractionRoles roles = contraction_roles(kernel, id);
            if (roles.rows != schedule_.rows || roles.columns != schedule_.columns ||
                roles.points != schedule_.points || roles.columns < 0)
                throw InternalError("kernel " + kernel.name + ": its products lie otherwise");
            before_.push_back({id, roles, signature.fresh(signature.value(id) + "_sums")});
        }
    }

    void run() {
        const std::string tile = "<" + std::to_string(schedule_.tile_rows) + ", " +
                                 std::to_string(schedule_.tile_vectors) + ">";
        values_.place = {schedule_.columns, is_whole() ? "" : "lanes", contract_.axes};
        if (schedule_.rows >= 0) values_.place.moving.push_back(schedule_.rows);
        if (schedule_.columns >= 0) values_.place.moving.push_back(schedule_.columns);
        define_outside();
        if (schedule_.is_stored) write_rows_of_numbers();
        if (!before_.empty())
            writer_.open("for (const Panel " + panel_ + " : SomeRows" + tile + "(panel))");
        values_.define_rows(nest_.nodes);
        for (const Before& product : before_) write_before(product, tile);
        write_epilogue();
        if (is_along()) return write_along();
        write_call(tile, schedule_, contract_, written_once_ ? "Once{" + finish_ + "}" : finish_);
        if (!before_.empty()) writer_.close();
        outside_.open("for (const Panel panel : Panels" + tile + "(" + points_extent().text + ", " +
                      extent(schedule_.rows).text + ", " + extent(schedule_.columns).text +
                      blocks() + "))");
        define_points("panel.point");
        if (contract_.blocks >= 0)
            outside_.line("const Range " + block_ + " = block_of(" +
                          signature_.extent(contract_.axes[0]).text + ", " +
                          signature_.axis(contract_.blocks) + ", " +
                          signature_.extent(contract_.blocks).text + ");");
        outside_.append(writer_);
        outside_.close();
    }

  private:
    DType dtype_of(Id load) const {
        return kernel_.buffers[std::size_t(as<Load>(kernel_, load)->access.buffer)].dtype;
    }
    bool is_along() const { return schedule_.reading == Reading::along; }
    bool is_in_place() const { return schedule_.reading == Reading::in_place; }
    /// The operands and the epilogue of each point, for a call that goes over all of them.
    void write_along() {
        const std::string point = signature_.fresh("point"), use = signature_.fresh("use");
        const std::string points = points_text(point);
        outside_.open("const auto with_point = [&](i64" + (points.empty() ? "" : " " + point) +
                      ", const auto& " + use + ") FOVEA_LAMBDA");
        if (!points.empty()) outside_.line(points);
        writer_.line(use + "(" + operand(schedule_.a, schedule_.rows) + ", " +
                     operand(schedule_.b, schedule_.columns) + ", finish);");
        outside_.append(writer_);
        outside_.close("};");
        outside_.line("contract_along<" + std::to_string(schedule_.tile_columns) + ">(" +
                      points_extent().text + ", " + size(schedule_.rows) + ", " +
                      extent(schedule_.columns).text + ", with_point" + sums(schedule_, contract_) +
                      ");");
    }
    bool takes_halves() const { return is_half(contract_.factors); }
    bool takes_pairs() const { return contract_.factors == Factors::bf16; }
    /// Whether the rows of a lie side by side, and its steps do not.
    bool may_pack_rows() const {
        return contract_.axes.size() == 1 && schedule_.rows >= 0 &&
               !stride(schedule_.a, contract_.axes[0]).is_one() &&
               stride(schedule_.a, schedule_.rows).is_one();
    }
    /// Blocks of rows (see Panels): of packed ones where the rows of a lie side by side, for pairs
    /// wherever a step's neighbour is not the next element, and of halves that are widened; else,
    /// where b lies in panels, of what a cache holds. Of a small b all rows, which threads share.
    std::string blocks() const {
        if (schedule_.rows < 0 || is_in_place()) return "";
        const auto& axes = contract_.axes;
        const bool is_along = axes.size() == 1 && stride(schedule_.a, axes[0]).is_one();
        const bool packs = takes_pairs() ? !is_along || dtype_of(schedule_.a) != DType::bf16
                                         : takes_halves() || may_pack_rows();
        const bool blocked = packs || schedule_.in_panels || schedule_.is_stored;
        Expression steps{"1"};
        if (!blocked && !takes_pairs() && !is_small()) return "";
        for (AxisId axis : axes) steps = steps * signature_.extent(axis);
        return ", " + steps.text +
               (packs                                    ? ", kPackedFloats"
                : !blocked && is_small()                 ? ", kAllRows"
                : !blocked                               ? ", kWidenedFloats"
                : schedule_.in_panels && !takes_halves() ? ", cached_floats(" + steps.text + ")"
                                                         : ", kCachedFloats");
    }

    /// Whether b has several panels and is of known sizes that a cache holds, as those of a chunk.
    bool is_small() const {
        if (schedule_.columns < 0 || !points_.empty()) return false;
        const Axis& columns = kernel_.axes[std::size_t(schedule_.columns)];
        Dim size = columns.most > 0 ? Dim(columns.most) : columns.extent;
        if (!size.is_static() || size.value() <= target::kLanes * schedule_.tile_vectors)
            return false;
        for (AxisId axis : contract_.axes) size = size * kernel_.axes[std::size_t(axis)].extent;
        return size.is_static() && (columns.most > 0 || size.value() <= small_floats_);
    }

    Expression extent(AxisId axis) const {
        return axis < 0 ? Expression{"1"} : signature_.extent(axis);
    }

    Expression points_extent() const {
        Expression product{"1"};
        for (AxisId axis : points_) product = product * signature_.extent(axis);
        return product;
    }

    /// Whether no vector of the product is cut by the end of a row.
    bool is_whole() const {
        if (schedule_.columns < 0 || is_along()) return false;
        const Dim& columns = kernel_.axes[std::size_t(schedule_.columns)].extent;
        return columns.is_static() && columns.value() % target::kLanes == 0;
    }

    /// `const i64 b = panel.point / heads, h = panel.point % heads;`, of what `point` is.
    void define_points(const std::string& point) {
        const std::string text = points_text(point);
        if (!text.empty()) outside_.line(text);
    }
    std::string points_text(const std::string& point) const {
        std::string text;
        Expression inner{"1"};
        for (std::size_t i = points_.size(); i-- > 0;) {
            Expression at{point};
            if (inner.text != "1")
                at = {point + " / " + inner.in(Binding::unary), Binding::product};
            if (i > 0)
                at = {at.text + " % " + signature_.extent(points_[i]).in(Binding::unary),
                      Binding::product};
            inner = inner * signature_.extent(points_[i]);
            const std::string& name = signature_.axis(points_[i]);
            if (mentions(writer_.text(), name))
                text = name + " = " + at.text + (text.empty() ? "" : ", ") + text;
        }
        return text.empty() ? text : "const i64 " + text + ";";
    }

    bool is_product(Id id) const {
        return id == nest_.contract || std::ranges::find(nest_.before, id) != nest_.before.end();
    }
    bool in_epilogue(Id id) const {
        if (is_product(id) || id == contract_.a || id == contract_.b) return false;
        return std::ranges::none_of(nest_.before, [&](Id product) {
            const Contract& contract = *as<Contract>(kernel_, product);
            return id == contract.a || id == contract.b;
        });
    }

    /// Values that are the same in the whole panel.
    void define_outside() {
        for (Id id : nest_.nodes) {
            if (as<Store>(kernel_, id) || !in_epilogue(id) || as<Constant>(kernel_, id)) continue;
            if (as<Extent>(kernel_, id) || as<Index>(kernel_, id)) continue;
            if (kernel_.nodes[std::size_t(id)].axes.empty() && !after_product(id))
                values_.define(id);
        }
    }

    bool after_product(Id id) const {
        if (is_product(id)) return true;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::any_of(operands.begin(), operands.end(),
                           [&](Id operand) { return after_product(operand); });
    }

    /// What gets 16 elements of the product at a time: StoreProduct, where kernels share the code
    /// that does, or a lambda.
    void write_epilogue() {
        const std::string product = signature_.value(nest_.contract);
        values_.define_as(nest_.contract, schedule_.columns < 0 ? product + "[0]" : product);
        ContractionEpilogue epilogue{kernel_, schedule_, nest_.contract, {}, {}};
        for (Id id : nest_.nodes) {
            if (!in_epilogue(id)) continue;
            (as<Store>(kernel_, id) ? epilogue.stores : epilogue.nodes).push_back(id);
        }
        if (before_.empty() && !takes_halves() && may_pack_rows() && epilogue.only_stores()) {
            const Access& access = as<Store>(kernel_, epilogue.stores[0])->access;
            return writer_.line("const StoreProduct finish{" + values_.start_of_row(access) + ", " +
                                spell(stride_of(access, schedule_.rows)).text + "};");
        }
        if (const Id added = epilogue.added_to(); added >= 0 && !takes_halves()) {
            const Access& access = as<Store>(kernel_, epilogue.stores[0])->access;
            return writer_.line("const AddProduct finish{" + values_.start_of_row(access) + ", " +
                                values_.start_of_row(as<Load>(kernel_, added)->access) + ", " +
                                spell(stride_of(access, schedule_.rows)).text + "};");
        }
        const Writer before = writer_;
        writer_ = Writer(before.depth() + 1);
        for (const Before& it : before_) define_before(it);
        values_.define_shared(epilogue.nodes, epilogue.stores);
        for (Id id : epilogue.stores) values_.write_store(*as<Store>(kernel_, id));
        const Writer body = writer_;
        writer_ = before;
        written_once_ = calls_expensive(body.text());
        // Parameters that the epilogue does not use have no name.
        const auto parameter = [&](const char* type, const std::string& name) {
            return std::string(type) + (mentions(body.text(), name) ? " " + name : "");
        };
        const auto axis = [&](AxisId id) { return id < 0 ? std::string() : signature_.axis(id); };
        writer_.line("const auto finish = [&](" + parameter("i64", axis(schedule_.rows)) + ", " +
                     parameter("i64", axis(schedule_.columns)) + ", " +
                     parameter("Lanes", "lanes") + ", " + parameter("floats", product) +
                     ") FOVEA_LAMBDA {");
        writer_.append(body);
        writer_.line("};");
        name_tensors(epilogue);
    }

    /// The epilogue says which tensors it reads and writes: tiles fetch their lines.
    void name_tensors(const ContractionEpilogue& epilogue) {
        std::string tensors;
        for (const Access& access : epilogue.tensors())
            tensors += ", rows_of(" + values_.start_of_row(access) + ", " +
                       spell(stride_of(access, schedule_.rows)).text + ")";
        if (!tensors.empty()) finish_ = "beside(finish" + tensors + ")";
    }

    /// A product before the last: its sums of some rows are kept for the epilogue of that one.
    struct Before {
        Id id;
        ContractionRoles roles;
        std::string sums;
    };
    void write_before(const Before& product, const std::string& tile) {
        writer_.line("KeptSums" + tile + " " + product.sums + "(" + panel_ + ");");
        write_call(tile, product.roles, *as<Contract>(kernel_, product.id), product.sums);
    }
    void define_before(const Before& product) {
        const auto axis = [&](AxisId id) {
            return id < 0 ? std::string("0") : signature_.axis(id);
        };
        const std::string name = signature_.value(product.id);
        writer_.line("const floats " + name + " = " + product.sums + ".at(" + axis(schedule_.rows) +
                     ", " + axis(schedule_.columns) + ");");
        values_.define_as(product.id, name);
    }

    /// The rows of a, which all products of the panel read.
    void write_rows_of_numbers() {
        const std::string start = values_.start(as<Load>(kernel_, schedule_.a)->access).text;
        writer_.line("auto " + rows_ + " = " +
                     quantized_rows_text(kernel_, contract_, schedule_, start) + ";");
        writer_.line(rows_ + ".take(panel);");
    }

    void write_call(const std::string& tile, const ContractionRoles& roles,
                    const Contract& contract, const std::string& finish) {
        if (schedule_.is_stored)
            return writer_.line("contract_quantized<" + std::to_string(schedule_.tile_rows) + ">(" +
                                panel_ + ", " + rows_ + ", " +
                                values_.start_of_row(as<Load>(kernel_, roles.b)->access) + ", " +
                                finish + ");");
        const std::string function = takes_pairs()    ? "contract_bfloat16"
                                     : takes_halves() ? "contract_float16"
                                     : is_in_place()  ? "contract_in_place"
                                                      : "contract";
        const std::string rows = is_in_place() ? size(roles.rows) + ", " : "";
        writer_.line(function + tile + "(" + panel_ + ", " + rows + size(roles.columns) + ", " +
                     operand(roles.a, roles.rows) + ", " + operand(roles.b, roles.columns) + ", " +
                     finish + sums(roles, contract) + ");");
    }

    std::string size(AxisId axis) const {
        return axis < 0 ? "fixed<1>" : known(kernel_.axes[std::size_t(axis)].extent);
    }

    static std::string known(const Dim& dim) {
        return dim.is_static() ? "fixed<" + spell(dim).text + ">" : spell(dim).text;
    }

    static Dim stride_of(const Access& access, AxisId axis) {
        return axis < 0 ? Dim(1) : stride_along(access.strides, axis);
    }
    Dim stride(Id load, AxisId axis) const {
        return stride_of(as<Load>(kernel_, load)->access, axis);
    }

    /// Where an operand starts: at its first position, or at its block's.
    std::string start_of(Id load) {
        std::string start = values_.start_of_row(as<Load>(kernel_, load)->access);
        if (contract_.blocks < 0) return start;
        const Expression first{block_ + ".begin"};
        return start + " + " + (first * spell(stride(load, contract_.axes[0]))).text;
    }

    std::string operand(Id load, AxisId axis) {
        const Access& access = as<Load>(kernel_, load)->access;
        for (const Stride& stride : access.strides)
            if (stride.axis == axis && stride.panel)
                return (takes_pairs()    ? "PairPanels<"
                        : takes_halves() ? "HalfPanels<"
                                         : "PanelOperand<") +
                       std::to_string(stride.panel) + ">{" + start_of(load) + ", " +
                       spell(stride.stride).text + "}";
        return (takes_halves() ? "HalfOperand{" : "Operand{") + start_of(load) + ", " +
               known(stride(load, axis)) + "}";
    }

    std::string count_of(AxisId axis) const {
        if (contract_.blocks >= 0) return block_ + ".end - " + block_ + ".begin";
        return known(kernel_.axes[std::size_t(axis)].extent);
    }

    std::string sums(const ContractionRoles& roles, const Contract& contract) const {
        std::string text;
        for (AxisId axis : contract.axes)
            text += ", Sum{" + count_of(axis) + ", " + known(stride(roles.a, axis)) + ", " +
                    known(stride(roles.b, axis)) + "}";
        return text;
    }

    const Kernel& kernel_;
    const LoopNest& nest_;
    Signature& signature_;
    Writer& outside_;
    Writer writer_;  // the loop over panels
    Values values_;
    const Contract& contract_;
    ContractionSchedule schedule_;
    std::int64_t small_floats_;
    std::vector<Before> before_;
    std::string rows_;  // of a, for a weight of whole numbers
    std::string panel_ = "panel";  // the rows and columns that are computed at a time
    std::vector<AxisId> points_;
    std::string finish_ = "finish";  // what gets the sums
    bool written_once_ = false;  // the epilogue has functions of many instructions
    std::string block_;  // the positions that the panel's point takes, where it takes a block
};

}  // namespace

void write_contraction_kernel(const Kernel& kernel, const LoopNest& nest,
                              const target::Target& target, Signature& signature, Writer& writer) {
    ContractionKernel(kernel, nest, target, signature, writer).run();
}

}  // namespace fovea::emit
