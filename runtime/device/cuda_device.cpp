// One stream of the GPU's primary context, in which everything happens in order.
#include "cuda_device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "../error.h"
#include "cuda_driver.h"
#include "host_stage.h"
#include "piece_copies.h"

namespace fovea::runtime::device {
namespace {

int capability_of(const std::string& architecture) {
    return std::atoi(architecture.c_str() + std::min<std::size_t>(3, architecture.size()));
}

int element_of_map(const MappedTensor& tensor) {
    if (tensor.rounds_to_tf32) return kCuMapTf32;
    switch (tensor.dtype) {
        case DType::f32: return kCuMapFloat32;
        case DType::bf16: return kCuMapBfloat16;
        case DType::f16: return kCuMapFloat16;
        case DType::i32: return kCuMapInt32;
        case DType::boolean: return kCuMapUint8;
    }
    return kCuMapUint8;
}

class Graph : public Recording {
  public:
    Graph(const CudaDriver& driver, CuGraphExec graph) : driver_(driver), graph_(graph) {}
    ~Graph() override { driver_.graph_exec_destroy(graph_); }
    CuGraphExec graph() const { return graph_; }

  private:
    const CudaDriver& driver_;
    CuGraphExec graph_;
};

class CudaDevice : public Device {
  public:
    explicit CudaDevice(const std::string& library)
        : driver_(library), stage_(driver_), pieces_(driver_) {
        int count = 0;
        driver_.check(driver_.device_get_count(&count), "count the GPUs");
        if (count == 0) throw UserError("the NVIDIA driver here finds no GPU");
        driver_.check(driver_.device_get(&device_, 0), "find the first GPU");
        std::array<char, 256> name = {};
        driver_.check(driver_.device_get_name(name.data(), int(name.size()) - 1, device_),
                      "name the GPU");
        name_ = name.data();
        capability_ = 10 * attribute(kCuCapabilityMajor) + attribute(kCuCapabilityMinor);
        driver_.check(driver_.context_retain(&context_, device_), "open the GPU");
        enter();
        driver_.check(driver_.stream_create(&stream_, kCuStreamNonBlocking), "make a stream");
        for (CuEvent* event : {&start_, &stop_})
            driver_.check(driver_.event_create(event, 0), "make a clock");
    }
    ~CudaDevice() override {
        driver_.context_set_current(context_);
        driver_.stream_synchronize(stream_);
        for (CuModule module : modules_) driver_.module_unload(module);
        for (CuEvent event : {start_, stop_}) driver_.event_destroy(event);
        driver_.stream_destroy(stream_);
        stage_.reset();
        pieces_.reset();
        driver_.context_release(device_);
    }

    std::string name() const override { return name_; }

    std::string choose(std::span<const std::string> architectures) const override {
        std::string best;
        for (const std::string& architecture : architectures)
            if (runs(capability_, architecture) &&
                (best.empty() || std::pair(capability_of(best), best) <
                                     std::pair(capability_of(architecture), architecture)))
                best = architecture;
        return best;
    }

    int load(const std::string& text) override {
        enter();
        std::vector<char> errors(1 << 14);
        std::array<int, 2> options = {kCuJitErrorLog, kCuJitErrorLogBytes};
        std::array<void*, 2> values = {errors.data(), reinterpret_cast<void*>(errors.size())};
        CuModule module = nullptr;
        const CuResult result = driver_.module_load(&module, text.c_str(), unsigned(options.size()),
                                                    options.data(), values.data());
        if (result == kCuUnsupportedPtx)
            throw UserError("the NVIDIA driver here is too old for the PTX of this program: " +
                            driver_.text_of(result));
        driver_.check(result, "load the kernels on " + name_ + " [" + errors.data() + "]");
        modules_.push_back(module);
        return static_cast<int>(modules_.size()) - 1;
    }

