// Binding a program to dims: shapes and addresses.
#include "instance.h"

#include <algorithm>
#include <optional>

#include "error.h"
#include "memory/room.h"
#include "memory/shape.h"
#include "memory/shared_buffers.h"
#include "profile/program_profile.h"

namespace fovea::runtime {
namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;  // sums of sizes do not overflow

const Program* find_program(const Model& model, const std::string& name) {
    for (const Program& program : model.programs) {
        if (program.name == name) return &program;
    }
    throw UserError("{} has no program '{}'", {model.name, name});
}

/// Of each dim whether a shape mentions it.
using Mentioned = std::vector<char>;

void mention_dims(std::span<const Extent> shape, Mentioned& mentioned) {
    for (const Extent& extent : shape) {
        for (const Extent::Term& term : extent.terms()) {
            for (const int dim : term.dims) mentioned[static_cast<std::size_t>(dim)] = 1;
        }
    }
}

Mentioned mentioned_dims(const Model& model, const Program& program) {
    Mentioned mentioned(model.dims.size());
    for (const TensorSpec& spec : model.parameters) mention_dims(spec.shape, mentioned);
    for (const TensorSpec& spec : program.inputs) mention_dims(spec.shape, mentioned);
    for (const TensorSpec& spec : program.outputs) mention_dims(spec.shape, mentioned);
    for (const BufferSpec& spec : program.buffers) mention_dims(spec.shape, mentioned);
    return mentioned;
}

/// Addresses in one arena; those of empty tensors are not null either.
void* address_in(Arena& arena, std::size_t offset) { return arena.as<std::byte>() + offset; }

}  // namespace

int Instance::find_tensor(std::span<const TensorSpec> specs, const std::string& name) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].name == name) return static_cast<int>(i);
    }
    return -1;
}

Instance::Instance(const Model& model, const std::string& program, Parameters& parameters)
    : model_(&model), program_(find_program(model, program)), parameters_(&parameters) {
    const Mentioned mentioned = mentioned_dims(model, *program_);
    for (std::size_t dim = 0; dim < mentioned.size(); ++dim)
        if (mentioned[dim]) mentioned_dims_.push_back(static_cast<int>(dim));
    if (program_->executor) executor_ = program_->executor();
    const bool shares = std::any_of(program_->buffers.begin(), program_->buffers.end(),
                                    [](const BufferSpec& buffer) { return buffer.shared >= 0; });
    if (shares && !executor_ && &parameters.model() == &model)
        shared_ = parameters.shared_buffers();
    if (model.profiled_runs) profile_ = model.profiled_runs->wanted(model, *program_);
}

std::vector<std::int64_t> Instance::values_of(const DimValues& dims) const {
    std::vector<std::int64_t> values(model_->dims.size(), 0);
    for (int dim : mentioned_dims_) {
        const std::string& name = model_->dims[static_cast<std::size_t>(dim)];
        const auto given = dims.find(name);
        const auto fixed = parameters_->dims().find(name);
        const bool is_fixed = fixed != parameters_->dims().end();
        const auto window = window_of_room(name);
        const auto steps = window ? dims.find("steps") : dims.end();
        if (given == dims.end() && steps != dims.end()) {
            values[static_cast<std::size_t>(dim)] = std::min(steps->second, *window);
            continue;
        }
        if (given == dims.end() && !is_fixed) {
            throw UserError("the size of '{}' is not known, which program '{}' of {} needs",
                            {name, program_->name, model_->name});
        }
        if (given != dims.end() && is_fixed && given->second != fixed->second) {
            throw UserError("'{}' is {} here, but {} in the parameters",
                            {name, given->second, fixed->second});
        }
        values[static_cast<std::size_t>(dim)] = is_fixed ? fixed->second : given->second;
    }
    return values;
}

void Instance::bind(const DimValues& dims) { bind_values(values_of(dims)); }

std::vector<std::int64_t> Instance::values_of(std::span<const std::int64_t> sizes) const {
    std::vector<std::int64_t> values(model_->dims.size(), 0);
    for (const int dim : mentioned_dims_) {
        const auto i = static_cast<std::size_t>(dim);
        const auto fixed = parameters_->dims().find(model_->dims[i]);
        values[i] = fixed != parameters_->dims().end() ? fixed->second : sizes[i];
    }
    const auto steps = std::find(model_->dims.begin(), model_->dims.end(), "steps");
    if (steps == model_->dims.end()) return values;
    for (const int dim : mentioned_dims_) {
        const auto i = static_cast<std::size_t>(dim);
        if (const auto window = window_of_room(model_->dims[i]))
            values[i] = std::min(sizes[std::size_t(steps - model_->dims.begin())], *window);
    }
    return values;
}

