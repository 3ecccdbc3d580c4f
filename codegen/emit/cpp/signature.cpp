// Chooses names so that none hides another, and writes a kernel's first lines.
#include "codegen/emit/cpp/signature.h"

#include <algorithm>
#include <cctype>

#include "codegen/base/text.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {
namespace {

using namespace kernel;

/// What values must not be called: names of the runtime and of the emitted skeletons, keywords.
constexpr const char* kReserved[] = {
    "load",     "store",     "select",   "splat",    "iota",   "maximum",  "minimum",
    "exp2",     "log2",      "exp",      "log",      "sqrt",   "rsqrt",    "tanh",
    "sigmoid",  "relu",      "erf",      "sin",      "cos",    "pow",      "abs",
    "keep",     "lanes",     "panel",    "sum",      "max",    "dropout",  "fixed",
    "contract", "transpose", "scratch",  "floats",   "ints",   "words",    "bytes",
    "halves",   "float",     "int",      "bool",     "double", "long",     "short",
    "char",     "auto",      "const",    "new",      "delete", "this",     "for",
    "if",       "else",      "do",       "while",    "return", "switch",   "case",
    "default",  "break",     "class",    "struct",   "union",  "enum",     "template",
    "typename", "namespace", "using",    "operator", "and",    "or",       "not",
    "true",     "false",     "across",   "register", "signed", "unsigned", "void",
    "static",   "inline",    "public",   "private",  "try",    "catch",    "throw",
    "sizeof",   "goto",      "continue", "export",   "extern", "i64",      "i32",
    "bf16",     "floats8",   "load8",    "splat8",   "narrow", "widen",    "to_float",
    "to_bf16"};
constexpr const char* kReservedFunctions[] = {"exp_exponent",   "exp_significand", "tanh_of_exp",
                                              "sigmoid_of_exp", "joint_sums",      "with_tiles",
                                              "count_in_tile",  "row_width"};

void add_symbols(std::set<std::string>& symbols, const Dim& dim) {
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        for (Symbol symbol : term.symbols) {
            if (!symbol) continue;
            Text name;
            name << symbol;
            symbols.insert(std::string(name.view()));
        }
    }
}

void add_symbols(std::set<std::string>& symbols, const std::vector<Stride>& strides) {
    for (const Stride& stride : strides) add_symbols(symbols, stride.stride);
}

void add_symbols(std::set<std::string>& symbols, const Access& access) {
    add_symbols(symbols, access.strides);
    add_symbols(symbols, access.offset);
    if (access.row >= 0) add_symbols(symbols, access.row_stride);
}

void add_symbols(std::set<std::string>& symbols, const StepArgument& argument) {
    for (const Dim& dim : {argument.offset, argument.step, argument.row}) add_symbols(symbols, dim);
}

void add_symbols(std::set<std::string>& symbols, const Steps& steps) {
    add_symbols(symbols, steps.count);
    for (const Kernel& kernel : steps.kernels)
        for (const std::string& symbol : symbols_of(kernel)) symbols.insert(symbol);
    for (const StepCall& call : steps.calls)
        for (const StepArgument& argument : call.arguments) add_symbols(symbols, argument);
    for (const StepStart& start : steps.starts) {
        add_symbols(symbols, start.from), add_symbols(symbols, start.to);
        add_symbols(symbols, start.size);
    }
    if (steps.rows) {
        Text rows;
        rows << steps.rows;
        symbols.insert(std::string(rows.view()));
    }
}

}  // namespace

bool mentions(const std::string& text, const std::string& name) {
    const auto in_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    if (name.empty()) return false;
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        const bool starts = at == 0 || !in_word(text[at - 1]);
        const std::size_t end = at + name.size();
        if (starts && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

std::string identifier(std::string_view name) {
    std::string result;
    for (char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])))
        result = "_" + result;
    return result;
}

bool is_reserved(const std::string& name) {
    const auto is_among = [&](const auto& names) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    return is_among(kReserved) || is_among(kReservedFunctions);
}