    Address allocate(std::size_t bytes) override {
        enter();
        CuPointer address = 0;
        driver_.check(driver_.memory_allocate(&address, std::max<std::size_t>(bytes, 1)),
                      "take " + std::to_string(bytes) + " bytes on " + name_);
        return address;
    }
    void release(Address address) noexcept override {
        driver_.context_set_current(context_);
        driver_.stream_synchronize(stream_);
        driver_.memory_free(address);
    }
    void copy_in(Address to, const void* from, std::size_t bytes) override {
        enter();
        if (std::byte* const place = room_for(bytes)) {
            std::memcpy(place, from, bytes);
            from = place;
        } else if (pieces_->to_device(to, from, bytes, stream_)) {
            return;
        }
        driver_.check(driver_.copy_in(to, from, bytes, stream_), copying(bytes, "to the GPU"));
    }
    void copy_out(void* to, Address from, std::size_t bytes) override {
        copy_out_at_wait(to, from, bytes);
        synchronize();
    }
    void copy_out_at_wait(void* to, Address from, std::size_t bytes) override {
        enter();
        std::byte* const place = room_for(bytes);
        if (!place && pieces_->from_device(to, from, bytes, stream_)) return;
        driver_.check(driver_.copy_out(place ? place : to, from, bytes, stream_),
                      copying(bytes, "from the GPU"));
        if (place) stage_->bring(to, place, bytes);
    }
    void copy(Address to, Address from, std::size_t bytes) override {
        enter();
        driver_.check(driver_.copy(to, from, bytes, stream_), copying(bytes, "on the GPU"));
    }
    void clear(Address to, std::size_t bytes) override {
        enter();
        driver_.check(driver_.set_bytes(to, 0, bytes, stream_),
                      "clear " + std::to_string(bytes) + " bytes on the GPU");
    }

    void launch(const LaunchCall& call) override {
        enter();
        const CuFunction function = function_of(call);
        std::vector<void*> arguments;
        for (const std::uint64_t& argument : call.arguments)
            arguments.push_back(const_cast<std::uint64_t*>(&argument));
        std::vector<CuTensorMap> maps;
        for (const MappedTensor& tensor : call.tensors) maps.push_back(tensor_map(tensor, call));
        for (CuTensorMap& map : maps) arguments.push_back(&map);
        driver_.check(
            driver_.launch(function, unsigned(call.blocks), 1, 1, unsigned(call.threads), 1, 1,
                           unsigned(call.shared_bytes), stream_, arguments.data(), nullptr),
            "launch kernel " + call.kernel);
    }
    void synchronize() override {
        const CuResult result = driver_.stream_synchronize(stream_);
        if (result != 0) stage_->forget();
        driver_.check(result, "finish the kernels on " + name_);
        stage_->finish();
    }

    double milliseconds_of(const std::function<void()>& work) override {
        enter();
        float milliseconds = 0;
        driver_.check(driver_.event_record(start_, stream_), "read the GPU's clock");
        work();
        driver_.check(driver_.event_record(stop_, stream_), "read the GPU's clock");
        driver_.check(driver_.event_synchronize(stop_), "finish the kernels on " + name_);
        driver_.check(driver_.event_elapsed(&milliseconds, start_, stop_), "read the GPU's clock");
        return milliseconds;
    }

    std::unique_ptr<Recording> record(const std::function<void()>& work) override {
        enter();
        driver_.check(driver_.begin_capture(stream_, kCuCaptureThreadLocal), "record a graph");
        CuGraph graph = nullptr;
        try {
            work();
        } catch (...) {
            if (driver_.end_capture(stream_, &graph) == 0 && graph) driver_.graph_destroy(graph);
            throw;
        }
        driver_.check(driver_.end_capture(stream_, &graph), "record a graph");
        CuGraphExec executable = nullptr;
        const CuResult result = driver_.graph_instantiate(&executable, graph, 0);
        driver_.graph_destroy(graph);
        driver_.check(result, "make a graph");
        return std::make_unique<Graph>(driver_, executable);
    }
    void replay(const Recording& recording) override {
        enter();
        driver_.check(driver_.graph_launch(static_cast<const Graph&>(recording).graph(), stream_),
                      "run a graph");
    }

