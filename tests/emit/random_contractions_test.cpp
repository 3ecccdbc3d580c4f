// Contractions of static sizes drawn at random around tiles and lanes, in every form that lowering
// makes. FOVEA_SEED sets the seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "codegen/kernel/builder.h"
#include "codegen/kernel/print.h"
#include "codegen/kernel/rewrites/collapse_axes.h"
#include "codegen/kernel/schedule.h"
#include "tests/emit/compiled_model.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using namespace fovea::kernel;

namespace {

struct Sizes {
    Dim rows, columns, depth;
};

/// Sizes just below, at and above whole tiles and vectors.
class Draw {
  public:
    explicit Draw(unsigned seed) : generator_(seed) {}
    int of(int first, int last) {
        return std::uniform_int_distribution<int>(first, last)(generator_);
    }
    /// A multiple of `unit`, from `first` to `last` of them, or one less or more.
    int near(int unit, int first, int last) {
        return std::max(1, unit * of(first, last) + of(-1, 1));
    }
    Dim rows() {
        if (of(0, 2) == 0) return "m";
        return near(of(0, 1) ? 8 : 6, 1, 20);
    }
    Dim depth() {
        const int kind = of(0, 5);
        if (kind < 2) return "k";
        return kind == 2 ? near(16, 16, 22) : near(16, 0, 6);  // some fetch lines on their way
    }
    /// Of each kind of tile: at most one vector wide, two, three, two of odd tails, four.
    std::vector<int> columns() {
        return {of(1, 16), 32 * of(1, 7), 48 + 96 * of(0, 2), 16 * of(1, 14) + of(1, 15),
                near(16, 17, 20)};
    }

