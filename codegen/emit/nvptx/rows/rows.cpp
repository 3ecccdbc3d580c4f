// Row kernels: groups of threads that take points, and passes over the inner axes, each up to the
// reductions that the next one needs. Sums over rows are taken in blocks of rows, always the same.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/grid.h"
#include "codegen/emit/nvptx/rows/row_plan.h"
#include "codegen/emit/nvptx/skeletons.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class Rows {
  public:
    Rows(llvm::Module& module, const Kernel& kernel, const target::GpuRows& target)
        : kernel_(kernel),
          plan_(plan_rows(kernel, target)),
          f_(module, kernel, kernel.name, plan_.threads),
          ir_(f_.ir()),
          block_(f_.block()) {}

    PtxKernel run() {
        PtxLaunch launch{kernel_.name, {}, plan_.threads, 0};
        // What a later pass computes again must be the same bits.
        ir_.setFastMathFlags({});
        Value* thread = ir_.CreateZExt(f_.thread(), ir_.getInt64Ty());
        Value* lanes = f_.number(plan_.lanes);
        lane_ = ir_.CreateURem(thread, lanes, "lane");
        group_ = ir_.CreateUDiv(thread, lanes, "group");
        if (plan_.parts > 1) {
            part_ = ir_.CreateUDiv(thread, f_.number(plan_.groups()), "part");
            group_ = ir_.CreateURem(thread, f_.number(plan_.groups()), "point");
        }
        if (plan_.lane >= 0) find_elements();
        if (plan_.sums.empty()) {
            launch.grid = grid_of(kernel_, plan_.points, plan_.groups());
            take_point();
        } else {
            launch.grid = grid_of(kernel_, plan_.points, 1);
            launch.grid.push_back({kernel_.axes[std::size_t(plan_.blocks)].extent, 1});
            take_rows();
        }
        if (plan_.strip)
            launch.grid.push_back({kernel_.axes[std::size_t(plan_.lane)].extent, plan_.strip});
        f_.finish();
        return {kernel_.name, {launch}, {}};
    }

  private:
    /// An element of the row that a thread keeps: its position, and whether it lies in the row
    /// (null: all do).
    struct Element {
        Value *position, *valid;
    };

    void find_elements() {
        const Dim& extent = kernel_.axes[std::size_t(plan_.lane)].extent;
        Value* start = f_.number(0);
        if (plan_.strip) {
            Value* strip = f_.number(plan_.strip);
            Value* last = ir_.CreateNSWAdd(f_.extent(plan_.lane), f_.number(plan_.strip - 1));
            Value* strips = ir_.CreateUDiv(last, strip, "strips");
            start = ir_.CreateNSWMul(ir_.CreateURem(f_.block(), strips), strip);
            block_ = ir_.CreateUDiv(f_.block(), strips);
        }
        const int vector = plan_.vector;
        start = ir_.CreateNSWAdd(start, ir_.CreateNSWMul(lane_, f_.number(vector)));
        for (int i = 0; i < plan_.per_lane; ++i) {
            const int first = i / vector * vector * plan_.lanes + i % vector;
            Value* at = ir_.CreateNSWAdd(start, f_.number(first));
            const bool inside = plan_.strip ? extent.divisible_by(Dim(plan_.strip))
                                            : first + (plan_.lanes - 1) * vector < extent.value();
            Value* valid = inside ? nullptr : ir_.CreateICmpSLT(at, f_.extent(plan_.lane));
            if (valid)
                at = ir_.CreateSelect(valid, at,
                                      ir_.CreateNSWSub(f_.extent(plan_.lane), f_.number(1)));
            elements_.push_back({at, valid});
        }
    }

    /// The group's point; a group beyond the last one takes the last again, and stores nothing.
    void take_point() {
        Value* index =
            ir_.CreateNSWAdd(ir_.CreateNSWMul(block_, f_.number(plan_.groups())), group_);
        if (plan_.groups() > 1) {
            Value* count = count_of(f_, plan_.points);
            is_point_ = ir_.CreateICmpSLT(index, count);
            index = ir_.CreateSelect(is_point_, index, ir_.CreateNSWSub(count, f_.number(1)));
        }
        set_positions(f_, plan_.points, index);
        write_passes();
    }

    /// The rows of the block, one after the other for each group; then the groups' sums.
    void take_rows() {
        Value* blocks = f_.extent(plan_.blocks);
        f_.set_position(plan_.blocks, ir_.CreateURem(block_, blocks));
        set_positions(f_, plan_.points, ir_.CreateUDiv(block_, blocks));
        Value* block = f_.position(plan_.blocks);
        Value* count = count_of(f_, plan_.rows);
        const auto start = [&](Value* number) {
            return ir_.CreateUDiv(ir_.CreateNUWMul(count, number), blocks);
        };
        Value* begin = start(block);
        Value* first = ir_.CreateNSWAdd(begin, group_);
        Value* end = start(ir_.CreateNSWAdd(block, f_.number(1)));
        const Values zeros(plan_.sums.size() * elements_.size(), float_constant(ir_, 0));
        if (elements_.empty()) clear_sums();
        sums_ = f_.loop_carrying(first, end, f_.number(plan_.groups()), zeros,
                                 [&](Value* at, const Values& carried) {
                                     set_positions(f_, plan_.rows, at);
                                     sums_ = carried;
                                     write_passes();
                                     return sums_;
                                 });
        if (elements_.empty()) return;
        if (plan_.groups() > 1) join_groups(ir_.CreateNSWSub(end, begin));
        const auto write = [&] {
            for (std::size_t i = 0; i < sums_.size(); ++i) store_sum(i);
        };
        if (plan_.groups() > 1) f_.when(ir_.CreateICmpEQ(group_, f_.number(0)), write);
        else write();
    }

    const Store& store_of(std::size_t sum) const {
        return *as<Store>(kernel_, plan_.sums[sum].store);
    }

    void store_sum(std::size_t i) {
        const Element& element = elements_[i % elements_.size()];
        f_.set_position(plan_.lane, element.position);
        const auto write = [&] { f_.store(store_of(i / elements_.size()).access, sums_[i]); };
        if (element.valid) f_.when(element.valid, write);
        else write();
    }

    /// Adds what the groups have, in their order; those beyond the rows of the block have nothing.
    void join_groups(Value* rows) {
        const std::size_t width = std::size_t(plan_.per_lane) * std::size_t(plan_.lanes);
        Value* memory = f_.shared(ir_.getFloatTy(), width * plan_.sums.size(), "sums");
        const auto place = [&](std::size_t i) {
            // Each thread of a group has places of its own, also beyond the end of the row.
            Value* own = ir_.CreateNSWAdd(lane_, f_.number(std::int64_t(i) * plan_.lanes));
            return ir_.CreateInBoundsGEP(ir_.getFloatTy(), memory, own);
        };
        const auto is_turn_of = [&](Value* group) { return ir_.CreateICmpEQ(group_, group); };
        f_.when(is_turn_of(f_.number(0)), [&] {
            for (std::size_t i = 0; i < sums_.size(); ++i) ir_.CreateStore(sums_[i], place(i));
        });
        f_.barrier();
        Value* groups = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows,
                                                  f_.number(plan_.groups()), {}, "groups");
        f_.loop(f_.number(1), groups, f_.number(1), [&](Value* group) {
            f_.when(is_turn_of(group), [&] {
                for (std::size_t i = 0; i < sums_.size(); ++i) {
                    Value* before = ir_.CreateLoad(ir_.getFloatTy(), place(i));
                    ir_.CreateStore(ir_.CreateFAdd(before, sums_[i]), place(i));
                }
            });
            f_.barrier();
        });
        for (std::size_t i = 0; i < sums_.size(); ++i)
            sums_[i] = ir_.CreateLoad(ir_.getFloatTy(), place(i));
    }

    /// Sums of rows that are too long for registers lie where they are stored: every thread adds
    /// to elements of its own.
    void clear_sums() {
        walk({}, [&](const Values& none) {
            for (const BlockSum& sum : plan_.sums)
                f_.store(as<Store>(kernel_, sum.store)->access, float_constant(ir_, 0));
            return none;
        });
    }

    void write_passes() {
        for (std::size_t i = 0; i < plan_.passes.scalars.size(); ++i) {
            for (Id id : plan_.passes.scalars[i])
                if (!as<Reduce>(kernel_, id)) f_.value(id);
            for (Id id : plan_.passes.scalar_stores[i]) store_scalar(*as<Store>(kernel_, id));
            if (i < plan_.passes.passes.size()) write_pass(plan_.passes.passes[i]);
        }
    }

    void store_scalar(const Store& store) {
        Value* value = value_of(store);
        Value* condition = is_point_;
        if (plan_.lanes > 1 || plan_.parts > 1) {
            Value* first = ir_.CreateICmpEQ(plan_.parts > 1 ? part_ : lane_, f_.number(0));
            condition = condition ? ir_.CreateAnd(condition, first) : first;
        }
        write(store, value, condition);
    }

    Value* value_of(const Store& store) {
        return f_.value(store.value, kernel_.buffers[std::size_t(store.access.buffer)].dtype);
    }

    void write(const Store& store, Value* value, Value* condition) {
        const auto write = [&] {
            if (store.accumulate) value = ir_.CreateFAdd(f_.load(store.access), value);
            f_.store(store.access, value);
        };
        if (condition) f_.when(condition, write);
        else write();
    }

    void write_pass(const Pass& pass) {
        if (!elements_.empty()) return write_kept_pass(pass);
        Values initial;
        for (Id id : pass.reduces) initial.push_back(f_.neutral(reduction_of(id), f_.type_of(id)));
        const Values totals = walk(initial, [&](Values totals_here) {
            for (std::size_t i = 0; i < pass.reduces.size(); ++i)
                totals_here[i] = f_.combine(reduction_of(pass.reduces[i]), totals_here[i],
                                            operand_of(pass.reduces[i]));
            for (Id id : pass.sums) {
                const Access& access = store_of(sum_number(id)).access;
                f_.store(access, ir_.CreateFAdd(f_.load(access), operand_of(id)));
            }
            for (Id id : pass.stores) {
                const Store& store = *as<Store>(kernel_, id);
                write(store, value_of(store), is_point_);
            }
            return totals_here;
        });
        finish_reductions(pass, totals);
    }

    /// A pass over elements in registers.
    void write_kept_pass(const Pass& pass) {
        Values totals(pass.reduces.size());
        for (std::size_t e = 0; e < elements_.size(); ++e) {
            const Element& element = elements_[e];
            f_.set_position(plan_.lane, element.position);
            for (std::size_t i = 0; i < pass.reduces.size(); ++i) {
                const Reduction reduction = reduction_of(pass.reduces[i]);
                Value* one = operand_of(pass.reduces[i]);
                if (element.valid)
                    one =
                        ir_.CreateSelect(element.valid, one, f_.neutral(reduction, one->getType()));
                totals[i] = totals[i] ? f_.combine(reduction, totals[i], one) : one;
            }
            for (Id id : pass.sums) {
                Value*& sum = sums_[sum_number(id) * elements_.size() + e];
                sum = ir_.CreateFAdd(sum, operand_of(id));
            }
            for (Id id : pass.stores) {
                const Store& store = *as<Store>(kernel_, id);
                Value* condition = element.valid;
                if (condition && is_point_) condition = ir_.CreateAnd(condition, is_point_);
                write(store, value_of(store), condition ? condition : is_point_);
            }
        }
        finish_reductions(pass, totals);
    }

    void finish_reductions(const Pass& pass, const Values& totals) {
        for (std::size_t i = 0; i < pass.reduces.size(); ++i) {
            const Reduction reduction = reduction_of(pass.reduces[i]);
            f_.define(pass.reduces[i], reduced(reduction, totals[i]));
        }
    }

    /// What the threads of a point have together.
    Value* reduced(Reduction reduction, Value* total) {
        if (plan_.parts > 1) return join_parts(reduction, total);
        if (plan_.lanes > kWarp) return f_.block_reduce(reduction, total);
        return f_.group_reduce(reduction, total, plan_.lanes);
    }

    Value* join_parts(Reduction reduction, Value* total) {
        llvm::Type* type = total->getType();
        // What the last but one left there has been read: the barrier of the last says so.
        Value*& memory = parts_[joins_++ % 2];
        if (!memory) memory = f_.shared(ir_.getInt32Ty(), std::size_t(plan_.threads), "parts");
        const auto place = [&](Value* number) {
            return ir_.CreateInBoundsGEP(type, memory, number);
        };
        ir_.CreateStore(total, place(f_.thread()));
        f_.barrier();
        total = nullptr;
        for (int part = 0; part < plan_.parts; ++part) {
            Value* at = ir_.CreateNSWAdd(group_, f_.number(std::int64_t(part) * plan_.groups()));
            Value* one = ir_.CreateLoad(type, place(at));
            total = total ? f_.combine(reduction, total, one) : one;
        }
        return total;
    }

    Reduction reduction_of(Id id) const { return as<Reduce>(kernel_, id)->reduction; }
    /// What a reduction adds or compares, in the type of its result.
    Value* operand_of(Id id) {
        return f_.value(as<Reduce>(kernel_, id)->operand, kernel_.nodes[std::size_t(id)].dtype);
    }
    std::size_t sum_number(Id id) const {
        const auto found = std::find_if(plan_.sums.begin(), plan_.sums.end(),
                                        [&](const BlockSum& one) { return one.sum == id; });
        return std::size_t(found - plan_.sums.begin());
    }

    /// Loops over the inner axes, the lanes along the last.
    Values walk(const Values& initial, const std::function<Values(const Values&)>& body,
                std::size_t depth = 0) {
        const auto turn = [&](AxisId axis) {
            return [&, axis](Value* at, const Values& carried) {
                f_.set_position(axis, at);
                return walk(carried, body, depth + 1);
            };
        };
        if (depth < plan_.steps.size()) {
            const AxisId axis = plan_.steps[depth];
            Value* first = depth == 0 && plan_.parts > 1 ? part_ : f_.number(0);
            return f_.loop_carrying(first, f_.extent(axis), f_.number(depth ? 1 : plan_.parts),
                                    initial, turn(axis));
        }
        if (depth > plan_.steps.size() || plan_.lane < 0) return body(initial);
        return f_.loop_carrying(lane_, f_.extent(plan_.lane), f_.number(plan_.lanes), initial,
                                turn(plan_.lane));
    }

    const Kernel& kernel_;
    RowPlan plan_;
    Function f_;
    llvm::IRBuilder<>& ir_;
    Value* block_;  // the number among those of the same columns
    Value *lane_ = nullptr, *group_ = nullptr, *part_ = nullptr;
    Value* parts_[2]{};  // shared memory of join_parts, in turns
    int joins_ = 0;  // so far
    Value* is_point_ = nullptr;  // whether the group has a point; null: all have
    std::vector<Element> elements_;
    Values sums_;  // over rows, by sum and element
};

}  // namespace

PtxKernel write_rows(llvm::Module& module, const Kernel& kernel, const target::GpuRows& target) {
    return Rows(module, kernel, target).run();
}

}  // namespace fovea::emit::nvptx