  private:
    /// Room in the stage, after a wait where it is full; null where the bytes don't go through it.
    std::byte* room_for(std::size_t bytes) {
        if (bytes > HostStage::kLargest) return nullptr;
        if (std::byte* const place = stage_->take(bytes)) return place;
        synchronize();
        return stage_->take(bytes);
    }
    void enter() { driver_.check(driver_.context_set_current(context_), "use the GPU"); }
    int attribute(int number) const {
        int value = 0;
        driver_.check(driver_.device_get_attribute(&value, number, device_), "describe the GPU");
        return value;
    }
    static std::string copying(std::size_t bytes, const std::string& where) {
        return "copy " + std::to_string(bytes) + " bytes " + where;
    }
    /// The driver takes the maps of a launch by value, also into a graph: its addresses and sizes
    /// are those of the call that was recorded.
    CuTensorMap tensor_map(const MappedTensor& tensor, const LaunchCall& call) const {
        if (!driver_.encode_tensor_map)
            throw UserError("the NVIDIA driver here is too old for kernel " + call.kernel +
                            ": it has no cuTensorMapEncodeTiled");
        CuTensorMap map;
        if (tensor.is_empty()) return map;
        std::vector<std::uint64_t> extents, strides;
        std::vector<std::uint32_t> box;
        for (const MappedTensor::Axis& axis : tensor.axes) {
            extents.push_back(axis.extent);
            strides.push_back(axis.stride);
            box.push_back(axis.box);
        }
        const std::vector<std::uint32_t> steps(tensor.axes.size(), 1);
        const int swizzle = tensor.swizzle == 128 ? 3 : tensor.swizzle / 32;
        driver_.check(
            driver_.encode_tensor_map(
                &map, element_of_map(tensor), std::uint32_t(tensor.axes.size()),
                reinterpret_cast<void*>(tensor.address), extents.data(), strides.data() + 1,
                box.data(), steps.data(), kCuMapNoInterleave, swizzle, kCuMapFetch256, kCuMapZeros),
            "describe a tensor of kernel " + call.kernel);
        return map;
    }
    CuFunction function_of(const LaunchCall& call) {
        const std::pair key(call.module, call.entry);
        const auto known = functions_.find(key);
        if (known != functions_.end() && known->second.shared_bytes >= call.shared_bytes)
            return known->second.function;
        Entry entry;
        for (std::size_t i = 0; i < modules_.size() && !entry.function; ++i)
            if (call.module == kAnyModule || static_cast<std::size_t>(call.module) == i)
                if (driver_.module_get_function(&entry.function, modules_[i], call.entry.c_str()) !=
                    0)
                    entry.function = nullptr;
        if (!entry.function) throw InternalError("no module has the entry '" + call.entry + "'");
        entry.shared_bytes = call.shared_bytes;
        // Without asking a block has 48 KB, in which the kernel's own arrays lie, too.
        if (call.shared_bytes > 0)
            driver_.check(driver_.function_set_attribute(entry.function, kCuMaxDynamicShared,
                                                         call.shared_bytes),
                          "give kernel " + call.kernel + " " + std::to_string(call.shared_bytes) +
                              " bytes of shared memory");
        functions_[key] = entry;
        return entry.function;
    }

    struct Entry {
        CuFunction function = nullptr;
        int shared_bytes = 0;  // that it may have
    };

    CudaDriver driver_;
    std::optional<HostStage> stage_;  // of small copies
    std::optional<PieceCopies> pieces_;  // of large ones
    CuDevice device_ = 0;
    std::string name_;
    int capability_ = 0;
    CuContext context_ = nullptr;
    CuStream stream_ = nullptr;
    CuEvent start_ = nullptr, stop_ = nullptr;
    std::vector<CuModule> modules_;
    std::map<std::pair<int, std::string>, Entry> functions_;  // by module and entry
};

}  // namespace

std::shared_ptr<Device> open_cuda(const std::string& library) {
    return std::make_shared<CudaDevice>(library);
}

bool runs(int capability, const std::string& architecture) {
    const int needed = capability_of(architecture);
    return architecture.ends_with('a') ? capability == needed : capability >= needed;
}

}  // namespace fovea::runtime::device
