#include "weights_in_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "../dtype.h"
#include "../error.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../memory/shared_buffers.h"
#include "../parallel/team.h"

namespace fovea::runtime {

namespace {

/// Gives the whole pages of a block back: those of a file can be read again, others are zeros.
void give_back(const void* address, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes) / page * page;
    if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

/// Lets the bytes of a mapped file be written, in this process alone: pages that are become copies.
void let_write(Bytes bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    const std::uintptr_t first = begin / page * page;
    if (::mprotect(reinterpret_cast<void*>(first), begin + bytes.size() - first,
                   PROT_READ | PROT_WRITE) != 0)
        throw UserError("not enough memory: weights of {} bytes cannot be written", {bytes.size()});
}

/// Whether a tensor's bytes are numbers of this type that can be read where they lie.
bool lies_as(DType type, const TensorView& tensor) {
    return tensor.dtype == safetensors_name(type) &&
           reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % size_of(type) == 0;
}

/// The same of floats of 16 bits; null where they are others.
HalfFloats halves_of(const TensorView& tensor) {
    for (const DType half : {DType::bf16, DType::f16})
        if (lies_as(half, tensor)) return {tensor.bytes.data(), half};
    return {};
}

/// Whether a program makes the parameter's next value, a state.
bool is_state(const Model& model, const std::string& parameter) {
    const auto makes = [&](const Program& program) {
        return std::any_of(
            program.outputs.begin(), program.outputs.end(),
            [&](const TensorSpec& output) { return output.state && output.name == parameter; });
    };
    return std::any_of(model.programs.begin(), model.programs.end(), makes);
}

void verify_unchanged(const SafetensorsFile& file) {
    if (file.was_written_to())
        throw UserError(
            "'{}' was written to since its weights were loaded, and programs read them there: load "
            "them again, and have a new file take its name rather than its place",
            {file.path()});
}

bool gives_gradients(const Program& program) {
    return !program.outputs.empty() && program.needs.empty();
}

/// Parameters, and the file that they are in.
struct HeldWeights {
    HeldWeights(const Model& model, const DimValues& dims, SafetensorsFile given)
        : file(std::move(given)), parameters(model, dims), in_file(parameters, file) {
        in_file.load();
        parameters.set_fetch([this] { verify_unchanged(file); });
    }

