// Values of nodes on demand, and what is known of them where.
#include <algorithm>
#include <set>

#include <llvm/IR/Intrinsics.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/random.h"
#include "codegen/kernel/infer_types.h"
#include "codegen/kernel/print.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

/// The axes whose positions an operation itself looks at.
std::set<AxisId> own_axes(const Operation& operation) {
    std::set<AxisId> axes;
    const auto add = [&](const std::vector<Stride>& strides) {
        for (const Stride& stride : strides) axes.insert(stride.axis);
    };
    if (auto index = std::get_if<Index>(&operation)) axes.insert(index->axis);
    if (auto valid = std::get_if<Valid>(&operation)) axes.insert(valid->axis);
    if (auto load = std::get_if<Load>(&operation)) add(load->access.strides);
    if (auto store = std::get_if<Store>(&operation)) add(store->access.strides);
    if (auto random = std::get_if<Random>(&operation)) add(random->row), add(random->column);
    if (auto reduce = std::get_if<Reduce>(&operation); reduce && reduce->blocks >= 0)
        axes.insert(reduce->blocks);
    return axes;
}

std::vector<AxisId> summed_axes(const Operation& operation) {
    if (auto reduce = std::get_if<Reduce>(&operation)) return reduce->axes;
    if (auto contract = std::get_if<Contract>(&operation)) return contract->axes;
    return {};
}

}  // namespace

void Function::find_dependences() {
    const std::size_t count = kernel_.nodes.size();
    users_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Operation& operation = kernel_.nodes[i].operation;
        std::set<AxisId> axes = own_axes(operation);
        const bool is_carried = as<Carried>(kernel_, Id(i)) || as<Result>(kernel_, Id(i));
        if (is_carried) axes.insert(kernel_.nodes[i].axes.begin(), kernel_.nodes[i].axes.end());
        std::set<Id> made_from;
        for (Id operand : operands_of(kernel_, Id(i))) {
            const auto& more = depends_[std::size_t(operand)];
            axes.insert(more.begin(), more.end());
            users_[std::size_t(operand)].push_back(Id(i));
        }
        for (AxisId axis : summed_axes(operation)) axes.erase(axis);
        depends_.emplace_back(axes.begin(), axes.end());
    }
    for (std::size_t i = count; i-- > 0;) {  // users have larger numbers: theirs are complete
        std::set<Id> all(users_[i].begin(), users_[i].end());
        for (Id user : users_[i])
            all.insert(users_[std::size_t(user)].begin(), users_[std::size_t(user)].end());
        users_[i].assign(all.begin(), all.end());
    }
}

Function::Key Function::key_of(Id id) const {
    Key key{id, {}};
    for (AxisId axis : depends_[std::size_t(id)])
        key.second.push_back(positions_[std::size_t(axis)]);
    return key;
}

void Function::remember(const Key& key, Value* value) {
    const auto found = known_.find(key);
    changes_.push_back({key, found == known_.end() ? nullptr : found->second});
    known_[key] = value;
}

void Function::forget(const Key& key) {
    const auto found = known_.find(key);
    if (found == known_.end()) return;
    changes_.push_back({key, found->second});
    known_.erase(found);
}

void Function::define(Id id, Value* value) {
    for (Id user : users_[std::size_t(id)]) {
        std::vector<Key> stale;
        for (auto at = known_.lower_bound({user, {}});
             at != known_.end() && at->first.first == user; ++at)
            stale.push_back(at->first);
        for (const Key& key : stale) forget(key);
    }
    remember(key_of(id), value);
}

llvm::Type* Function::type_of(Id id) {
    const DType dtype = kernel_.nodes[std::size_t(id)].dtype;
    if (dtype == DType::boolean) return ir_.getInt1Ty();
    return dtype == DType::i32 ? ir_.getInt32Ty() : ir_.getFloatTy();
}

Value* Function::constant(double value, DType dtype) {
    if (dtype == DType::boolean) return ir_.getInt1(value != 0);
    if (dtype == DType::i32) return ir_.getInt32(std::uint32_t(std::int32_t(value)));
    return float_constant(ir_, value);
}

