#include "tools/fovea/device/device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "codegen/base/error.h"
#include "codegen/base/text.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/print.h"
#include "codegen/lower/optimizer_kernels.h"
#include "runtime/check_inputs_of_shape.h"
#include "runtime/device/training.h"
#include "runtime/memory/shape.h"
#include "runtime/tables.h"
#include "tools/fovea/runtime_dtype.h"

namespace fovea::tool {

namespace {

namespace device = runtime::device;

/// Dims and kernels of a plan as the runtime has them.
class Conversion {
  public:
    explicit Conversion(const plan::Model& model) : dims_(model.dims) {}

    runtime::Extent extent(const Dim& dim) const {
        return runtime::parse_extent(kernel::text_of(dim.without_label()), dims_);
    }
    std::vector<runtime::Extent> shape(const std::vector<Dim>& dims) const {
        std::vector<runtime::Extent> extents;
        for (const Dim& dim : dims) extents.push_back(extent(dim));
        return extents;
    }
    device::Kernel kernel(const kernel::Kernel& from, const emit::PtxKernel& ptx) const {
        device::Kernel result;
        result.name = from.name;
        for (const kernel::Buffer& buffer : from.buffers)
            result.buffers.push_back({runtime_dtype(buffer.dtype), buffer.written});
        if (from.steps) {
            result.scan = scan(*from.steps, ptx);
            return result;
        }
        for (const std::string& symbol : kernel::symbols_of(from))
            result.dims.push_back(number_of(symbol));
        result.sites = int(kernel::sites_of(from).size());
        for (const emit::PtxLaunch& launch : ptx.launches) {
            device::Launch converted{launch.entry, {}, launch.threads, launch.shared_bytes};
            for (const emit::GridFactor& factor : launch.grid)
                converted.grid.push_back({extent(factor.extent), factor.tile});
            converted.range = {extent(launch.range.extent), launch.range.least, launch.range.most};
            for (const emit::TensorMap& map : launch.maps)
                converted.maps.push_back(tensor_map(map));
            result.launches.push_back(std::move(converted));
        }
        return result;
    }

  private:
    static std::string name_of(const Symbol& symbol) {
        Text text;
        text << symbol;
        return std::string(text.view());
    }
    int number_of(const std::string& symbol) const {
        const auto dim = std::find(dims_.begin(), dims_.end(), symbol);
        if (dim == dims_.end())
            throw InternalError(fmt::format("'{}' is no dim of the model", symbol));
        return int(dim - dims_.begin());
    }
    device::TensorMap tensor_map(const emit::TensorMap& map) const {
        device::TensorMap result{
            map.buffer, extent(map.offset), {}, map.swizzle, map.rounds_to_tf32};
        for (const emit::TensorMap::Axis& axis : map.axes)
            result.axes.push_back({extent(axis.extent), extent(axis.stride), axis.box});
        return result;
    }
    /// Of all rows: the first of them is row 0.
    device::Place place(const kernel::StepArgument& argument) const {
        return {argument.buffer, extent(argument.offset), extent(argument.step)};
    }
    std::shared_ptr<const device::Scan> scan(const kernel::Steps& steps,
                                             const emit::PtxKernel& ptx) const {
        if (ptx.steps.size() != steps.kernels.size())
            throw InternalError(fmt::format("{} of the {} kernels of scan {} are in PTX",
                                            ptx.steps.size(), steps.kernels.size(), ptx.name));
        device::Scan result;
        result.count = extent(steps.count);
        result.reverse = steps.reverse;
        result.chunk = steps.chunk;
        if (steps.chunk) result.positions = number_of(name_of(steps.positions));
        for (std::size_t i = 0; i < steps.kernels.size(); ++i)
            result.kernels.push_back(kernel(steps.kernels[i], ptx.steps[i]));
        for (const kernel::StepCall& call : steps.calls) {
            device::ScanCall converted{call.kernel, {}};
            for (const kernel::StepArgument& argument : call.arguments)
                converted.arguments.push_back(place(argument));
            result.calls.push_back(std::move(converted));
        }
        const runtime::Extent copies =
            steps.rows ? runtime::Extent::dim(number_of(name_of(steps.rows))) : 1;
        for (const kernel::StepStart& start : steps.starts)
            result.starts.push_back(
                {place(start.from), place(start.to), extent(start.size) * copies});
        return std::make_shared<const device::Scan>(std::move(result));
    }

