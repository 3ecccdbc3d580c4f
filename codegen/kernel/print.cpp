// Kernels as text, for people and golden tests.
#include "codegen/kernel/print.h"

#include <cstdio>
#include <map>
#include <set>

#include "codegen/base/text.h"

namespace fovea::kernel {
namespace {

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

class Printer {
  public:
    explicit Printer(const Kernel& kernel) : kernel_(kernel), names_(value_names(kernel)) {}

    std::string run() {
        text_ = kernel_.name + "(" + buffers(false) + ") -> " + buffers(true) + "\n";
        if (!kernel_.formula.empty()) text_ += "  # " + kernel_.formula + "\n";
        block(kernel_.body, 1);
        if (kernel_.steps) steps(*kernel_.steps);
        return std::move(text_);
    }

  private:
    void steps(const Steps& steps) {
        Text rows;
        if (steps.rows) rows << ", threads share " << steps.rows;
        if (steps.chunk) rows << ", " << steps.chunk << " at a time: " << steps.positions;
        text_ += "  for each of " + text_of(steps.count) + (steps.chunk ? " positions" : " steps") +
                 (steps.reverse ? ", the last first" : "") + std::string(rows.view()) + "\n";
        for (const StepStart& start : steps.starts)
            if (start.from.buffer < 0)
                text_ += "    " + kernel_.buffers[std::size_t(start.to.buffer)].name + " = 0\n";
        for (const StepCall& call : steps.calls) {
            const Kernel& called = steps.kernels[std::size_t(call.kernel)];
            std::string arguments;
            for (const StepArgument& argument : call.arguments) {
                arguments += (arguments.empty() ? "" : ", ") +
                             kernel_.buffers[std::size_t(argument.buffer)].name;
                if (!(argument.offset == Dim(0))) arguments += "+" + text_of(argument.offset);
                if (!(argument.step == Dim(0))) arguments += "+step*" + text_of(argument.step);
            }
            text_ += "    " + called.name + "(" + arguments + ")\n";
        }
        for (const Kernel& kernel : steps.kernels) text_ += "  " + print(kernel);
    }
    std::string buffers(bool written) const {
        std::string result;
        for (const Buffer& buffer : kernel_.buffers) {
            if (buffer.written != written) continue;
            if (!result.empty()) result += ", ";
            result +=
                buffer.name + " " +
                (buffer.storage ? text_of(buffer.storage) : std::string(name_of(buffer.dtype))) +
                "[";
            for (std::size_t i = 0; i < buffer.shape.size(); ++i)
                result += (i ? ", " : "") + text_of(buffer.shape[i]);
            result += buffer.optional ? "] or none" : "]";
        }
        return result;
    }

    void block(const std::vector<Id>& ids, int depth) {
        const std::string indent(std::size_t(2 * depth), ' ');
        for (Id id : ids) {
            if (auto loop = as<Loop>(kernel_, id)) {
                static constexpr const char* kKinds[]{"each", "par", "seq", "tiles"};
                const Axis& axis = kernel_.axes[std::size_t(loop->axis)];
                text_ += indent + kKinds[int(loop->kind)] + " " +
                         (loop->lower < 0 ? "" : name(loop->lower) + " <= ") + axis.name + " < " +
                         (loop->upper < 0 ? text_of(axis.extent) : name(loop->upper)) +
                         carries(*loop, " carry ", &Carry::initial) + "\n";
                block(loop->body, depth + 1);
                if (!loop->carries.empty())
                    text_ += indent + " " + carries(*loop, " next ", &Carry::next) + "\n";
            } else if (!as<Carried>(kernel_, id) && !as<Result>(kernel_, id)) {
                text_ += indent + line(id) + "\n";
            }
        }
    }

    /// ` carry m = lowest, l = zero`: the carried values, each with one of its other parts.
    std::string carries(const Loop& loop, const char* word, Id Carry::* part) const {
        std::string text;
        for (const Carry& carry : loop.carries)
            text += (text.empty() ? word : ", ") + name(carry.argument) + " = " + name(carry.*part);
        return text;
    }

    std::string line(Id id) const {
        if (auto store = as<Store>(kernel_, id))
            return access(store->access) + (store->accumulate ? " += " : " = ") +
                   name(store->value);
        const Node& node = kernel_.nodes[std::size_t(id)];
        std::string head = name(id);
        if (!node.axes.empty()) head += "{" + axes(node.axes) + "}";
        if (node.dtype != DType::f32) head += " " + std::string(name_of(node.dtype));
        return head + " = " + value(id);
    }

    std::string value(Id id) const {
        if (auto constant = as<Constant>(kernel_, id)) return number(constant->value);
        if (auto valid = as<Valid>(kernel_, id)) return "valid " + axis(valid->axis);
        if (auto extent = as<Extent>(kernel_, id)) return "extent " + text_of(extent->dim);
        if (auto index = as<Index>(kernel_, id)) return "index " + axis(index->axis);
        if (auto load = as<Load>(kernel_, id)) return access(load->access);
        if (auto map = as<Map>(kernel_, id))
            return std::string(row_of(map->function).name) + "(" + list(map->operands) + ")";
        if (auto random = as<Random>(kernel_, id))
            return "random site " + std::to_string(random->site) + " p " +
                   number(random->probability) + " row [" + sum(random->row, Dim(0)) +
                   "] column [" + sum(random->column, Dim(0)) + "]";
        if (auto reduce = as<Reduce>(kernel_, id))
            return std::string(reduce->reduction == Reduction::sum ? "sum" : "max") + "<" +
                   axes(reduce->axes) + ">(" + name(reduce->operand) + ")" + by(reduce->blocks);
        if (auto contract = as<Contract>(kernel_, id))
            return "contract" + factors(contract->factors) + "<" + axes(contract->axes) + ">(" +
                   name(contract->a) + ", " + name(contract->b) + ")" + by(contract->blocks);
        return "?";
    }