Value* Function::value(Id id) {
    const Node& node = kernel_.nodes[std::size_t(id)];
    if (auto number = as<Constant>(kernel_, id); number && !is_known(id))
        return constant(number->value, node.dtype);
    const Key key = key_of(id);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    Value* result = make(id);
    if (!node.name.empty() && !llvm::isa<llvm::Constant>(result) && !result->hasName())
        result->setName(node.name);
    remember(key, result);
    return result;
}

Value* Function::value(Id id, DType dtype) {
    if (auto number = as<Constant>(kernel_, id); number && !is_known(id))
        return constant(number->value, dtype);
    const DType own = widened(kernel_.nodes[std::size_t(id)].dtype);
    dtype = widened(dtype);
    Value* result = value(id);
    if (own == dtype) return result;
    llvm::Type* type = dtype == DType::f32 ? ir_.getFloatTy() : ir_.getInt32Ty();
    if (dtype == DType::boolean) {
        if (own == DType::i32) return ir_.CreateICmpNE(result, ir_.getInt32(0));
        return ir_.CreateFCmpUNE(result, float_constant(ir_, 0));
    }
    if (own == DType::boolean)
        return dtype == DType::f32 ? ir_.CreateUIToFP(result, type) : ir_.CreateZExt(result, type);
    return dtype == DType::f32 ? ir_.CreateSIToFP(result, type) : whole_part(ir_, result);
}

Value* Function::make(Id id) {
    const Node& node = kernel_.nodes[std::size_t(id)];
    if (auto size = as<Extent>(kernel_, id)) {
        Value* whole = ir_.CreateTrunc(dim(size->dim), ir_.getInt32Ty());
        return node.dtype == DType::i32 ? whole : ir_.CreateSIToFP(whole, ir_.getFloatTy());
    }
    if (auto index = as<Index>(kernel_, id))
        return ir_.CreateTrunc(position(index->axis), ir_.getInt32Ty());
    if (auto access = as<Load>(kernel_, id)) return load(access->access);
    if (auto map = as<Map>(kernel_, id)) return make_map(*map, node.dtype);
    if (auto random = as<Random>(kernel_, id)) return make_random(*random);
    if (auto valid = as<Valid>(kernel_, id)) return make_valid(*valid);
    throw InternalError("kernel " + kernel_.name + ": " + value_names(kernel_)[std::size_t(id)] +
                        " is used before it is written");
}

Value* Function::make_map(const Map& map, DType dtype) {
    if (map.function == Elementwise::identity) {
        Value* same = value(map.operands[0], dtype);
        const bool rounds = map.cast_to && is_half(*map.cast_to);
        return rounds ? rounded_to(ir_, *map.cast_to, same) : same;
    }
    const bool logic = row_of(map.function).takes == Takes::booleans;
    const DType type = logic ? DType::boolean : operand_dtype(kernel_, map);
    Values operands;
    for (std::size_t i = 0; i < map.operands.size(); ++i) {
        const bool condition = map.function == Elementwise::where && i == 0;
        operands.push_back(value(map.operands[i], condition ? DType::boolean : type));
    }
    return elementwise(ir_, map.function, operands);
}

Value* Function::make_random(const Random& random) {
    const auto word = [&](const std::vector<Stride>& strides) {
        return ir_.CreateTrunc(sum(strides, Dim(0)), ir_.getInt32Ty());
    };
    Value* seed = ir_.CreateLoad(ir_.getInt64Ty(), draw_);
    Value* step = ir_.CreateLoad(ir_.getInt64Ty(),
                                 ir_.CreateConstInBoundsGEP1_64(ir_.getInt64Ty(), draw_, 1));
    Value* site = sites_.at(random.site);
    return dropout_factor(ir_, {seed, step, site, random.probability}, word(random.row),
                          word(random.column));
}

Value* Function::make_valid(const Valid& valid) {
    Value* at = ir_.CreateTrunc(position(valid.axis), ir_.getInt32Ty());
    Value* result = ir_.getTrue();
    if (valid.lower >= 0)
        result = ir_.CreateAnd(result, ir_.CreateICmpSGE(at, value(valid.lower, DType::i32)));
    if (valid.upper >= 0)
        result = ir_.CreateAnd(result, ir_.CreateICmpSLT(at, value(valid.upper, DType::i32)));
    return result;
}

}  // namespace fovea::emit::nvptx