std::string element_type(DType dtype) {
    switch (dtype) {
        case DType::f32: return "float";
        case DType::bf16: return "bf16";
        case DType::i32: return "i32";
        case DType::boolean: return "bool";
    }
    return "?";
}

std::vector<std::string> symbols_of(const Kernel& kernel) {
    std::set<std::string> symbols;
    for (const Axis& axis : kernel.axes) add_symbols(symbols, axis.extent);
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (auto extent = as<Extent>(kernel, id)) add_symbols(symbols, extent->dim);
        if (auto load = as<Load>(kernel, id)) add_symbols(symbols, load->access);
        if (auto store = as<Store>(kernel, id)) add_symbols(symbols, store->access);
        if (auto random = as<Random>(kernel, id)) {
            add_symbols(symbols, random->row);
            add_symbols(symbols, random->column);
        }
    }
    if (kernel.steps) add_symbols(symbols, *kernel.steps);
    return {symbols.begin(), symbols.end()};
}

bool draws(const Kernel& kernel) {
    return std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [](const Node& node) {
        return std::holds_alternative<Random>(node.operation);
    });
}

std::string shape_text(const std::vector<Dim>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + text_of(shape[i]);
    return text + "]";
}

Signature::Signature(const Kernel& kernel) : kernel_(kernel), symbols_(symbols_of(kernel)) {
    taken_.insert(std::begin(kReserved), std::end(kReserved));
    taken_.insert(std::begin(kReservedFunctions), std::end(kReservedFunctions));
    taken_.insert(symbols_.begin(), symbols_.end());
    if (draws(kernel)) taken_.insert("key");
    for (const Buffer& buffer : kernel.buffers) buffers_.push_back(fresh(identifier(buffer.name)));
    for (const Axis& axis : kernel.axes) {
        const std::string name = identifier(axis.name);
        const bool is_letter = name.size() <= 2 && !taken_.contains(name);
        if (axis.extent.is_static() && !is_letter) {
            extents_.push_back({fresh(name)});
            constants_.emplace_back(extents_.back().text, spell(axis.extent).text);
        } else {
            extents_.push_back(spell(axis.extent));
        }
        axes_.push_back(fresh(is_letter ? name : name + "_i"));
    }
    for (const std::string& name : value_names(kernel))
        values_.push_back(name.empty() ? name : fresh(identifier(name)));
}

std::string Signature::fresh(std::string wanted) {
    if (taken_.insert(wanted).second) return wanted;
    for (int i = 2;; ++i)
        if (taken_.insert(wanted + "_" + std::to_string(i)).second)
            return wanted + "_" + std::to_string(i);
}

void Signature::write_head(Writer& writer, const std::string& body) const {
    if (!kernel_.formula.empty()) writer.line("// " + kernel_.formula);
    std::string sources;
    for (const std::string& source : kernel_.sources)
        sources += (sources.empty() ? "" : ", ") + source;
    if (!sources.empty()) writer.line("// " + sources);
    writer.line("void " + identifier(kernel_.name) + "(");
    writer.indent();
    std::vector<std::pair<std::string, std::string>> parameters;
    std::size_t widest = 0;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Buffer& buffer = kernel_.buffers[i];
        parameters.emplace_back(
            (buffer.written ? "" : "const ") + element_type(buffer.dtype) + "* " + buffers_[i],
            shape_text(buffer.shape));
        widest = std::max(widest, parameters.back().first.size());
    }
    std::string rest;
    for (const std::string& symbol : symbols_) rest += (rest.empty() ? "i64 " : ", i64 ") + symbol;
    if (draws(kernel_)) rest += (rest.empty() ? "" : ", ") + std::string("const DropoutKey& key");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const bool last = i + 1 == parameters.size() && rest.empty();
        std::string text = parameters[i].first + (last ? ") {" : ",");
        text += std::string(widest + 4 - std::min(widest + 3, text.size()), ' ');
        writer.pragma(text + "// " + parameters[i].second);
    }
    if (!rest.empty() || parameters.empty()) writer.line(rest + ") {");
    for (const auto& [name, value] : constants_)
        if (mentions(body, name)) writer.line("constexpr i64 " + name + " = " + value + ";");
}

}  // namespace fovea::emit
