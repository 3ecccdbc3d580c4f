#include "codegen/emit/cpp/rows/row_accumulators.h"

#include "codegen/kernel/analysis/maximum_of_softmax.h"

namespace fovea::emit {

using namespace kernel;

const std::string& RowAccumulators::accumulator(Id id) {
    std::string& name = accumulators_[id];
    if (name.empty()) {
        const bool across = values_.has_axis(as<Reduce>(kernel_, id)->operand, lane);
        name = across ? signature_.fresh(signature_.value(id) + "_lanes") : signature_.value(id);
    }
    return name;
}

void RowAccumulators::open(const Pass& pass) {
    for (Id id : pass.reduces) {
        const Reduce& reduce = *as<Reduce>(kernel_, id);
        const bool vector = values_.is_vector(reduce.operand);
        const bool floats = kernel_.nodes[std::size_t(id)].dtype == DType::f32;
        const std::string type = vector ? (floats ? "floats" : "ints") : floats ? "float" : "i32";
        const std::string lowest = floats ? "kLowest" : "kLowestInteger";
        if (!group.empty()) {
            const bool sums = reduce.reduction == Reduction::sum;
            writer_.line("auto " + accumulator(id) + " = row_vectors(" + group + ", " +
                         (sums ? "0.0F" : lowest) + ");");
            continue;
        }
        const std::string start = reduce.reduction == Reduction::sum
                                      ? "{}"
                                      : " = " + (vector ? "splat(" + lowest + ")" : lowest);
        writer_.line(type + " " + accumulator(id) + start + ";");
    }
}

void RowAccumulators::add(Id id) {
    const Reduce& reduce = *as<Reduce>(kernel_, id);
    const Node& node = kernel_.nodes[std::size_t(id)];
    const bool vector = values_.is_vector(reduce.operand);
    std::string text = values_.value(reduce.operand, node.dtype, vector).text;
    const bool masked = vector && lane >= 0 && !values_.place.lanes.empty();
    const std::string name = accumulator(id) + (row.empty() ? "" : "[" + row + "]");
    if (reduce.reduction == Reduction::sum) {
        if (masked) text = "keep(" + text + ", lanes)";
        writer_.line(name + " += " + text + ";");
    } else {
        const char* lowest = node.dtype == DType::f32 ? "kLowest" : "kLowestInteger";
        if (masked) text = "keep(" + text + ", lanes, " + lowest + ")";
        const char* function = is_maximum_of_softmax(kernel_, id) ? " = larger(" : " = maximum(";
        writer_.line(name + function + name + ", " + text + ");");
    }
}

std::string RowAccumulators::with_end(Id id, const std::string& seen, const RowEnd& end) {
    const Reduce& reduce = *as<Reduce>(kernel_, id);
    const auto found = end.values.find(reduce.operand);
    if (found == end.values.end() || !values_.has_axis(reduce.operand, lane)) return seen;
    const std::string rest = values_.value(found->second, DType::f32, false).text;
    if (reduce.reduction == Reduction::max)
        return end.seen + " < " + end.extent + " ? maximum(" + seen + ", " + rest + ") : " + seen;
    if (is_zero(kernel_, found->second)) return seen;
    return seen + " + float(" + end.extent + " - " + end.seen + ") * " +
           values_.value(found->second, DType::f32, false).in(Binding::product);
}

void RowAccumulators::close(const Pass& pass, const RowEnd* end) {
    for (Id id : pass.reduces) {
        const bool sum = as<Reduce>(kernel_, id)->reduction == Reduction::sum;
        const std::string& name = accumulator(id);
        if (name != signature_.value(id)) {
            const char* across = sum                                  ? "sum_across("
                                 : is_maximum_of_softmax(kernel_, id) ? "larger_across("
                                                                      : "max_across(";
            std::string text = across + name + ")";
            if (end) text = with_end(id, text, *end);
            const std::string type =
                group.empty() ? element_type(kernel_.nodes[std::size_t(id)].dtype) : "auto";
            writer_.line("const " + type + " " + signature_.value(id) + " = " + text + ";");
        }
        values_.define_as(id, signature_.value(id));
    }
}

}  // namespace fovea::emit