    std::string by(AxisId blocks) const { return blocks < 0 ? "" : " by " + axes({blocks}); }
    static std::string factors(Factors factors) {
        return factors == Factors::tf32 ? "_tf32"
               : is_half(factors)       ? "_" + std::string(name_of(dtype_of(factors)))
                                        : "";
    }
    std::string access(const Access& access) const {
        std::string inside = sum(access.strides, access.offset);
        if (access.row >= 0)
            inside = "row " + name(access.row) + " * " + text_of(access.row_stride) +
                     (inside == "0" ? "" : " + " + inside);
        return kernel_.buffers[std::size_t(access.buffer)].name + "[" + inside + "]";
    }

    std::string sum(const std::vector<Stride>& strides, const Dim& offset) const {
        std::string result;
        for (const Stride& stride : strides) {
            if (!result.empty()) result += " + ";
            const std::string panel = std::to_string(stride.panel);
            const std::string times = stride.step > 1 ? "*" + std::to_string(stride.step) : "";
            if (stride.panel) result += axis(stride.axis) + "%" + panel + times + " + ";
            result += axis(stride.axis) + (stride.panel ? "/" + panel : "");
            const std::string step = text_of(stride.stride);
            const bool is_sum = step.find_first_of("+-") != std::string::npos;
            if (!stride.stride.is_one()) result += is_sum ? "*(" + step + ")" : "*" + step;
        }
        if (result.empty()) return text_of(offset);
        return offset == Dim(0) ? result : result + " + " + text_of(offset);
    }

    std::string axes(const std::vector<AxisId>& ids) const {
        std::string result;
        for (AxisId id : ids) result += (result.empty() ? "" : ", ") + axis(id);
        return result;
    }
    std::string list(const std::vector<Id>& ids) const {
        std::string result;
        for (Id id : ids) result += (result.empty() ? "" : ", ") + name(id);
        return result;
    }
    const std::string& axis(AxisId id) const { return kernel_.axes[std::size_t(id)].name; }
    const std::string& name(Id id) const { return names_[std::size_t(id)]; }

    const Kernel& kernel_;
    std::vector<std::string> names_;
    std::string text_;
};

/// What the result of a function is called.
std::string noun(Elementwise function) {
    switch (function) {
        case Elementwise::add: return "total";
        case Elementwise::sub: return "difference";
        case Elementwise::mul: return "scaled";
        case Elementwise::div: return "quotient";
        case Elementwise::where: return "selected";
        case Elementwise::lt:
        case Elementwise::le: return "is_below";
        case Elementwise::eq: return "is_equal";
        case Elementwise::logical_not: return "is_not";
        case Elementwise::logical_and: return "both";
        case Elementwise::logical_or: return "either";
        default: return std::string(row_of(function).name);
    }
}

/// What a node without a name is called, from its operation and the names of its operands.
std::string described(const Kernel& kernel, Id id, const std::vector<std::string>& names) {
    const auto of = [&](Id operand) { return names[std::size_t(operand)]; };
    if (auto constant = as<Constant>(kernel, id)) {
        if (constant->value == 0) return "zero";
        return constant->value == 1 ? "one" : "constant";
    }
    if (as<Extent>(kernel, id)) return "size";
    if (as<Valid>(kernel, id)) return "is_valid";
    if (as<Carried>(kernel, id)) return "carried";
    if (auto index = as<Index>(kernel, id))
        return kernel.axes[std::size_t(index->axis)].name + "_index";
    if (auto load = as<Load>(kernel, id))
        return kernel.buffers[std::size_t(load->access.buffer)].name + "_value";
    if (as<Random>(kernel, id)) return "dropout";
    if (auto reduce = as<Reduce>(kernel, id))
        return (reduce->reduction == Reduction::sum ? "sum_" : "max_") + of(reduce->operand);
    if (as<Contract>(kernel, id)) return "product";
    if (auto map = as<Map>(kernel, id)) {
        std::string function = noun(map->function);
        return map->operands.size() == 1 ? function + "_" + of(map->operands[0]) : function;
    }
    return {};
}

}  // namespace

std::string text_of(const Dim& dim) {
    Text text;
    text << dim.without_label();
    return std::string(text.view());
}

std::string shape_text(const std::vector<Dim>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + text_of(shape[i]);
    return text + "]";
}

std::vector<std::string> value_names(const Kernel& kernel) {
    std::set<std::string> taken;
    for (const Buffer& buffer : kernel.buffers) taken.insert(buffer.name);
    for (const Axis& axis : kernel.axes) taken.insert(axis.name);
    constexpr std::size_t kLongest = 28;
    std::vector<std::string> names(kernel.nodes.size());
    for (Id id = 0; id < Id(names.size()); ++id) {
        const Node& node = kernel.nodes[std::size_t(id)];
        if (as<Store>(kernel, id) || as<Loop>(kernel, id)) continue;
        if (auto result = as<Result>(kernel, id)) {  // the carried value goes on under its name
            const Loop& loop = *as<Loop>(kernel, result->loop);
            names[std::size_t(id)] =
                names[std::size_t(loop.carries[std::size_t(result->number)].argument)];
            continue;
        }
        std::string wanted = node.name.empty() ? described(kernel, id, names) : node.name;
        if (auto map = as<Map>(kernel, id); map && node.name.empty() && wanted.size() > kLongest)
            wanted = noun(map->function);
        std::string name = wanted;
        for (int i = 2; !taken.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
        names[std::size_t(id)] = name;
    }
    return names;
}

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace fovea::kernel
