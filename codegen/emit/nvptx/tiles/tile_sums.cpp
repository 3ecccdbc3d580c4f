// Sums over the positions of tiles, of several elements at once.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/tiles/tile_elements.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

Values TileElements::sum(Id id, const std::vector<Places>& elements, int lanes) {
    llvm::IRBuilder<>& ir = f_.ir();
    const auto contract = as<Contract>(plan_.kernel, id);
    const auto reduce = as<Reduce>(plan_.kernel, id);
    const Reduction reduction = contract ? Reduction::sum : reduce->reduction;
    const std::vector<AxisId>& axes = contract ? contract->axes : reduce->axes;
    Values results(elements.size(), f_.neutral(reduction, ir.getFloatTy()));
    f_.scope([&] { results = sum_along(id, axes, 0, elements, lanes, results); });
    for (Value*& result : results) result = f_.group_reduce(reduction, result, lanes);
    return results;
}

Values TileElements::sum_along(Id id, const std::vector<AxisId>& axes, std::size_t depth,
                               const std::vector<Places>& elements, int lanes,
                               const Values& so_far) {
    llvm::IRBuilder<>& ir = f_.ir();
    const bool last = depth + 1 == axes.size();
    const AxisId axis = axes[depth];
    Value* first = integer(0);
    if (last && lanes > 1) first = ir.CreateAnd(f_.thread(), integer(lanes - 1));
    return f_.loop_carrying(first, tiles_.at(axis).count, integer(last ? lanes : 1), so_far,
                            [&](Value* at, const Values& carried) {
                                Value* position = ir.CreateNSWAdd(
                                    tiles_.at(axis).first, ir.CreateZExt(at, ir.getInt64Ty()));
                                go_to(Place{axis, at, position, nullptr});
                                if (!last)
                                    return sum_along(id, axes, depth + 1, elements, lanes, carried);
                                Values next;
                                for (std::size_t i = 0; i < elements.size(); ++i) {
                                    go_to(elements[i]);
                                    next.push_back(add_term(id, carried[i]));
                                }
                                return next;
                            });
}

Value* TileElements::add_term(Id id, Value* so_far) {
    llvm::IRBuilder<>& ir = f_.ir();
    if (auto contract = as<Contract>(plan_.kernel, id)) {
        Value* a = term(contract->a, contract->factors);
        Value* b = term(contract->b, contract->factors);
        return ir.CreateIntrinsic(llvm::Intrinsic::fma, {ir.getFloatTy()}, {a, b, so_far});
    }
    const Reduce& reduce = *as<Reduce>(plan_.kernel, id);
    return f_.combine(reduce.reduction, so_far, term(reduce.operand, Factors::f32));
}

Value* TileElements::term(Id id, Factors factors) {
    load_reads(reads_of(plan_, id), false);
    Value* value = f_.value(id, DType::f32);
    return is_half(factors) ? rounded_to(f_.ir(), dtype_of(factors), value) : value;
}

}  // namespace fovea::emit::nvptx
