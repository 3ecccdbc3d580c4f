// Copies whose source and destination are contiguous along different axes: squares go through
// shared memory, so that neighbouring threads read, and write, neighbouring elements.
#include <algorithm>

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/grid.h"
#include "codegen/emit/nvptx/skeletons.h"
#include "codegen/kernel/analysis/loop_nest.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr int kSide = kWarp;  // of a square: neighbours of a row are a warp

struct Transpose {
    const Load* load;
    const Store* store;
    AxisId from = -1, to = -1;   // along which the source, and the destination, is contiguous
    std::vector<AxisId> points;  // the other axes
};

/// The axis along which at least a side of a square is contiguous, or -1.
AxisId contiguous_axis(const Access& access) {
    for (const Stride& stride : access.strides)
        if (stride.panel ? stride.panel >= kSide && stride.step == 1 : stride.stride.is_one())
            return stride.axis;
    return -1;
}

bool has_axis(const Access& access, AxisId axis) {
    return std::any_of(access.strides.begin(), access.strides.end(),
                       [&](const Stride& stride) { return stride.axis == axis; });
}

std::optional<Transpose> find_transpose(const Kernel& kernel) {
    const LoopNest nest = loop_nest(kernel);
    if (nest.nodes.size() != 2 || !nest.seq.empty()) return std::nullopt;
    Transpose result{as<Load>(kernel, nest.nodes[0]), as<Store>(kernel, nest.nodes[1]), -1, -1, {}};
    if (!result.load || !result.store || result.store->accumulate) return std::nullopt;
    const Access &load = result.load->access, &store = result.store->access;
    for (const Access* access : {&load, &store}) {
        const DType dtype = kernel.buffers[std::size_t(access->buffer)].dtype;
        if (access->row >= 0 || dtype == DType::boolean) return std::nullopt;
    }
    result.from = contiguous_axis(load), result.to = contiguous_axis(store);
    if (result.from < 0 || result.to < 0 || result.from == result.to) return std::nullopt;
    if (!has_axis(load, result.to) || !has_axis(store, result.from)) return std::nullopt;
    for (AxisId axis : {result.from, result.to}) {  // squares would be mostly empty
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        if (extent.is_static() && extent.value() < kSide / 2) return std::nullopt;
    }
    for (const auto* group : {&nest.each, &nest.par, &nest.free})
        for (AxisId axis : *group)
            if (axis != result.from && axis != result.to) result.points.push_back(axis);
    return result;
}

class Squares {
  public:
    Squares(llvm::Module& module, const Kernel& kernel, const Transpose& transpose, int threads)
        : kernel_(kernel),
          threads_(threads),
          copy_(transpose),
          f_(module, kernel, kernel.name, threads),
          ir_(f_.ir()) {}

    PtxKernel run() {
        Value* thread = ir_.CreateZExt(f_.thread(), ir_.getInt64Ty());
        Value* lane = ir_.CreateURem(thread, f_.number(kSide), "lane");
        Value* row = ir_.CreateUDiv(thread, f_.number(kSide), "row");
        Value* to = take_tile(copy_.to);
        Value* from = take_tile(copy_.from);
        set_positions(f_, copy_.points, block_);
        llvm::Type* type = f_.type_of(value());
        Value* square = f_.shared(type, kSide * (kSide + 1), "square");
        const auto place = [&](Value* at_to, Value* at_from) {  // no two lanes in one bank
            Value* start = ir_.CreateNSWMul(at_to, f_.number(kSide + 1));
            return ir_.CreateInBoundsGEP(type, square, ir_.CreateNSWAdd(start, at_from));
        };
        over_rows(row, [&](Value* other) {
            at(ir_.CreateNSWAdd(from, lane), ir_.CreateNSWAdd(to, other),
               [&] { ir_.CreateStore(f_.load(copy_.load->access), place(other, lane)); });
        });
        f_.barrier();
        over_rows(row, [&](Value* other) {
            at(ir_.CreateNSWAdd(from, other), ir_.CreateNSWAdd(to, lane),
               [&] { f_.store(copy_.store->access, ir_.CreateLoad(type, place(lane, other))); });
        });
        f_.finish();
        return {kernel_.name, {launch()}, {}};
    }

  private:
    Id value() const { return copy_.store->value; }

    PtxLaunch launch() const {
        PtxLaunch result{kernel_.name, grid_of(kernel_, copy_.points, 1), threads_, 0};
        for (AxisId axis : {copy_.from, copy_.to})
            result.grid.push_back({kernel_.axes[std::size_t(axis)].extent, kSide});
        return result;
    }

    /// The first position of the block's square along an axis; block_ is what is left to divide.
    Value* take_tile(AxisId axis) {
        Value* side = f_.number(kSide);
        Value* tiles =
            ir_.CreateUDiv(ir_.CreateNSWAdd(f_.extent(axis), f_.number(kSide - 1)), side);
        Value* tile = ir_.CreateURem(block_ ? block_ : f_.block(), tiles);
        block_ = ir_.CreateUDiv(block_ ? block_ : f_.block(), tiles);
        return ir_.CreateNSWMul(tile, side);
    }

    void over_rows(Value* row, const std::function<void(Value*)>& body) {
        for (int i = 0; i < kSide; i += threads_ / kSide)
            f_.scope([&] { body(ir_.CreateNSWAdd(row, f_.number(i))); });
    }

    /// Runs `body` at the positions, if there are such.
    void at(Value* from, Value* to, const std::function<void()>& body) {
        f_.set_position(copy_.from, from);
        f_.set_position(copy_.to, to);
        f_.when(ir_.CreateAnd(ir_.CreateICmpSLT(from, f_.extent(copy_.from)),
                              ir_.CreateICmpSLT(to, f_.extent(copy_.to))),
                body);
    }

    const Kernel& kernel_;
    int threads_;
    const Transpose& copy_;
    Function f_;
    llvm::IRBuilder<>& ir_;
    Value* block_ = nullptr;
};

}  // namespace

std::optional<PtxKernel> write_transpose(llvm::Module& module, const Kernel& kernel,
                                         const target::GpuTranspose& target) {
    const std::optional<Transpose> transpose = find_transpose(kernel);
    if (!transpose) return std::nullopt;
    return Squares(module, kernel, *transpose, target.threads).run();
}

}  // namespace fovea::emit::nvptx