  private:
    std::mt19937 generator_;
};

enum class Form { plain, transposed_a, transposed_b, both_transposed, panels };

/// y = a b; each operand as it lies, transposed, or b in panels.
Kernel product(const std::string& name, Form form, const Sizes& size) {
    const bool turned_a = form == Form::transposed_a || form == Form::both_transposed;
    const bool turned_b = form == Form::transposed_b || form == Form::both_transposed;
    const auto [rows, columns, depth] = size;
    Builder it(name);
    const AxisId i = it.axis("i", rows), j = it.axis("j", columns), d = it.axis("d", depth);
    const int a = it.input("a", turned_a ? std::vector{depth, rows} : std::vector{rows, depth});
    const int panel = panel_columns(columns, {});
    const int b = form == Form::panels ? it.input("b", {columns + Dim(panel), depth})
                  : turned_b           ? it.input("b", {columns, depth})
                                       : it.input("b", {depth, columns});
    const int y = it.output("y", {rows, columns});
    it.par({i, j}, [&] {
        Access of_b = form == Form::panels ? Access{}
                      : turned_b           ? it.at(b, {j, d})
                                           : it.at(b, {d, j});
        if (form == Form::panels)
            of_b.buffer = b, of_b.strides = {{d, Dim(panel)}, {j, depth * Dim(panel), panel}};
        const Id left = it.load(turned_a ? it.at(a, {d, i}) : it.at(a, {i, d}));
        it.store(it.at(y, {i, j}), it.contract(left, it.load(of_b), {d}));
    });
    return it.finish();
}

/// For each of three points: y = residual + relu(a b + bias), and what relu takes.
Kernel batched(const std::string& name, const Sizes& size) {
    const auto [rows, columns, depth] = size;
    Builder it(name);
    const AxisId point = it.axis("point", 3);
    const AxisId i = it.axis("i", rows), j = it.axis("j", columns), d = it.axis("d", depth);
    const int a = it.input("a", {3, rows, depth}), b = it.input("b", {3, depth, columns});
    const int bias = it.input("bias", {columns}),
              residual = it.input("residual", {3, rows, columns});
    const int y = it.output("y", {3, rows, columns}), before = it.output("z", {3, rows, columns});
    it.each(point, [&] {
        it.par({i, j}, [&] {
            const Id sum = it.contract(it.load(it.at(a, {point, i, d})),
                                       it.load(it.at(b, {point, d, j})), {d});
            const Id total = it.named(it.add(sum, it.load(it.at(bias, {j}))), "total");
            it.store(it.at(before, {point, i, j}), total);
            it.store(it.at(y, {point, i, j}), it.add(it.load(it.at(residual, {point, i, j})),
                                                     it.map(Elementwise::relu, {total})));
        });
    });
    return it.finish();
}

/// The gradient of a weight, [rows, columns]: summed over batch and positions, whole or in parts.
Kernel gradient(const std::string& name, bool in_parts, const Sizes& size) {
    const auto [rows, columns, depth] = size;
    Builder it(name);
    const AxisId blocks = in_parts ? it.axis("blocks", 4) : -1;
    const AxisId i = it.axis("i", rows), j = it.axis("j", columns);
    const AxisId batch = it.axis("batch", "b"), at = it.axis("at", depth);
    const int dy = it.input("dy", {"b", depth, rows}), x = it.input("x", {"b", depth, columns});
    const int dw =
        in_parts ? it.output("dw", {4, rows, columns}) : it.output("dw", {rows, columns});
    const auto store = [&] {
        it.par({i, j}, [&] {
            const Id change = it.load(it.at(dy, {batch, at, i}));
            const Id value = it.load(it.at(x, {batch, at, j}));
            if (in_parts)
                it.store(it.at(dw, {blocks, i, j}),
                         it.contract_by_block(change, value, {batch, at}, blocks));
            else it.store(it.at(dw, {i, j}), it.contract(change, value, {batch, at}));
        });
    };
    if (in_parts) it.each(blocks, store);
    else store();
    Kernel result = it.finish();
    collapse_axes(result);
    return result;
}

std::vector<Kernel> random_contractions(Draw& draw) {
    std::vector<Kernel> kernels;
    const auto name = [&](const char* form) { return form + std::to_string(kernels.size()); };
    for (int columns : draw.columns()) {
        const auto size = [&] { return Sizes{draw.rows(), columns, draw.depth()}; };
        // What packs both operands: rows of a side by side, enough of them, and far apart.
        kernels.push_back(product(name("packed"), Form::transposed_a,
                                  {draw.near(8, 12, 20), columns, draw.near(16, 8, 12)}));
        kernels.push_back(product(name("nn"), Form::plain, size()));
        kernels.push_back(product(name("tn"), Form::transposed_a, size()));
        kernels.push_back(product(name("nt"), Form::transposed_b, size()));
        kernels.push_back(product(name("tt"), Form::both_transposed, size()));
        kernels.push_back(product(name("panels"), Form::panels, size()));
        kernels.push_back(batched(name("batched"), size()));
        kernels.push_back(gradient(name("gradient"), false, size()));
        kernels.push_back(gradient(name("parts"), true, size()));
    }
    return kernels;
}

std::string sizes_of(const Kernel& kernel) {
    std::string text = kernel.name + ":";
    for (const kernel::Axis& axis : kernel.axes)
        text += " " + axis.name + " = " + text_of(axis.extent);
    return text;
}

/// Compiled together and optimized little: most of the time is the compiler's.
void check_random(const std::vector<Kernel>& kernels, int depth, const std::string& isa) {
    CAPTURE(isa);
    CAPTURE(depth);
    const runtime::Model& model = compile_and_load(model_of_kernels("random", kernels), isa, "-O0");
    REQUIRE(model.programs.size() == kernels.size());
    const DimValues dims{{"m", 61}, {"n", 1}, {"k", depth}, {"b", 2}};
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        CAPTURE(sizes_of(kernels[i]));
        Arrays one(kernels[i], dims, 7, 11), three(kernels[i], dims, 7, 11);
        run_program(model, int(i), dims, one, 1);
        run_program(model, int(i), dims, three, 3);
        CHECK(same_bits(one, three));
        check_against_evaluator(kernels[i], dims, one, 2e-6);
    }
}

}  // namespace

TEST_CASE("contractions of sizes drawn at random agree with the evaluator") {
    const unsigned start = test::random_seed();
    CAPTURE(start);
    Draw draw(start);
    const std::vector<Kernel> kernels = random_contractions(draw);
    std::set<int> widths;  // of register tiles
    for (const Kernel& kernel : kernels)
        widths.insert(contraction_schedule(kernel, {}).tile_vectors);
    CHECK(widths == std::set{1, 2, 3, 4});
    const int depth = draw.of(0, 1) ? 37 : draw.near(16, 16, 22);
    // Where tiles are one vector wide, some of the kernels have all of their forms.
    std::vector<Kernel> some;
    for (std::size_t i = 0; i < kernels.size(); i += 4) some.push_back(kernels[i]);
    const std::vector<std::string> isas = isas_by_turns();
    for (const std::string& isa : isas)
        check_random(isa == isas.front() ? kernels : some, depth, isa);
}