    SafetensorsFile file;
    Parameters parameters;
    WeightsInFile in_file;
};

}  // namespace

const FileWeights kFileWeights = {
    [](const Model& model, const DimValues& dims,
       SafetensorsFile& file) -> std::shared_ptr<Parameters> {
        if (!file.is_mapped() ||
            std::any_of(model.programs.begin(), model.programs.end(), gives_gradients))
            return nullptr;
        const auto held = std::make_shared<HeldWeights>(model, dims, std::move(file));
        return {held, &held->parameters};
    },
    [](Parameters& parameters, const SafetensorsFile& file) {
        const auto in_file = std::make_shared<WeightsInFile>(parameters, file);
        in_file->load();
        return std::shared_ptr<const WeightsInFile>(in_file);
    }};

WeightsInFile::WeightsInFile(Parameters& parameters, const SafetensorsFile& file)
    : parameters_(parameters),
      file_(file),
      tensors_(parameters.count()),
      places_(parameters.count(), Place::apart),
      halves_(parameters.count()) {
    const Model& model = parameters.model();
    copies_ = std::any_of(model.programs.begin(), model.programs.end(),
                          [](const Program& program) { return bool(program.executor); });
    if (copies_) return;
    parameters.set_outside(this);
    if (!parameters.shared_buffers()) return;
    model.shared_buffers->set_source(
        *parameters.shared_buffers(),
        {[](void* self, int parameter, Team& team) {
             static_cast<WeightsInFile*>(self)->want(static_cast<std::size_t>(parameter), team);
         },
         [](void* self) { static_cast<WeightsInFile*>(self)->let_all_go(); }, this});
}

WeightsInFile::~WeightsInFile() {
    if (copies_) return;
    parameters_.set_outside(nullptr);
    if (parameters_.shared_buffers())
        parameters_.model().shared_buffers->set_source(*parameters_.shared_buffers(), {});
}

void WeightsInFile::load() {
    load_some_parameters(
        parameters_, file_, [](const TensorSpec&) { return true; }, {},
        [this](std::size_t i, const TensorView& tensor) { take(i, tensor); });
}

void WeightsInFile::take(std::size_t i, const TensorView& tensor) {
    verify_floats(file_, tensor, parameters_.shape(i));
    if (copies_) return copy_part(tensor, 0, parameters_.values(i));
    const Model& model = parameters_.model();
    const TensorSpec& spec = model.parameters[i];
    const bool stays = !is_state(model, spec.name);
    tensors_[i] = &tensor;
    if (stays && file_.is_mapped() && lies_as(DType::f32, tensor)) {
        places_[i] = Place::in_file;
        const auto* const values = reinterpret_cast<const float*>(tensor.bytes.data());
        return parameters_.lie_at(i, const_cast<float*>(values));  // nobody writes there
    }
    if (stays && spec.looked_up) halves_[i] = halves_of(tensor);
    const bool is_shared = parameters_.shared_buffers() && spec.copied && !spec.looked_up;
    if (halves_[i].address || is_shared) {
        places_[i] = Place::in_file_until_wanted;
        return;
    }
    // The flat array has large pages, which small parameters here and there would all fill.
    const std::size_t bytes = floats(i).size_bytes();
    parameters_.lie_at(i, apart_.emplace_back(bytes + kAlignment).as<float>());
    copy_part(tensor, 0, floats(i));
    give_back_file(i);
}

std::span<float> WeightsInFile::floats(std::size_t i) {
    const std::int64_t count = element_count(parameters_.shape(i));
    return {parameters_.address(i), static_cast<std::size_t>(count)};
}

void WeightsInFile::want(std::size_t parameter, Team& team) {
    team.wait();  // all have read the one before
    const Part part = Team::part();
    if (part.index == 0) {
        let_go();
        wanted_ = static_cast<int>(parameter);
    }
    if (places_[parameter] == Place::in_file_until_wanted) {
        const std::span<float> values = floats(parameter);
        const auto share = [&](int index) {
            return values.size() * static_cast<std::size_t>(index) /
                   static_cast<std::size_t>(part.count);
        };
        const std::size_t first = share(part.index);
        copy_part(*tensors_[parameter], first,
                  values.subspan(first, share(part.index + 1) - first));
    }
    team.wait();
}

void WeightsInFile::let_go() {
    if (wanted_ < 0) return;
    const auto i = static_cast<std::size_t>(wanted_);
    wanted_ = -1;
    give_back_file(i);
    if (places_[i] != Place::in_file_until_wanted) return;
    const std::span<const float> values = floats(i);
    give_back(values.data(), values.size_bytes());
}

void WeightsInFile::let_all_go() {
    let_go();
    for (std::size_t i = 0; i < tensors_.size(); ++i) give_back_file(i);
}

void WeightsInFile::give_back_file(std::size_t i) const {
    const TensorView* const tensor = tensors_[i];
    if (tensor && file_.is_mapped() && places_[i] != Place::kept)
        give_back(tensor->bytes.data(), tensor->bytes.size());
}

void WeightsInFile::keep(std::size_t i) {
    const std::lock_guard lock(mutex_);
    if (!parameters_.shared_buffers()) return bring(i);
    parameters_.model().shared_buffers->alone(*parameters_.shared_buffers(), [&] { bring(i); });
}

void WeightsInFile::changed() {
    for (const std::size_t i : brought_) halves_[i] = {};
    brought_.clear();
}

void WeightsInFile::bring(std::size_t i) {
    const Place place = places_[i];
    if (place == Place::in_file) let_write(tensors_[i]->bytes);
    if (place == Place::in_file_until_wanted) {
        copy_part(*tensors_[i], 0, floats(i));
        brought_.push_back(i);
    }
    if (place == Place::in_file || place == Place::in_file_until_wanted) places_[i] = Place::kept;
}

}  // namespace fovea::runtime
