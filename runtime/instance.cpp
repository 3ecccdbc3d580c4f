// Binding a program to dims: shapes and addresses.
#include "instance.h"

#include <algorithm>
#include <set>

#include "error.h"
#include "memory/plan_workspace.h"
#include "memory/shape.h"
#include "profile/program_profile.h"

namespace fovea::runtime {
namespace {

const Program* find_program(const Model& model, const std::string& name) {
    for (const Program& program : model.programs) {
        if (program.name == name) return &program;
    }
    throw UserError("{} has no program '{}'", {model.name, name});
}

void mention_dims(std::span<const Extent> shape, std::set<int>& mentioned) {
    for (const Extent& extent : shape) {
        for (const Extent::Term& term : extent.terms()) {
            mentioned.insert(term.dims.begin(), term.dims.end());
        }
    }
}

std::set<int> mentioned_dims(const Model& model, const Program& program) {
    std::set<int> mentioned;
    for (const TensorSpec& spec : model.parameters) mention_dims(spec.shape, mentioned);
    for (const TensorSpec& spec : program.inputs) mention_dims(spec.shape, mentioned);
    for (const TensorSpec& spec : program.outputs) mention_dims(spec.shape, mentioned);
    for (const BufferSpec& spec : program.buffers) mention_dims(spec.shape, mentioned);
    return mentioned;
}

std::size_t tensor_bytes(DType dtype, std::span<const std::int64_t> shape) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(element_count(shape), static_cast<std::int64_t>(size_of(dtype)),
                               &bytes) ||
        bytes > PTRDIFF_MAX - static_cast<std::int64_t>(kAlignment)) {
        throw UserError("a tensor of shape {} has too many bytes", {shape_text(shape)});
    }
    return static_cast<std::size_t>(bytes);
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
    const std::set<int> mentioned = mentioned_dims(model, *program_);
    mentioned_dims_.assign(mentioned.begin(), mentioned.end());
    if (program_->executor) executor_ = program_->executor();
    profile_ = ProgramProfile::if_wanted(model, *program_);
}

std::vector<std::int64_t> Instance::values_of(const DimValues& dims) const {
    std::vector<std::int64_t> values(model_->dims.size(), 0);
    for (int dim : mentioned_dims_) {
        const std::string& name = model_->dims[static_cast<std::size_t>(dim)];
        const auto given = dims.find(name);
        const auto fixed = parameters_->dims().find(name);
        const bool is_fixed = fixed != parameters_->dims().end();
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

void Instance::bind_sizes(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> values(model_->dims.size(), 0);
    for (const int dim : mentioned_dims_) {
        const auto i = static_cast<std::size_t>(dim);
        const auto fixed = parameters_->dims().find(model_->dims[i]);
        values[i] = fixed != parameters_->dims().end() ? fixed->second : sizes[i];
    }
    bind_values(std::move(values));
}

void Instance::bind_values(std::vector<std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0)
            throw UserError("the size of '{}' is negative: {}", {model_->dims[i], values[i]});
    if (!tensors_.empty() && values == dims_) return;
    if (bind_again(values)) return clear_states();
    const std::vector<const void*> before = arena_addresses();
    dims_ = std::move(values);
    tensors_.assign(parameters_->count() + program_->inputs.size() + program_->outputs.size() +
                        program_->buffers.size(),
                    nullptr);
    for (std::size_t i = 0; i < parameters_->count(); ++i) {
        tensors_[i] = parameters_->address() + parameters_->offset(i);
    }
    try {
        place_tensors(parameters_->count(), program_->inputs, inputs_);
        const std::size_t outputs = parameters_->count() + program_->inputs.size();
        place_tensors(outputs, program_->outputs, outputs_);
        for (const auto& [name, address] : placed_) {
            const int i = find_tensor(program_->outputs, name);
            tensors_[outputs + static_cast<std::size_t>(i)] = address;
        }
        place_states();
        place_buffers();
        remember_binding(before);
        clear_states();
    } catch (...) {
        tensors_.clear();  // unbound, not half bound
        bindings_.clear();
        prepared_version_ = 0;
        throw;
    }
}

bool Instance::bind_again(const std::vector<std::int64_t>& values) {
    const auto known = bindings_.find(values);
    if (known == bindings_.end()) return false;
    const Binding& binding = known->second;
    tensors_ = binding.tensors;
    if (binding.prepared_shapes != prepared_shapes_) prepared_version_ = 0;
    prepared_shapes_ = binding.prepared_shapes;
    workspace_bytes_ = binding.workspace_bytes;
    layout_ = binding.layout;
    prepared_bytes_ = binding.prepared_bytes;
    dims_ = values;
    return true;
}

void Instance::remember_binding(const std::vector<const void*>& arenas_before) {
    constexpr std::size_t kMost = 1024;
    if (arena_addresses() != arenas_before || bindings_.size() >= kMost) bindings_.clear();
    bindings_[dims_] = {tensors_, prepared_shapes_, workspace_bytes_, prepared_bytes_, layout_};
}

std::vector<const void*> Instance::arena_addresses() const {
    return {inputs_.as<std::byte>(), outputs_.as<std::byte>(), workspace_.as<std::byte>(),
            prepared_memory_.as<std::byte>(), sums_of_shards_.as<std::byte>()};
}

void Instance::place_tensors(std::size_t start, std::span<const TensorSpec> specs, Arena& arena) {
    std::vector<std::size_t> offsets;
    std::size_t bytes = kAlignment;  // never empty
    for (const TensorSpec& spec : specs) {
        offsets.push_back(bytes - kAlignment);
        const bool is_elsewhere =
            &arena == &outputs_ && (placed_.contains(spec.name) || is_kept(spec));
        if (is_elsewhere) continue;
        if (__builtin_add_overflow(bytes, aligned(tensor_bytes(spec.dtype, shape_of(spec))),
                                   &bytes)) {
            throw UserError("the inputs or outputs of {} have too many bytes", {model_->name});
        }
    }
    arena.reserve(bytes);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        tensors_[start + i] = address_in(arena, offsets[i]);
    }
}

