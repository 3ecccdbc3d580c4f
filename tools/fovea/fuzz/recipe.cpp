#include "tools/fovea/fuzz/recipe.h"

#include <fmt/format.h>

#include <cmath>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/whole_model.h"

namespace fovea::tool::fuzz {

const FuzzOp& fuzz_op(std::string_view name) {
    for (const FuzzOp& op : fuzz_ops())
        if (op.name == name) return op;
    throw InternalError(fmt::format("no such line: {}", name));
}

std::string text_of(const Dim& dim) {
    if (dim.is_static() && dim.label()) {
        Text label;
        label << dim.label();
        return fmt::format("Dim{{\"{}\", {}}}", label.view(), dim.value());
    }
    if (dim.is_static()) return fmt::format("Dim({})", dim.value());
    std::string text;
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        std::string product;
        for (Symbol symbol : term.symbols) {
            if (!symbol) continue;
            Text name;
            name << symbol;
            product += fmt::format("{}Dim(\"{}\")", product.empty() ? "" : " * ", name.view());
        }
        if (term.factor != 1) product += fmt::format(" * {}", term.factor);
        text += (text.empty() ? "" : " + ") + product;
    }
    if (dim.constant()) text += fmt::format(" + {}", dim.constant());
    return text;
}

std::string text_of(const Shape& shape) {
    std::string text;
    for (const Dim& dim : shape) text += (text.empty() ? "" : ", ") + text_of(dim);
    return "{" + text + "}";
}

std::string text_of(double number) {
    if (std::isinf(number))
        return number < 0 ? "-std::numeric_limits<double>::infinity()"
                          : "std::numeric_limits<double>::infinity()";
    std::string text = fmt::format("{}", number);
    return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

Built build(const Recipe& recipe) {
    Built built;
    built.source = fmt::format("#include <fovea.h>\nusing namespace fovea;\n\n// Sizes:");
    for (const auto& [name, size] : recipe.sizes) built.source += fmt::format(" {}={}", name, size);
    built.source += fmt::format("\nconstexpr void {}(Scope s) {{\n", recipe.name);
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < recipe.lines.size(); ++i) {
        const Line& line = recipe.lines[i];
        Made result = line.op->make(Maker(built.graph, line, int(i), made));
        built.source += fmt::format("    Tensor t{} = {};\n", i, result.text);
        made.push_back(result.tensor);
    }
    for (int output : recipe.outputs) {
        const std::string name = fmt::format("y{}", output);
        Scope{&built.graph}.output(intern(name), made[std::size_t(output)]);
        built.source += fmt::format("    s.output(\"{}\", t{});\n", name, output);
    }
    verify_whole(built.graph);
    built.source += "}\n";
    return built;
}

}  // namespace fovea::tool::fuzz
