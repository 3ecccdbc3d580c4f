// Buffers in one block, whose pages are large where the system has such.
#include "shared_buffers.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "../dtype.h"
#include "../parameters.h"
#include "arena.h"
#include "shape.h"

namespace fovea::runtime {

class HeldBuffers {
  public:
    explicit HeldBuffers(const Parameters& parameters) {
        const Model& model = parameters.model();
        parameter_count_ = model.parameters.size();
        std::vector<std::int64_t> dims;
        for (const std::string& name : model.dims) {
            const auto size = parameters.dims().find(name);
            dims.push_back(size == parameters.dims().end() ? 0 : size->second);
        }
        for (const Program& program : model.programs)
            for (const BufferSpec& buffer : program.buffers)
                if (buffer.shared >= 0) add(buffer, dims);
    }

    void* place(int number) {
        const std::lock_guard lock(mutex_);
        memory_.reserve(bytes_ + kAlignment);  // never empty
        return memory_.as<std::byte>() + held_[std::size_t(number)].offset;
    }

    void set_source(SharedBuffers::Source source) {
        const std::lock_guard lock(mutex_);
        source_ = source;
    }

    void do_alone(const std::function<void()>& work) {
        const std::lock_guard lock(mutex_);
        work();
    }

    void run(const Program& program, std::uint64_t version, Call& call,
             const std::function<void()>& work) {
        std::unique_lock lock(mutex_);
        const std::unique_ptr<bool[]> stands = standing(program, version);
        const auto is_missing = [&](const BufferSpec& buffer) {
            return buffer.shared >= 0 && held_[std::size_t(buffer.shared)].version != version;
        };
        const auto& buffers = program.buffers;
        if (std::none_of(buffers.begin(), buffers.end(), is_missing)) lock.unlock();
        call.stands = stands.get();
        if (!lock.owns_lock()) return work();
        call.want = source_.want;
        call.want_state = source_.state;
        work();
        if (source_.end) source_.end(source_.state);
        for (const BufferSpec& buffer : buffers)
            if (buffer.shared >= 0) held_[std::size_t(buffer.shared)].version = version;
    }

  private:
    struct Held {
        std::size_t offset = 0;  // bytes from the start of the block
        std::uint64_t version = 0;  // of the parameters that it was filled from; 0: of none
        bool is_known = false;
    };

    void add(const BufferSpec& buffer, std::span<const std::int64_t> dims) {
        const auto number = std::size_t(buffer.shared);
        if (number >= held_.size()) held_.resize(number + 1);
        if (held_[number].is_known) return;
        held_[number] = {bytes_, 0, true};
        const std::int64_t elements = element_count(shape_values(buffer.shape, dims));
        bytes_ += aligned(std::size_t(elements) * size_of(buffer.dtype));
    }

    /// Of each tensor of the call whether it need not be filled.
    std::unique_ptr<bool[]> standing(const Program& program, std::uint64_t version) const {
        const std::size_t first = parameter_count_ + program.inputs.size() + program.outputs.size();
        const std::size_t count = program.buffers.size();
        auto stands = std::make_unique<bool[]>(first + count);
        for (std::size_t i = 0; i < count; ++i) {
            const int number = program.buffers[i].shared;
            stands[first + i] = number >= 0 && held_[std::size_t(number)].version == version;
        }
        return stands;
    }

    std::size_t parameter_count_ = 0;
    std::mutex mutex_;  // of what follows
    std::vector<Held> held_;  // by their numbers
    std::size_t bytes_ = 0;
    Arena memory_;
    SharedBuffers::Source source_;
};

const SharedBuffers kSharedBuffers = {
    [](const Parameters& parameters) { return std::make_shared<HeldBuffers>(parameters); },
    [](HeldBuffers& held, int number) { return held.place(number); },
    [](HeldBuffers& held, SharedBuffers::Source source) { held.set_source(source); },
    [](HeldBuffers& held, const std::function<void()>& work) { held.do_alone(work); },
    [](HeldBuffers& held, const Program& program, std::uint64_t version, Call& call,
       const std::function<void()>& work) { held.run(program, version, call, work); }};

}  // namespace fovea::runtime
