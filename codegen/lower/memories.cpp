#include "codegen/lower/memories.h"

#include "codegen/base/error.h"
#include "codegen/kernel/schedule.h"

namespace fovea::lower {

bool lies_in_panels(const Dim& rows, const target::Lowering& target) {
    return !rows.is_static() || rows.value() > kernel::panel_columns(rows, target);
}

kernel::Access transposed_access(int buffer, const Dim& rows, const Dim& columns,
                                 kernel::AxisId row, kernel::AxisId column,
                                 const target::Lowering& target) {
    kernel::Access access{.buffer = buffer};
    const Dim count = rows.without_label();
    const int panel = kernel::panel_columns(count, target);
    const bool panels = lies_in_panels(count, target);
    if (column >= 0) access.strides.push_back({column, panels ? Dim(panel) : count});
    if (row < 0) return access;
    if (panels) access.strides.push_back({row, columns.without_label() * Dim(panel), panel});
    else access.strides.push_back({row, Dim(1)});
    return access;
}

kernel::Access paired_access(int buffer, const Dim& rows, const Dim& columns, kernel::AxisId row,
                             kernel::AxisId column, const target::Lowering& target) {
    const int panel = kernel::panel_columns(rows.without_label(), target);
    const Dim pairs((columns.value() + 1) / 2);
    return {.buffer = buffer,
            .strides = {{column, Dim(2 * panel), 2}, {row, pairs * Dim(2 * panel), panel, 2}}};
}

int Memories::of(int base) { return add(base, Kind::value); }

int Memories::transposed(int base) { return add(base, Kind::transposed); }

int Memories::transposed_halves(int base) { return add(base, Kind::transposed_halves); }

int Memories::paired(int base) { return add(base, Kind::paired); }

int Memories::rounded(int base) { return add(base, Kind::rounded); }

bool Memories::is_packed_by_products(const Shape& matrix) const {
    return has_gradients_ && target_.weights == target::Weights::in_panels &&
           matrix[0].is_static() && matrix[1].is_static() &&
           matrix[0].value() * matrix[1].value() >= target_.packed_weights;
}

int Memories::parts_of(int base, std::vector<Dim> shape) {
    auto [at, fresh] = parts_.try_emplace(base, int(all_.size()));
    if (!fresh) return at->second;
    Memory memory;
    memory.node = base;
    memory.parts = true;
    memory.name = name_of(base) + "_parts";
    memory.shape = std::move(shape);
    all_.push_back(memory);
    return at->second;
}

int Memories::scratch(std::string name, DType dtype, const std::vector<Dim>& shape) {
    Memory memory;
    memory.name = std::move(name);
    memory.dtype = dtype;
    for (const Dim& dim : shape) memory.shape.push_back(dim.without_label());
    all_.push_back(std::move(memory));
    return int(all_.size()) - 1;
}

int Memories::add(int base, Kind kind) {
    auto [at, fresh] = index_.try_emplace({base, kind}, int(all_.size()));
    if (!fresh) return at->second;
    const Node& node = graph_[base];
    Memory memory{.node = base,
                  .transposed = kind != Kind::value,
                  .name = name_of(base),
                  .dtype = node.dtype,
                  .shape = {},
                  .storage = storage_of(node)};
    for (const Dim& dim : node.shape) memory.shape.push_back(dim.without_label());
    if (memory.storage && kind != Kind::value)
        throw UserError(memory.name + " cannot lie as " + text_of(memory.storage) +
                        ": a kernel reads a copy of it that lies otherwise");
    if (kind == Kind::value && has_halves() && fused_.in_halves[std::size_t(base)])
        memory.dtype = half();
    if (kind == Kind::paired) {
        const Dim rows = memory.shape[0], pairs((memory.shape[1].value() + 1) / 2);
        const int panel = kernel::panel_columns(rows, target_);
        if (rows.is_static())
            memory.shape = {Dim((rows.value() + panel - 1) / panel), pairs, Dim(panel), Dim(2)};
        else memory.shape = {rows + Dim(panel - 1), pairs, Dim(2)};
        memory.dtype = DType::bf16;
        memory.name += "_pairs";
        paired_.push_back(base);
    } else if (kind == Kind::transposed || kind == Kind::transposed_halves) {
        const Dim rows = memory.shape[0], columns = memory.shape[1];
        const int panel = kernel::panel_columns(rows, target_);
        if (!lies_in_panels(rows, target_)) memory.shape = {columns, rows};
        else if (rows.is_static())
            memory.shape = {Dim((rows.value() + panel - 1) / panel), columns, Dim(panel)};
        else memory.shape = {rows + Dim(panel - 1), columns};  // room for a panel that is not full
        if (kind == Kind::transposed_halves) {
            memory.dtype = half();
            memory.name += "_" + std::string(long_name_of(half()));
        }
        memory.name += lies_in_panels(rows, target_) ? "_panels" : "_transposed";
        (kind == Kind::transposed ? transposed_ : transposed_halves_).push_back(base);
    }
    if (kind == Kind::rounded) {
        memory.dtype = half();
        memory.name += "_" + std::string(long_name_of(half()));
        rounded_.push_back(base);
    }
    all_.push_back(memory);
    return at->second;
}

/// Parameters and inputs by their names, outputs by theirs, the others by module and op.
std::string Memories::name_of(int base) const {
    const Node& node = graph_[base];
    int output = fused_.output_of[std::size_t(base)];
    if (output >= 0) return std::string(graph_[output].name);
    if (node.op == Op::input) return std::string(node.name);
    if (node.op == Op::parameter) return graph_.path(node.scope);
    const std::string path = modules_.name(graph_.scope_of(base));
    std::string name = path + (path.empty() ? "" : ".") + fuse::what_it_computes(graph_, base);
    return node.backward ? name + ".gradient" : node.recomputed ? name + ".again" : name;
}

}  // namespace fovea::lower