void Instance::place_buffers() {
    const std::size_t start = tensors_.size() - program_->buffers.size();
    const int shards = is_whole_ || executor_ ? 1 : shard_count(*program_, dims_);
    place_workspace(start, shards);
    place_prepared(start, shards);
    layout_ = nullptr;
    if (shards > 1)
        layout_ =
            lay_out_shards(*program_, dims_, shards, parameters_->count(),
                           {workspace_bytes_ / static_cast<std::size_t>(shards), prepared_bytes_},
                           sums_of_shards_);
}

void Instance::place_workspace(std::size_t start, int shards) {
    const std::vector<std::int64_t> dims = dims_of_shard(*program_, dims_, shards);
    std::vector<BufferLife> lives;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < program_->buffers.size(); ++i) {
        const BufferSpec& buffer = program_->buffers[i];
        if (buffer.prepared) continue;
        const auto shape = shape_values(buffer.shape, dims);
        lives.push_back({tensor_bytes(buffer.dtype, shape), buffer.first, buffer.last});
        numbers.push_back(start + i);
    }
    const WorkspacePlan plan = plan_workspace(lives);
    workspace_bytes_ = plan.peak_bytes * static_cast<std::size_t>(shards);
    workspace_.reserve(workspace_bytes_ + kAlignment);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        tensors_[numbers[i]] = address_in(workspace_, plan.offsets[i]);
    }
}

void Instance::place_prepared(std::size_t start, int shards) {
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<std::size_t> numbers, offsets;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < program_->buffers.size(); ++i) {
        const BufferSpec& buffer = program_->buffers[i];
        if (!buffer.prepared) continue;
        shapes.push_back(shape_values(buffer.shape, dims_));
        numbers.push_back(start + i);
        offsets.push_back(bytes);
        if (__builtin_add_overflow(bytes, aligned(tensor_bytes(buffer.dtype, shapes.back())),
                                   &bytes)) {
            throw UserError("the prepared buffers of {} have too many bytes", {model_->name});
        }
    }
    if (shapes != prepared_shapes_) prepared_version_ = 0;
    prepared_shapes_ = std::move(shapes);
    std::size_t of_places = 0;
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(shards), &of_places))
        throw UserError("the prepared buffers of {} have too many bytes", {model_->name});
    prepared_memory_.reserve(of_places + kAlignment);
    prepared_bytes_ = bytes;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        tensors_[numbers[i]] = address_in(prepared_memory_, offsets[i]);
    }
}

void Instance::place_output(const std::string& name, void* address) {
    const int i = find_tensor(program_->outputs, name);
    if (i < 0) {
        throw UserError("program '{}' has no output '{}'", {program_->name, name});
    }
    placed_[name] = address;
    bindings_.clear();
    if (tensors_.empty()) return;
    tensors_[parameters_->count() + program_->inputs.size() + static_cast<std::size_t>(i)] =
        address;
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
