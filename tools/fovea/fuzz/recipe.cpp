#include "tools/fovea/fuzz/recipe.h"

#include <fmt/format.h>

#include <cmath>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/whole_model.h"
#include "codegen/ops/composed/checkpoint.h"

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

namespace {

/// Adds the lines of a recipe to a graph, and to the text of a model.
class Lines {
  public:
    Lines(const Recipe& recipe, Built& built) : recipe_(recipe), built_(built) {}

    std::vector<Tensor> run() {
        for (std::size_t i = 0; i < recipe_.lines.size();) {
            if (i > 0 && recipe_.lines[i].checkpoint) i = add_checkpoint(i);
            else add("    Tensor ", i++);
        }
        return std::move(made_);
    }

  private:
    void add(const char* before, std::size_t i) {
        const Line& line = recipe_.lines[i];
        Made result = line.op->make(Maker(built_.graph, line, int(i), made_));
        built_.source += fmt::format("{}t{} = {};\n", before, i, result.text);
        made_.push_back(result.tensor);
    }
    /// Lines from `first` on that are in one checkpoint; others may read all of them.
    std::size_t add_checkpoint(std::size_t first) {
        std::size_t end = first;
        std::string names;
        for (; end < recipe_.lines.size() && recipe_.lines[end].checkpoint; ++end)
            names += fmt::format("{}t{}", names.empty() ? "" : ", ", end);
        built_.source += fmt::format("    Tensor {};\n    checkpoint([&](Tensor) {{\n", names);
        const auto lines = [&](Tensor) {
            for (std::size_t i = first; i < end; ++i) add("        ", i);
            return made_.back();
        };
        checkpoint(lines, made_[0]);
        built_.source += fmt::format("        return t{};\n    }}, t0);\n", end - 1);
        return end;
    }

    const Recipe& recipe_;
    Built& built_;
    std::vector<Tensor> made_;
};

}  // namespace

Built build(const Recipe& recipe) {
    Built built;
    built.source = fmt::format("#include <fovea.h>\nusing namespace fovea;\n\n// Sizes:");
    for (const auto& [name, size] : recipe.sizes) built.source += fmt::format(" {}={}", name, size);
    built.source += fmt::format("\nconstexpr void {}(Scope s) {{\n", recipe.name);
    const std::vector<Tensor> made = Lines(recipe, built).run();
    for (int output : recipe.outputs) {
        const std::string name = fmt::format("y{}", output);
        const Tensor value = made[std::size_t(output)];
        const DType memory = recipe.lines[std::size_t(output)].memory;
        const bool is_cast = memory != f32 && value.dtype() == f32;
        Scope{&built.graph}.output(intern(name), is_cast ? cast(value, memory) : value);
        const std::string text = is_cast ? fmt::format("cast(t{}, {})", output, name_of(memory))
                                         : fmt::format("t{}", output);
        built.source += fmt::format("    s.output(\"{}\", {});\n", name, text);
    }
    verify_whole(built.graph);
    built.source += "}\n";
    return built;
}

}  // namespace fovea::tool::fuzz