void Instance::bind_sizes(std::span<const std::int64_t> sizes) { bind_values(values_of(sizes)); }

CallBytes Instance::bytes_for(std::span<const std::int64_t> sizes) const {
    const ProgramLayout layout = layout_for(values_of(sizes));
    // No block is empty, and a workspace may start anywhere.
    const std::size_t sums = layout.shards > 1 ? layout.bytes_of_sums + kAlignment : 0;
    return {layout.workspace_bytes() + 2 * kAlignment, layout.inputs.bytes + layout.outputs.bytes +
                                                           layout.prepared_bytes() +
                                                           3 * kAlignment + sums};
}

void Instance::use_workspace(std::span<std::byte> memory) {
    unbind();
    workspace_.lend(memory);
}

void Instance::unbind() {
    tensors_.clear();
    bindings_.clear();
    prepared_version_ = 0;
}

ProgramLayout Instance::layout_for(std::span<const std::int64_t> values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0 || values[i] > kMostSize)
            throw UserError(
                "the size of '{}' is {}: {}",
                {model_->dims[i], values[i] < 0 ? "negative" : "beyond 2^40", values[i]});
    const ShardedRuns* const sharded = is_whole_ || executor_ ? nullptr : program_->shards.runs;
    const int shards = sharded ? sharded->count(*program_, values) : 1;
    try {
        const auto is_elsewhere = [this](const TensorSpec& output) {
            return is_placed(output) || is_kept(output);
        };
        return lay_out(*program_, values, shards, is_elsewhere, in_workspace_, shared_ != nullptr);
    } catch (const UserError& error) {
        std::string sizes;
        for (const int dim : mentioned_dims_) {
            const auto i = static_cast<std::size_t>(dim);
            sizes += ", " + model_->dims[i] + "=" + std::to_string(values[i]);
        }
        throw UserError("{}, in program '{}'{}", {error.what(), program_->name, sizes});
    }
}

void Instance::bind_values(std::vector<std::int64_t> values) {
    if (!tensors_.empty() && values == dims_) return;
    if (bind_again(values)) return clear_states();
    try {
        const ProgramLayout layout = layout_for(values);
        const Addresses before = arena_addresses();
        dims_ = std::move(values);
        tensors_.assign(parameters_->count() + program_->inputs.size() + program_->outputs.size() +
                            program_->buffers.size(),
                        nullptr);
        place_tensors(layout);
        place_states();
        place_buffers(layout);
        remember_binding(before);
        clear_states();
    } catch (...) {
        unbind();  // not half bound
        throw;
    }
}

bool Instance::bind_again(const std::vector<std::int64_t>& values) {
    const auto known = binding_of(values);
    if (known == bindings_.end() || (*known)->dims != values) return false;
    const Binding& binding = **known;
    tensors_ = binding.tensors;
    if (binding.prepared_sizes != prepared_sizes_) prepared_version_ = 0;
    prepared_sizes_ = binding.prepared_sizes;
    workspace_bytes_ = binding.workspace_bytes;
    layout_ = binding.layout;
    prepared_bytes_ = binding.prepared_bytes;
    dims_ = values;
    return true;
}

/// Where the binding to these dims stands, or would.
Instance::Bindings::iterator Instance::binding_of(const std::vector<std::int64_t>& dims) {
    return std::lower_bound(
        bindings_.begin(), bindings_.end(), dims,
        [](const std::unique_ptr<Binding>& binding, const std::vector<std::int64_t>& wanted) {
            return std::lexicographical_compare(binding->dims.begin(), binding->dims.end(),
                                                wanted.begin(), wanted.end());
        });
}

void Instance::remember_binding(const Addresses& arenas_before) {
    constexpr std::size_t kMost = 1024;
    if (arena_addresses() != arenas_before || bindings_.size() >= kMost) bindings_.clear();
    auto binding = std::make_unique<Binding>(
        Binding{dims_, tensors_, prepared_sizes_, workspace_bytes_, prepared_bytes_, layout_});
    bindings_.insert(binding_of(dims_), std::move(binding));
}

Instance::Addresses Instance::arena_addresses() const {
    return {inputs_.as<std::byte>(), outputs_.as<std::byte>(), workspace_.as<std::byte>(),
            prepared_memory_.as<std::byte>(), sums_of_shards_.as<std::byte>()};
}

void Instance::place_tensors(const ProgramLayout& layout) {
    std::size_t at = 0;
    for (; at < parameters_->count(); ++at) tensors_[at] = parameters_->address(at);
    const auto place = [&](const MemoryBlock& block, Arena& arena) {
        arena.reserve(block.bytes + kAlignment);  // never empty
        for (const std::size_t offset : block.offsets) tensors_[at++] = address_in(arena, offset);
    };
    place(layout.inputs, inputs_);
    place(layout.outputs, outputs_);
    for (const PlacedOutput& output : placed_)
        tensors_[parameters_->count() + program_->inputs.size() + output.number] = output.address;
}

