// Two kernels are the same when their signatures, texts without names, are.
#include "codegen/kernel/analysis/same_kernel.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "codegen/base/text.h"
#include "codegen/kernel/print.h"

namespace fovea::kernel {
namespace {

class Structure {
  public:
    explicit Structure(const Kernel& kernel) : sites_(sites_of(kernel)) {
        for (const Axis& axis : kernel.axes) add(axis.extent), add(Dim(axis.most));
        for (const Buffer& buffer : kernel.buffers) {
            text_ += buffer.optional ? "o" : buffer.written ? "w" : "r";
            add(int(buffer.dtype));
            if (buffer.storage) add(buffer.storage.bits), add(buffer.storage.group);
            for (const Dim& dim : buffer.shape) add(dim);
        }
        for (const Node& node : kernel.nodes) add(node);
        add(kernel.body);
        if (kernel.steps) add(*kernel.steps);
    }
    /// Of one node alone.
    Structure(const Kernel& kernel, Id id) : sites_(sites_of(kernel)) {
        add(kernel.nodes[std::size_t(id)]);
    }
    const std::string& text() const { return text_; }

  private:
    void add(const Node& node) {
        text_ += "\n";
        add(int(node.operation.index()));
        add(int(node.dtype));
        add(node.axes);
        std::visit([&](const auto& operation) { add(operation); }, node.operation);
    }
    void add(int value) { text_ += std::to_string(value) + ","; }
    void add(double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, "%a,", value);
        text_ += digits;
    }
    void add(const Dim& dim) { text_ += text_of(dim) + ","; }
    void add(const std::vector<int>& values) {
        text_ += "(";
        for (int value : values) add(value);
        text_ += ")";
    }
    void add(const std::vector<Stride>& strides) {
        text_ += "[";
        for (const Stride& stride : strides)
            add(stride.axis), add(stride.stride), add(stride.panel), add(stride.step);
        text_ += "]";
    }
    void add(const Access& access) {
        add(access.buffer), add(access.strides), add(access.offset), add(access.row);
        if (access.row >= 0) add(access.row_stride);
    }
    void add(const Constant& constant) { add(constant.value), add(constant.axes); }
    void add(const Extent& extent) { add(extent.dim); }
    void add(const Index& index) { add(index.axis); }
    void add(const Load& load) { add(load.access); }
    void add(const Map& map) {
        add(int(map.function)), add(map.operands), add(map.cast_to ? int(*map.cast_to) : -1);
    }
    void add(const Random& random) {
        add(int(std::find(sites_.begin(), sites_.end(), random.site) - sites_.begin()));
        add(random.probability), add(random.row), add(random.column);
    }
    void add(const Reduce& reduce) {
        add(int(reduce.reduction)), add(reduce.axes), add(reduce.operand), add(reduce.blocks);
    }
    void add(const Contract& contract) {
        add(contract.axes), add(contract.a), add(contract.b), add(int(contract.factors)),
            add(contract.blocks);
    }
    void add(const Store& store) {
        add(store.access), add(store.value), add(int(store.accumulate));
    }
    void add(const Valid& valid) { add(valid.axis), add(valid.lower), add(valid.upper); }
    void add(const Carried& carried) { add(carried.initial); }
    void add(const Result& result) { add(result.loop), add(result.number); }
    void add(const Loop& loop) {
        add(int(loop.kind)), add(loop.axis), add(loop.body), add(loop.lower), add(loop.upper);
        for (const Carry& carry : loop.carries)
            add(carry.initial), add(carry.argument), add(carry.next);
    }

    void add(const StepArgument& argument) {
        add(argument.buffer), add(argument.offset), add(argument.step), add(argument.row);
    }
    void add(const Steps& steps) {
        text_ += steps.reverse ? "\nreverse " : "\nsteps ";
        add(steps.count);
        Text rows;
        rows << steps.rows;
        if (steps.chunk) rows << " by " << steps.chunk << " " << steps.positions << " ";
        text_ += rows.view();
        for (const Kernel& kernel : steps.kernels) text_ += "\n{" + Structure(kernel).text() + "}";
        for (const StepCall& call : steps.calls) {
            add(call.kernel), add(int(call.waits));
            for (const StepArgument& argument : call.arguments) add(argument);
        }
        for (const StepStart& start : steps.starts) add(start.from), add(start.to), add(start.size);
    }

    std::vector<int> sites_;
    std::string text_;
};

}  // namespace

bool same_kernel(const Kernel& a, const Kernel& b) {
    return Structure(a).text() == Structure(b).text();
}

std::string structure_of(const Kernel& kernel, Id id) { return Structure(kernel, id).text(); }

std::uint64_t structural_hash(const Kernel& kernel) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    const Structure structure(kernel);
    for (unsigned char c : structure.text()) hash = (hash ^ c) * 0x100000001b3U;
    return hash;
}

}  // namespace fovea::kernel