    const std::vector<std::string>& dims_;
};

std::vector<device::Step> converted(const std::vector<plan::Step>& steps) {
    std::vector<device::Step> result;
    for (const plan::Step& step : steps)
        result.push_back({step.kernel, step.arguments, step.sites});
    return result;
}

runtime::TensorSpec spec_of(const plan::Tensor& tensor, const Conversion& convert) {
    runtime::TensorSpec spec;
    spec.name = tensor.name;
    spec.dtype = runtime_dtype(tensor.dtype);
    spec.shape = convert.shape(tensor.shape);
    spec.initial = runtime::Initial(int(tensor.initial));
    spec.fan_in = tensor.fan_in;
    spec.zero_row = tensor.zero_row;
    spec.frozen = tensor.frozen;
    spec.storage = {tensor.storage.bits, tensor.storage.group};
    spec.state = tensor.state;
    return spec;
}

/// The number of a tensor of the optimizer's kernels.
int update_tensor(const std::string& name) {
    const auto& names = device::kUpdateTensors;
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names))
        throw InternalError(fmt::format("a step of an optimizer has no tensor '{}'", name));
    return int(found - std::begin(names));
}

/// What the program checks of its inputs before it runs.
std::function<void(const runtime::Call&)> checks_of(const plan::Program& program,
                                                    const plan::Model& model) {
    struct Check {
        std::size_t tensor;
        plan::Holds holds;
        std::string name;
        std::vector<runtime::Extent> shape, first, count;  // of the parts
        runtime::Extent limit;
    };
    const Conversion convert(model);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const plan::Tensor& tensor = program.tensors[i];
        if (tensor.role != plan::Role::input) continue;
        for (const plan::Check& check : tensor.checks) {
            checks.push_back({i,
                              check.holds,
                              tensor.name,
                              convert.shape(tensor.shape),
                              {},
                              {},
                              convert.extent(check.limit)});
            for (const plan::AxisPart& part : check.parts) {
                checks.back().first.push_back(convert.extent(part.first));
                checks.back().count.push_back(convert.extent(part.count));
            }
        }
    }
    struct Slice {
        std::string place;
        runtime::Extent first, size, extent;
    };
    std::vector<Slice> slices;
    for (const plan::Slice& slice : program.slices)
        slices.push_back({slice.place, convert.extent(slice.first), convert.extent(slice.size),
                          convert.extent(slice.extent)});
    return [checks, slices, count = model.dims.size()](const runtime::Call& call) {
        const std::span<const std::int64_t> dims(call.dims, count);
        for (const Slice& slice : slices)
            runtime::check_slice(slice.place.c_str(), slice.first.value(dims),
                                 slice.size.value(dims), slice.extent.value(dims));
        for (const Check& check : checks) {
            const auto shape = runtime::shape_values(check.shape, dims);
            const auto* values = static_cast<const std::int32_t*>(call.tensors[check.tensor]);
            auto* verify = check.holds == plan::Holds::ids ? runtime::check_ids_of_shape
                                                           : runtime::check_lengths_of_shape;
            std::vector<runtime::AxisPart> parts;
            for (std::size_t i = 0; i < check.first.size(); ++i)
                parts.push_back({check.first[i].value(dims), check.count[i].value(dims)});
            verify(check.name.c_str(), values, shape, check.limit.value(dims), parts);
        }
    };
}

std::vector<runtime::BufferSpec> buffers_of(const plan::Program& program,
                                            const Conversion& convert) {
    std::vector<runtime::BufferSpec> buffers;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::buffer || tensor.role == plan::Role::prepared)
            buffers.push_back({tensor.name, runtime_dtype(tensor.dtype),
                               convert.shape(tensor.shape), tensor.first, tensor.last,
                               tensor.role == plan::Role::prepared});
    return buffers;
}

/// What the program checks of its buffers after a run.
std::vector<runtime::ComputedCheck> computed_of(const plan::Program& program,
                                                const Conversion& convert) {
    std::vector<runtime::ComputedCheck> checks;
    int buffer = 0;
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role != plan::Role::buffer && tensor.role != plan::Role::prepared) continue;
        for (const plan::Check& check : tensor.checks)
            checks.push_back({buffer, check.holds == plan::Holds::lengths,
                              convert.extent(check.limit), check.of});
        ++buffer;
    }
    return checks;
}

runtime::Program describe(const plan::Program& program, const plan::Model& model) {
    const Conversion convert(model);
    runtime::Program result;
    result.name = program.name;
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role == plan::Role::input) result.inputs.push_back(spec_of(tensor, convert));
        if (tensor.role == plan::Role::output) result.outputs.push_back(spec_of(tensor, convert));
    }
    result.buffers = buffers_of(program, convert);
    for (const plan::Step& step : program.steps) result.kernels.push_back(step.name);
    result.check_inputs = checks_of(program, model);
    result.computed = computed_of(program, convert);
    result.needs = program.needs;
    return result;
}

}  // namespace

