// Expressions of values: conversions between types and between scalars and lanes are made here.
#include "codegen/emit/cpp/values.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/infer_types.h"

namespace fovea::emit {

using namespace kernel;

namespace {

constexpr std::size_t kLongest = 64;  // characters of an expression that still stands inline

Expression call(const std::string& function, const std::string& arguments) {
    return {function + "(" + arguments + ")"};
}

}  // namespace

bool Values::has_axis(Id id, AxisId axis) const {
    const auto& axes = kernel_.nodes[std::size_t(id)].axes;
    return axis >= 0 && std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string Values::variable_type(Id id) const {
    const DType dtype = kernel_.nodes[std::size_t(id)].dtype;
    if (is_of_group(id)) return "auto";
    if (is_vector(id)) return dtype == DType::f32 ? "floats" : "ints";
    return element_type(dtype);
}

Expression Values::value(Id id) {
    if (auto found = known_.find(id); found != known_.end()) return found->second;
    return make(id);
}

Expression Values::value(Id id, DType dtype, bool vector) {
    const DType own = kernel_.nodes[std::size_t(id)].dtype;
    const bool lanes = is_vector(id);
    if (auto number = as<Constant>(kernel_, id); number && !known_.contains(id)) {
        const Expression scalar = constant(*number, dtype);
        return vector ? call("splat", scalar.text) : scalar;
    }
    Expression result = value(id);
    if (is_of_row(id)) result = call("of_row", result.text + ", " + place.row);
    if (own != dtype) {
        if (own == DType::boolean && lanes)
            result = call(dtype == DType::f32 ? "mask_to_floats" : "mask_to_ints", result.text);
        else if (dtype == DType::boolean)
            result = {result.in(Binding::sum) + " != 0", Binding::comparison};
        else if (dtype == DType::i32 && own == DType::f32) result = call("to_i32", result.text);
        else if (lanes) result = call("to_floats", result.text);
        else result = call(element_type(dtype), result.text);
    }
    if (!vector || lanes) return result;
    return call(dtype == DType::boolean ? "splat_mask" : "splat", result.text);
}

Expression Values::constant(const Constant& constant, DType dtype) const {
    if (dtype == DType::f32) return spell_float(constant.value);
    if (dtype == DType::i32) return spell_integer(constant.value);
    return {constant.value != 0 ? "true" : "false"};
}

Expression Values::make(Id id) {
    const Node& node = kernel_.nodes[std::size_t(id)];
    if (auto number = as<Constant>(kernel_, id)) return constant(*number, node.dtype);
    if (auto extent = as<Extent>(kernel_, id); extent && extent->dim.is_static())
        return constant({double(extent->dim.value())}, node.dtype);
    if (auto extent = as<Extent>(kernel_, id))
        return call(element_type(node.dtype), spell(extent->dim).text);
    if (auto index = as<Index>(kernel_, id))
        return call(is_vector(id) ? "iota" : "i32", signature_.axis(index->axis));
    if (auto load = as<Load>(kernel_, id)) return make_load(id, *load);
    if (auto map = as<Map>(kernel_, id)) return make_map(id, *map);
    if (auto random = as<Random>(kernel_, id)) return make_random(id, *random);
    throw InternalError("kernel " + kernel_.name + ": node " + std::to_string(id) +
                        " is used before it is written");
}

Expression Values::make_map(Id id, const Map& map) {
    const DType type = operand_dtype(kernel_, map);
    const bool vector = is_vector(id);
    const bool logic = row_of(map.function).takes == Takes::booleans;
    const bool has_lanes = std::any_of(map.operands.begin(), map.operands.end(), [&](Id operand) {
        return is_vector(operand) && !as<Constant>(kernel_, operand);
    });
    const bool divides = map.function == Elementwise::div && type == DType::i32;
    std::vector<Expression> operands;
    for (std::size_t i = 0; i < map.operands.size(); ++i) {
        const Id operand = map.operands[i];
        const bool condition = map.function == Elementwise::where && i == 0;
        // Operators take a scalar beside lanes; functions and masks do not.
        const bool mask = logic || type == DType::boolean;
        const bool alone = i == 0 && !has_lanes;
        const bool widen =
            vector && !condition && (!is_operator(map.function) || mask || alone || divides);
        const DType wanted = condition || logic ? DType::boolean : type;
        operands.push_back(value(operand, wanted, widen));
    }
    if (map.function == Elementwise::identity) {
        const Expression same =
            value(map.operands[0], kernel_.nodes[std::size_t(id)].dtype, vector);
        const bool rounds = map.cast_to && is_half(*map.cast_to);
        return rounds ? call("rounded_to_" + std::string(name_of(*map.cast_to)), same.text) : same;
    }
    if (divides) return call("divide_whole", operands[0].text + ", " + operands[1].text);
    return spell(map.function, operands, vector);
}

Expression Values::position(const std::vector<Stride>& strides) {
    Expression result{"0"};
    for (const Stride& stride : strides) {
        result = result + offset_along(stride);
        if (stride.axis == place.grouped && !place.row.empty())
            result = result + Expression{place.row} * spell(stride.stride);
    }
    return result;
}

Expression Values::make_random(Id id, const Random& random) {
    std::string arguments = "key, " + site_name(kernel_, random) + ", " +
                            spell_float(random.probability).text + ", " +
                            position(random.row).text + ", " + position(random.column).text;
    if (!is_vector(id)) return call("dropout", arguments);
    const auto step = [&](const std::vector<Stride>& strides) {
        for (const Stride& stride : strides)
            if (stride.axis == place.lane) return spell(stride.stride).text;
        return std::string("0");
    };
    return call("dropout_lanes", arguments + ", " + step(random.row) + ", " + step(random.column));
}

std::vector<Id> Values::define_shared(const std::vector<Id>& nodes, const std::vector<Id>& roots,
                                      const std::set<Id>& always) {
    std::map<Id, int> uses;
    for (const std::vector<Id>* group : {&nodes, &roots})
        for (Id id : *group)
            for (Id operand : operands_of(kernel_, id)) ++uses[operand];
    std::vector<Id> defined;
    for (Id id : nodes) {
        if (is_known(id) || as<Constant>(kernel_, id)) continue;
        if (as<Extent>(kernel_, id) || as<Index>(kernel_, id)) continue;
        const bool named = !kernel_.nodes[std::size_t(id)].name.empty();
        const bool is_long = value(id).text.size() > kLongest;
        if (uses[id] < 2 && !named && !is_long && !always.contains(id)) continue;
        define(id);
        defined.push_back(id);
    }
    return defined;
}

void Values::define(Id id) {
    const std::string& name = signature_.value(id);
    writer_.line("const " + variable_type(id) + " " + name + " = " + value(id).text + ";");
    known_[id] = {name};
}

}  // namespace fovea::emit
