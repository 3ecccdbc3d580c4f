// Chooses names so that none hides another, and writes a kernel's first lines.
#include "codegen/emit/cpp/signature.h"

#include <algorithm>
#include <cctype>

#include "codegen/kernel/print.h"
#include "runtime/memory/weight_storage.h"

namespace fovea::emit {

using namespace kernel;

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

std::string element_type(DType dtype) {
    switch (dtype) {
        case DType::f32: return "float";
        case DType::bf16:
        case DType::f16: return std::string(name_of(dtype));
        case DType::i32: return "i32";
        case DType::boolean: return "bool";
    }
    return "?";
}

std::int64_t group_in_memory(const Buffer& buffer) {
    return runtime::group_in_memory({buffer.storage.bits, buffer.storage.group},
                                    buffer.shape[1].value());
}

std::string pointer_type(const Buffer& buffer) {
    if (buffer.looked_up) return "TableFloats";
    if (!buffer.storage) return (buffer.written ? "" : "const ") + element_type(buffer.dtype) + "*";
    return "Weights<" + std::to_string(buffer.storage.bits) + ", " +
           std::to_string(group_in_memory(buffer)) + ", " + spell(buffer.shape[1]).text + ">";
}

Signature::Signature(const Kernel& kernel) : kernel_(kernel) {
    for (const std::string& symbol : symbols_of(kernel)) symbols_.push_back(dim_name(symbol));
    taken_.insert(symbols_.begin(), symbols_.end());
    if (draws(kernel)) taken_.insert("key");
    for (std::size_t i = 0; i < sites_of(kernel).size(); ++i) taken_.insert(site_name(i));
    for (const Buffer& buffer : kernel.buffers) buffers_.push_back(fresh(buffer.name));
    for (const Axis& axis : kernel.axes) {
        const std::string name = identifier(axis.name);
        const bool is_letter = name.size() <= 2 && !taken_.contains(name) && !is_reserved(name);
        if (axis.extent.is_static() && !is_letter) {
            extents_.push_back({fresh(name)});
            constants_.emplace_back(extents_.back().text, spell(axis.extent).text);
        } else {
            extents_.push_back(spell(axis.extent));
        }
        axes_.push_back(fresh(is_letter ? name : name + "_i"));
    }
    for (const std::string& name : value_names(kernel))
        values_.push_back(name.empty() ? name : fresh(name));
}

std::string Signature::if_there(int buffer) const {
    return kernel_.buffers[std::size_t(buffer)].optional ? "if (" + this->buffer(buffer) + ") "
                                                         : "";
}

std::string Signature::fresh(const std::string& wanted) { return fresh_name(taken_, wanted); }

void Signature::write_head(Writer& writer, const std::string& body) const {
    if (!kernel_.formula.empty()) writer.line("// " + kernel_.formula);
    std::string sources;
    for (const std::string& source : kernel_.sources)
        sources += (sources.empty() ? "" : ", ") + source;
    if (!sources.empty()) writer.line("// " + sources);
    // By steps that draw at different sites, or have no memory for what others store.
    const bool is_shared =
        draws(kernel_) || std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                                      [](const Buffer& buffer) { return buffer.optional; });
    writer.line((is_shared ? "FOVEA_SHARED void " : "void ") + identifier(kernel_.name) + "(");
    writer.indent();
    std::vector<std::pair<std::string, std::string>> parameters;
    std::size_t widest = 0;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Buffer& buffer = kernel_.buffers[i];
        parameters.emplace_back(pointer_type(buffer) + " " + buffers_[i], shape_text(buffer.shape));
        widest = std::max(widest, parameters.back().first.size());
    }
    std::string rest;
    for (const std::string& symbol : symbols_) rest += (rest.empty() ? "i64 " : ", i64 ") + symbol;
    if (draws(kernel_)) rest += (rest.empty() ? "" : ", ") + std::string("const DropoutKey& key");
    for (std::size_t i = 0; i < sites_of(kernel_).size(); ++i)
        rest += ", DropoutSite " + site_name(i);
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