namespace {

/// Names of the sizes of chunks, which loops give their kernels.
void add_chunk_dims(const std::vector<kernel::Kernel>& kernels, std::vector<std::string>& dims) {
    for (const kernel::Kernel& kernel : kernels) {
        if (!kernel.steps) continue;
        Text name;
        name << kernel.steps->positions;
        const std::string own(name.view());
        if (!own.empty() && std::find(dims.begin(), dims.end(), own) == dims.end())
            dims.push_back(own);
        add_chunk_dims(kernel.steps->kernels, dims);
    }
}

plan::Model with_optimizer_alone(const plan::Model& model) {
    plan::Model whole = model;
    const bool trains =
        std::any_of(model.programs.begin(), model.programs.end(),
                    [](const plan::Program& own) { return own.name == "training_step"; });
    if (!trains) return whole;
    whole.dims.insert(whole.dims.end(), std::begin(device::kUpdateDims),
                      std::end(device::kUpdateDims));
    for (const lower::OptimizerProgram& program : lower::optimizer_programs()) {
        plan::Program steps{.name = program.name};
        for (const kernel::Kernel& kernel : program.kernels) {
            plan::Step step{.kernel = int(whole.kernels.size()), .name = kernel.name};
            for (const kernel::Buffer& buffer : kernel.buffers)
                step.arguments.push_back(update_tensor(buffer.name));
            whole.kernels.push_back(kernel);
            steps.steps.push_back(std::move(step));
        }
        whole.programs.push_back(std::move(steps));
    }
    return whole;
}

}  // namespace

plan::Model with_optimizer(const plan::Model& model) {
    plan::Model whole = with_optimizer_alone(model);
    add_chunk_dims(model.kernels, whole.dims);
    return whole;
}

device::Code device_code(const plan::Model& model, const std::vector<emit::PtxModule>& modules) {
    const Conversion convert(model);
    device::Code code;
    code.dims = model.dims;
    for (const emit::PtxModule& module : modules) {
        device::Module result{module.architecture, module.text, {}};
        for (std::size_t i = 0; i < model.kernels.size(); ++i)
            result.kernels.push_back(convert.kernel(model.kernels[i], module.kernels[i]));
        code.modules.push_back(std::move(result));
    }
    for (const plan::Program& program : model.programs)
        code.programs.push_back({program.name, buffers_of(program, convert),
                                 converted(program.prepare), converted(program.steps)});
    return code;
}

emit::PtxOptions ptx_options() {
    const char* text = std::getenv("FOVEA_CHECK_WAITS");
    if (!text) return {};
    int seconds = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, seconds);
    if (error != std::errc() || rest != end || seconds < 1 || seconds > 3600)
        throw UserError(fmt::format(
            "FOVEA_CHECK_WAITS is '{}'; set it to the seconds, 1 to 3600, after which a GPU's wait "
            "is an error",
            text));
    return {.wait_seconds = seconds};
}

std::vector<emit::PtxModule> emit_modules(const plan::Model& model,
                                          const std::vector<std::string>& architectures,
                                          const emit::PtxOptions& options) {
    if (const auto reason = emit::why_not_ptx()) throw UserError(*reason);
    std::vector<target::Gpu> targets;
    for (const std::string& architecture : architectures)
        targets.push_back(target::gpu_of(model.target, architecture));
    return emit::emit_ptx(model.kernels, targets, options);
}

device::Code compile_for_devices(const plan::Model& model,
                                 const std::vector<std::string>& architectures,
                                 const emit::PtxOptions& options) {
    const plan::Model whole = with_optimizer(model);
    return device_code(whole, emit_modules(whole, architectures, options));
}

runtime::Model description_of(const plan::Model& model) {
    const Conversion convert(model);
    runtime::Model result;
    result.name = model.name;
    result.dims = model.dims;
    for (const plan::Setting& setting : model.settings)
        result.settings.push_back(
            {setting.name, setting.value, setting.is_default, setting.in_training});
    for (const plan::Tensor& tensor : model.parameters)
        result.parameters.push_back(spec_of(tensor, convert));
    for (const plan::Alias& alias : model.aliases)
        result.aliases.push_back({alias.name, alias.parameter});
    result.config_fields = model.config_fields;
    for (const plan::Program& program : model.programs)
        result.programs.push_back(describe(program, model));
    result.profiled_runs = &runtime::kProfiledRuns;
    result.open_sizes = &runtime::kOpenSizes;
    result.stored_weights = &runtime::kStoredWeights;
    result.verified_configs = &runtime::kVerifiedConfigs;
    return result;
}

}  // namespace fovea::tool
