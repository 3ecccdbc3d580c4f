#include "tools/fovea/fuzz/drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/fovea/schedule/draw_schedule.h"

namespace fovea::tool::fuzz {

namespace {

/// Around lanes, vectors, tiles and panels; 0 and 1 are rare, since they make all that follows
/// small.
const std::vector<std::int64_t> kSizes = {1,  2,  3,  4,  5,  6,  7,  8,  9,  12, 15, 16,
                                          17, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65};
constexpr std::int64_t kMostElements = 12'000;
constexpr int kMostTries = 200;
/// How many programs lie in memory as bfloat16, how many multiply in tf32 on a GPU, and how many
/// lie in memory as float16.
constexpr double kInBfloat16 = 0.2, kInTf32 = 0.1, kInFloat16 = 0.1;
constexpr std::uint32_t kKindStream = 5, kMemoryStream = 96;
/// How many inputs and outputs lie in memory as bfloat16, and as float16.
constexpr double kHalf = 0.05;
/// How many programs have a schedule of their own.
constexpr double kScheduled = 0.3;
constexpr double kCheckpointed = 0.2, kFrozen = 0.1;

}  // namespace

Drawing::Drawing(std::uint64_t seed) : random_(seed, 1) {
    recipe_.name = fmt::format("fuzz_{}", seed);
    recipe_.seed = seed;
    recipe_.scale = chance(0.85) ? 1 : chance(0.5) ? 30 : 1e-3;
    // Of a stream of its own: programs of float32 are the same without these.
    const double kind = double(runtime::RandomStream(seed, kKindStream).uniform(0));
    if (kind < kInBfloat16) recipe_.dtype = bf16;
    else if (kind < kInBfloat16 + kInTf32) recipe_.tf32 = true;
    else if (kind < kInBfloat16 + kInTf32 + kInFloat16) recipe_.dtype = f16;
    const auto draw_size = [&]() -> std::int64_t {
        if (chance(0.04)) return 0;
        return chance(0.7) ? one_of(kSizes) % 20 + (chance(0.1) ? 0 : 1) : one_of(kSizes);
    };
    for (const char* name : {"batch", "len", "keys"}) {
        recipe_.sizes[name] = draw_size();
        dims_.push_back(Dim(name));
    }
    for (const char* name : {"hidden", "ffn"}) {
        const std::int64_t size = std::max<std::int64_t>(draw_size(), 1);
        dims_.push_back(chance(0.5) ? Dim(name, size) : Dim(size));
    }
    if (chance(0.2)) dims_.push_back(Dim("len") + 1);
    if (chance(0.1)) dims_.push_back(Dim("batch") * 2);
}

double Drawing::number() {
    static const std::vector<double> special = {0, 1, -1, 2, 0.5, 100, -1e6, 1e-6};
    return chance(0.3) ? one_of(special) : double(float(random_.normal(next_++)));
}

std::int64_t Drawing::width(int limit) {
    static const std::vector<std::int64_t> wide = {32, 64, 64, 96, 128};
    return rounds(recipe_) && chance(0.5) ? one_of(wide) : 1 + below(limit);
}

std::int64_t Drawing::head_width() {
    static const std::vector<std::int64_t> any = {1, 2, 3, 4, 8, 8, 16, 16, 24, 32, 64};
    static const std::vector<std::int64_t> of_tensor_cores = {64, 128};
    return rounds(recipe_) && chance(0.5) ? one_of(of_tensor_cores) : one_of(any);
}

Shape Drawing::shape(int rank) {
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push(chance(0.06) ? Dim(1) : dim());
    while (rank > 1 && size(shape) > kMostElements) shape[below(rank)] = Dim(2);
    return shape;
}

std::int64_t Drawing::size(const Dim& dim) const {
    DimSizes sizes;
    for (const auto& [name, value] : recipe_.sizes) sizes[Symbol(name)] = value;
    return value_of(sizes, dim);
}
std::int64_t Drawing::size(const Shape& shape) const {
    std::int64_t product = 1;
    for (const Dim& dim : shape) product *= size(dim);
    return product;
}

int Drawing::pick(const std::function<bool(const Tensor&)>& fits) {
    std::vector<int> fitting;
    for (int i = 0; i < int(made_.size()); ++i)
        if (fits(made_[std::size_t(i)])) fitting.push_back(i);
    if (fitting.empty()) return -1;
    const int last = std::max(0, int(fitting.size()) - 3);
    return chance(0.6) ? fitting[std::size_t(last + below(int(fitting.size()) - last))]
                       : one_of(fitting);
}

int Drawing::floats(int least_rank, int most_rank) {
    const int found = chance(0.9) ? pick([&](const Tensor& x) {
        return x.dtype() == f32 && x.rank() >= least_rank && x.rank() <= most_rank;
    })
                                  : -1;
    return found >= 0 ? found : leaf(shape(least_rank + below(most_rank - least_rank + 1)));
}

int Drawing::floats(const Shape& shape) {
    const int found =
        chance(0.7)
            ? pick([&](const Tensor& x) { return x.dtype() == f32 && fits(x.shape(), shape); })
            : -1;
    return found >= 0 ? found : leaf(shape);
}

int Drawing::leaf(const Shape& shape, DType type) {
    Line line;
    for (const Dim& dim : shape) line.dims.push_back(dim);
    // Parameters have static sizes, none of them 0.
    bool is_table = type == f32 && shape.rank() > 0;
    for (const Dim& dim : shape) is_table = is_table && dim.is_static() && dim.value() > 0;
    const bool parameter = is_table && chance(0.6);
    line.op = &fuzz_op(parameter ? "parameter" : type == f32 ? "input" : "ids");
    if (parameter) line.whole = {chance(kFrozen)};
    return add(std::move(line));
}

Shape Drawing::narrower(const Shape& shape) {
    Shape narrow;
    const int first = chance(0.3) ? below(shape.rank() + 1) : 0;
    for (int i = first; i < shape.rank(); ++i) narrow.push(chance(0.3) ? Dim(1) : shape[i]);
    return narrow;
}

/// Of a stream of its own, as kinds are.
DType Drawing::memory_of_next() const {
    const runtime::RandomStream random(recipe_.seed, kMemoryStream);
    const double kind = double(random.uniform(recipe_.lines.size()));
    return kind < kHalf ? bf16 : kind < 2 * kHalf ? f16 : f32;
}

int Drawing::add(Line line) {
    line.memory = memory_of_next();
    const Line& kept = recipe_.lines.emplace_back(std::move(line));
    Made made = kept.op->make(Maker(graph_, kept, int(made_.size()), made_));
    made_.push_back(made.tensor);
    return int(made_.size()) - 1;
}

bool Drawing::try_line() {
    int total = 0;
    for (const FuzzOp& op : fuzz_ops()) total += op.weight;
    int at = below(total);
    const FuzzOp* chosen = nullptr;
    for (const FuzzOp& op : fuzz_ops()) {
        if (!chosen && at < op.weight) chosen = &op;
        at -= op.weight;
    }
    Line line{.op = chosen};
    const Graph before = graph_;
    const std::size_t lines = recipe_.lines.size();
    const auto undo = [&] {
        graph_ = before;
        recipe_.lines.resize(lines);
        made_.resize(lines);
        for (Tensor& tensor : made_) tensor.graph = &graph_;
        return false;
    };
    try {
        if (!chosen->draw(*this, line)) return undo();
        const Tensor made = tensor(add(std::move(line)));
        return size(made.shape()) <= kMostElements || undo();
    } catch (const UserError&) {  // what a model may not write
        return undo();
    }
}

void Drawing::draw_outputs() {
    std::set<int> read;
    for (const Line& line : recipe_.lines) read.insert(line.operands.begin(), line.operands.end());
    for (int i = 0; i < int(made_.size()); ++i) {
        const bool leaf = recipe_.lines[std::size_t(i)].operands.empty();
        if (leaf || tensor(i).dtype() == DType::boolean) continue;
        if (!read.count(i) || chance(0.1)) recipe_.outputs.push_back(i);
    }
}

/// Whoever runs the model knows sizes from inputs, outputs and parameters: values that alone have
/// a size are outputs.
void Drawing::bear_sizes() {
    std::vector<Symbol> known;
    const auto bear = [&](const Shape& shape) {
        bool fresh = false;
        for (const Dim& dim : shape)
            dim.each_symbol([&](const Symbol& symbol) {
                if (std::find(known.begin(), known.end(), symbol) != known.end()) return;
                known.push_back(symbol);
                fresh = true;
            });
        return fresh;
    };
    for (const Node& node : graph_.nodes)
        if (node.op == Op::input || node.op == Op::parameter) bear(node.shape);
    for (int i : recipe_.outputs) bear(tensor(i).shape());
    for (int i = 0; i < int(made_.size()); ++i)
        if (tensor(i).dtype() != DType::boolean && bear(tensor(i).shape()))
            recipe_.outputs.push_back(i);
}

Recipe Drawing::take(int lines) {
    for (int i = 0, tries = 0; i < lines && tries < kMostTries; ++tries) i += try_line();
    draw_outputs();
    while (recipe_.outputs.empty()) {  // of booleans alone, which are no outputs
        try_line();
        draw_outputs();
    }
    bear_sizes();
    if (chance(kCheckpointed)) draw_checkpoint();
    return recipe_;
}

/// Neighbouring lines, from the second on.
void Drawing::draw_checkpoint() {
    const int count = int(recipe_.lines.size());
    if (count < 2) return;
    const int first = 1 + below(count - 1), end = first + 1 + below(count - first);
    for (int i = first; i < end; ++i) recipe_.lines[std::size_t(i)].checkpoint = true;
}

Recipe draw_recipe(std::uint64_t seed) {
    Drawing drawing(seed);
    const int lines = 1 + drawing.below(12);
    Recipe recipe = drawing.take(lines);
    if (drawing.chance(kScheduled))
        for (const char* target : {"cpu.", "gpu."}) recipe.schedule += draw_schedule(target, seed);
    return recipe;
}

}  // namespace fovea::tool::fuzz