void Instance::place_buffers(const ProgramLayout& layout) {
    workspace_bytes_ = layout.workspace_bytes();
    prepared_bytes_ = layout.prepared.bytes;
    workspace_.reserve(workspace_bytes_ + kAlignment);
    if (layout.prepared_sizes != prepared_sizes_) prepared_version_ = 0;
    prepared_sizes_ = layout.prepared_sizes;
    prepared_memory_.reserve(layout.prepared_bytes() + kAlignment);
    const std::size_t count = program_->buffers.size(), at = tensors_.size() - count;
    for (std::size_t i = 0, stays = 0; i < count; ++i) {
        const BufferSpec& buffer = program_->buffers[i];
        tensors_[at + i] = buffer.prepared
                               ? address_in(prepared_memory_, layout.prepared.offsets[stays++])
                               : address_in(workspace_, layout.ahead + layout.workspace.offsets[i]);
        if (shared_ && buffer.shared >= 0)
            tensors_[at + i] = model_->shared_buffers->place(*shared_, buffer.shared);
    }
    for (const auto& output : in_workspace_.places)
        tensors_[parameters_->count() + program_->inputs.size() + output.number] =
            address_in(workspace_, output.offset);
    layout_ = nullptr;
    if (layout.shards > 1)
        layout_ = program_->shards.runs->lay_out(
            *program_, dims_, layout.shards, parameters_->count(),
            {layout.workspace.bytes, layout.prepared.bytes}, sums_of_shards_);
}

void Instance::place_output(const std::string& name, void* address) {
    const int i = find_tensor(program_->outputs, name);
    if (i < 0) {
        throw UserError("program '{}' has no output '{}'", {program_->name, name});
    }
    const auto number = static_cast<std::size_t>(i);
    std::erase_if(placed_, [&](const PlacedOutput& output) { return output.number == number; });
    placed_.push_back({number, address});
    bindings_.clear();
    if (tensors_.empty()) return;
    tensors_[parameters_->count() + program_->inputs.size() + static_cast<std::size_t>(i)] =
        address;
}

void Instance::place_in_workspace(std::span<const OutputPlace> outputs, std::size_t bytes) {
    unbind();
    in_workspace_ = {{}, bytes};
    for (const OutputPlace& output : outputs) {
        const int i = find_tensor(program_->outputs, output.name);
        if (i < 0)
            throw InternalError("program '{}' has no output '{}'", {program_->name, output.name});
        in_workspace_.places.push_back({static_cast<std::size_t>(i), output.offset});
    }
}

bool Instance::is_placed(const TensorSpec& output) const {
    const auto is_it = [&](const auto& placed) {
        return &program_->outputs[placed.number] == &output;
    };
    return std::any_of(placed_.begin(), placed_.end(), is_it) ||
           std::any_of(in_workspace_.places.begin(), in_workspace_.places.end(), is_it);
}

bool Instance::has_input(const std::string& name) const {
    return find_tensor(program_->inputs, name) >= 0;
}

bool Instance::has_output(const std::string& name) const {
    return find_tensor(program_->outputs, name) >= 0;
}

std::vector<std::int64_t> Instance::shape_of(const TensorSpec& spec) const {
    return shape_values(spec.shape, dims_);
}

void* Instance::input_address(const std::string& name) {
    const int i = find_tensor(program_->inputs, name);
    if (i < 0) {
        throw UserError("program '{}' has no input '{}'", {program_->name, name});
    }
    if (tensors_.empty()) throw InternalError("program '{}' is not bound", {program_->name});
    return tensors_[parameters_->count() + static_cast<std::size_t>(i)];
}

void* Instance::output_address(const std::string& name) {
    const int i = find_tensor(program_->outputs, name);
    if (i < 0) {
        throw UserError("program '{}' has no output '{}'", {program_->name, name});
    }
    if (tensors_.empty()) throw InternalError("program '{}' is not bound", {program_->name});
    return tensors_[parameters_->count() + program_->inputs.size() + static_cast<std::size_t>(i)];
}

std::span<const float> Instance::output_values(const std::string& name) {
    const float* const values = output<float>(name);
    const TensorSpec& spec =
        program_->outputs[static_cast<std::size_t>(find_tensor(program_->outputs, name))];
    if (spec.dtype != DType::f32)
        throw UserError("output '{}' of program '{}' is {}, not f32: read it with output<T>(name)",
                        {name, program_->name, name_of(spec.dtype)});
    const auto shape = shape_of(spec);
    return {values, static_cast<std::size_t>(element_count(shape))};
}

}  // namespace fovea::runtime
