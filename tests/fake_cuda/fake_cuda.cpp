// A library with the functions of the CUDA driver that fovea calls, over the interpreter of PTX:
// for tests of what calls them. FAKE_CUDA_GPUS, FAKE_CUDA_CAPABILITY (90) and FAKE_CUDA_PINNED (1)
// say what there is; fake_cuda_count counts the calls of a function, fake_cuda_last_map tells of
// the last tensor map. FAKE_CUDA_FAULT breaks entries, `hang:ENTRY,crash:ENTRY,…`: the launch of
// one never ends, ends the process (crash), or fails, and every later call with it (sticky); no
// memory is left once the module of one is loaded (memory). With FAKE_CUDA_OLD it is a driver that
// has no tensor maps. As the real one it does not start in a copy of a process that has started it.
// Its stream does nothing before it is waited for: memory that is used too early has wrong values.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ptx/interpret.h"
#include "codegen/ptx/program.h"

namespace {

using namespace fovea::ptx;

constexpr int kInvalid = 1, kNoMemory = 2, kNotInitialized = 3, kNoDevice = 100, kBadPtx = 218,
              kNotFound = 500, kFault = 700;
constexpr std::size_t kMemory = std::size_t(1) << 32;

struct LoadedFunction {
    Module* module;
    std::string name;
    int dynamic_shared = 0;  // that a launch may have
};
struct Graph {
    std::vector<std::function<int()>> work;
};

struct State {
    std::map<std::uint64_t, std::vector<std::byte>> blocks;
    std::uint64_t next = 0x10000;
    std::vector<std::unique_ptr<LoadedFunction>> functions;
    std::unique_ptr<Graph> capture;
    bool has_context = false;
    int failure = 0;  // of a kernel; the context is of no use from then on
    bool has_no_memory = false;
    std::map<std::string, int> counts;
    std::string last_map;
    std::vector<std::vector<std::byte>> pinned;  // memory of the host
    std::deque<std::function<int()>> waiting;  // of the stream
    std::uint64_t done = 0;  // what the stream did before these
} g_state;

struct Event {
    std::uint64_t position = 0;  // in the stream
};

int environment(const char* name, int otherwise) {
    const char* value = std::getenv(name);
    return value ? std::atoi(value) : otherwise;
}

/// Whether FAKE_CUDA_FAULT breaks the entry in this way.
bool breaks(const std::string& how, const std::string& entry) {
    const char* faults = std::getenv("FAKE_CUDA_FAULT");
    const std::string all = "," + std::string(faults ? faults : "") + ",";
    return all.find("," + how + ":" + entry + ",") != std::string::npos;
}

/// Bytes of shared memory that a block may have where they are asked for.
int most_shared() {
    const int capability = environment("FAKE_CUDA_CAPABILITY", 90);
    if (capability >= 90) return 227 << 10;
    return (capability == 80 ? 163 : 99) << 10;
}

/// The stream does what waits before `position`.
int reach(std::uint64_t position) {
    while (!g_state.waiting.empty() && g_state.done < position) {
        const std::function<int()> work = std::move(g_state.waiting.front());
        g_state.waiting.pop_front();
        ++g_state.done;
        if (g_state.failure) continue;
        g_state.failure = work();
    }
    return g_state.failure;
}
int reach_end() { return reach(g_state.done + g_state.waiting.size()); }

/// The stream does it in its turn, or the graph that is being recorded when it runs.
int later(std::function<int()> work) {
    if (!g_state.has_context) return kInvalid;
    if (g_state.failure) return g_state.failure;
    if (g_state.capture) g_state.capture->work.push_back(std::move(work));
    else g_state.waiting.push_back(std::move(work));
    return 0;
}

bool is_pinned(const void* place) {
    return std::any_of(g_state.pinned.begin(), g_state.pinned.end(),
                       [&](const std::vector<std::byte>& memory) {
                           return place >= memory.data() && place < memory.data() + memory.size();
                       });
}

std::byte* at(std::uint64_t address, std::size_t bytes) {
    auto block = g_state.blocks.upper_bound(address);
    if (block == g_state.blocks.begin()) return nullptr;
    --block;
    const std::uint64_t offset = address - block->first;
    return offset + bytes <= block->second.size() ? block->second.data() + offset : nullptr;
}

int run(const LoadedFunction& function, const Launch& launch) {
    while (breaks("hang", function.name)) pause();
    if (breaks("crash", function.name)) std::abort();
    if (breaks("sticky", function.name)) return kFault;
    Memory memory;
    for (auto& [address, bytes] : g_state.blocks)
        if (!bytes.empty()) memory.add_at(address, bytes.data(), bytes.size(), true);
    try {
        interpret(*function.module, function.name, launch, memory);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fake CUDA: %s\n", error.what());
        return kFault;
    }
    return 0;
}

}  // namespace

extern "C" {

int fake_cuda_count(const char* function) { return g_state.counts[function]; }

const char* fake_cuda_last_map() { return g_state.last_map.c_str(); }

int cuInit(unsigned) {
    if (static const pid_t started = getpid(); getpid() != started) return kNotInitialized;
    return environment("FAKE_CUDA_GPUS", 1) < 0 ? kNoDevice : 0;
}

int cuGetErrorString(int result, const char** text) {
    static const std::map<int, const char*> texts = {
        {kInvalid, "invalid argument"},
        {kNoMemory, "out of memory"},
        {kBadPtx, "a PTX JIT compilation failed"},
        {kNotFound, "named symbol not found"},
        {kFault, "an illegal memory access was encountered"}};
    const auto found = texts.find(result);
    if (found != texts.end()) *text = found->second;
    return found == texts.end() ? kInvalid : 0;
}

int cuDeviceGetCount(int* count) {
    *count = environment("FAKE_CUDA_GPUS", 1);
    return 0;
}
int cuDeviceGet(int* device, int number) {
    *device = number;
    return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Fake GPU", std::size_t(bytes));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    const int capability = environment("FAKE_CUDA_CAPABILITY", 90);
    if (attribute != 75 && attribute != 76) return kInvalid;
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &g_state;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void* context) {
    g_state.has_context = context == &g_state;
    return g_state.has_context ? 0 : kInvalid;
}

int cuModuleLoadDataEx(void** module, const void* text, unsigned options, int* names,
                       void** values) {
    ++g_state.counts["cuModuleLoadDataEx"];
    if (g_state.failure) return g_state.failure;
    try {
        auto* own = new Module(parse(static_cast<const char*>(text)));
        for (const auto& [name, kernel] : own->kernels)
            g_state.has_no_memory = g_state.has_no_memory || breaks("memory", name);
        *module = own;
        return 0;
    } catch (const std::exception& error) {
        for (unsigned i = 0; i < options; ++i)
            if (names[i] == 5) std::strncpy(static_cast<char*>(values[i]), error.what(), 1000);
        return kBadPtx;
    }
}
int cuModuleUnload(void* module) {
    reach_end();
    delete static_cast<Module*>(module);
    return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto* own = static_cast<Module*>(module);
    if (!own->kernels.contains(name)) return kNotFound;
    const int own_arrays = int(own->kernels.at(name)->static_shared);
    g_state.functions.push_back(
        std::make_unique<LoadedFunction>(LoadedFunction{own, name, (48 << 10) - own_arrays}));
    *function = g_state.functions.back().get();
    return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
    ++g_state.counts["cuFuncSetAttribute"];
    auto* own = static_cast<LoadedFunction*>(function);
    const int own_arrays = int(own->module->kernels.at(own->name)->static_shared);
    if (attribute != 8 || value + own_arrays > most_shared()) return kInvalid;
    own->dynamic_shared = value;
    return 0;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void*, void** arguments,
                   void**) {
    ++g_state.counts["cuLaunchKernel"];
    auto* own = static_cast<LoadedFunction*>(function);
    if (int(shared) > own->dynamic_shared) return kInvalid;
    Launch launch{.grid = {x, y, z},
                  .block = {threads, threads_y, threads_z},
                  .dynamic_shared_bytes = shared,
                  .arguments = {}};
    const auto& parameters = own->module->kernels.at(own->name)->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto* bytes = static_cast<const std::byte*>(arguments[i]);
        launch.arguments.emplace_back(bytes, bytes + parameters[i].bytes);
    }
    return later([own, launch] { return run(*own, launch); });
}

#ifndef FAKE_CUDA_OLD
/// Takes what the driver's manual allows, of the elements float32, tf32, int32 and bfloat16.
int cuTensorMapEncodeTiled(void* map, int element, std::uint32_t rank, void* address,
                           const std::uint64_t* extents, const std::uint64_t* strides,
                           const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                           int swizzle, int fetch, int fill) {
    ++g_state.counts["cuTensorMapEncodeTiled"];
    const bool has_words = element == 7 || element == 11 || element == 3;
    const std::uint32_t bytes = element == 9 ? 2 : has_words ? 4 : 0;
    const auto is_multiple = [](std::uint64_t value, std::uint64_t of) { return value % of == 0; };
    TensorMap made{.address = reinterpret_cast<std::uint64_t>(address),
                   .rank = rank,
                   .element_bytes = bytes,
                   .swizzle = swizzle ? 16u << swizzle : 0,
                   .rounds_to_tf32 = element == 11};
    std::string text = "element " + std::to_string(element);
    bool right = bytes && rank >= 2 && rank <= 5 && is_multiple(made.address, 16) &&
                 is_multiple(reinterpret_cast<std::uint64_t>(map), 64) && interleave == 0 &&
                 swizzle >= 0 && swizzle <= 3 && fetch >= 0 && fetch <= 3 && fill == 0;
    for (std::uint32_t i = 0; right && i < rank; ++i) {
        made.extents[i] = extents[i];
        made.strides[i] = i ? strides[i - 1] : bytes;
        made.box[i] = box[i];
        right = extents[i] > 0 && extents[i] <= std::uint64_t(1) << 32 && box[i] > 0 &&
                box[i] <= 256 && steps[i] == 1 &&
                (i == 0 || (is_multiple(strides[i - 1], 16) && strides[i - 1] < 1ull << 40));
        text += "; " + std::to_string(extents[i]) + " by " + std::to_string(made.strides[i]) +
                " in " + std::to_string(box[i]);
    }
    if (!right || !is_multiple(box[0] * bytes, 16)) return kInvalid;
    if (swizzle && box[0] * bytes > made.swizzle) return kInvalid;
    g_state.last_map = text + "; swizzle " + std::to_string(made.swizzle);
    const auto encoded = encode(made);
    std::memcpy(map, encoded.data(), encoded.size());
    return 0;
}
#endif

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    if (bytes == 0) return kInvalid;
    if (g_state.failure) return g_state.failure;
    if (bytes > kMemory || g_state.has_no_memory) return kNoMemory;
    *address = g_state.next;
    g_state.blocks[*address].assign(bytes, std::byte(0xff));
    g_state.next = (*address + bytes + 0x1000) / 0x100 * 0x100;
    return 0;
}
int cuMemFree_v2(std::uint64_t address) {
    reach_end();
    return g_state.blocks.erase(address) ? 0 : kInvalid;
}
/// Memory of the host that is not pinned is read at once.
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
    if (g_state.capture || !at(to, bytes)) return kInvalid;
    g_state.counts["bytes from the host"] += int(bytes);
    std::vector<std::byte> values;
    if (!is_pinned(from)) {
        ++g_state.counts["copies of other memory"];
        const auto* first = static_cast<const std::byte*>(from);
        values.assign(first, first + bytes);
    }
    return later([=, values = std::move(values)] {
        if (bytes) std::memcpy(at(to, bytes), values.empty() ? from : values.data(), bytes);
        return 0;
    });
}
/// Memory of the host that is not pinned is waited for.
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
    if (g_state.capture || !at(from, bytes)) return kInvalid;
    const int result = later([=] {
        if (bytes) std::memcpy(to, at(from, bytes), bytes);
        return 0;
    });
    if (result || is_pinned(to)) return result;
    ++g_state.counts["copies of other memory"];
    return reach_end();
}
int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
    if (!environment("FAKE_CUDA_PINNED", 1)) return kNoMemory;
    *memory = g_state.pinned.emplace_back(bytes).data();
    return 0;
}
int cuMemFreeHost(void* memory) {
    reach_end();
    return std::erase_if(g_state.pinned,
                         [&](const std::vector<std::byte>& own) { return own.data() == memory; })
               ? 0
               : kInvalid;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
    return later([=] {
        if (!at(to, bytes) || !at(from, bytes)) return kInvalid;
        std::memmove(at(to, bytes), at(from, bytes), bytes);
        return 0;
    });
}
int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t bytes, void*) {
    return later([=] {
        if (!at(to, bytes)) return kInvalid;
        std::memset(at(to, bytes), value, bytes);
        return 0;
    });
}

int cuStreamCreate(void** stream, unsigned) {
    *stream = &g_state.next;
    return g_state.has_context ? 0 : kInvalid;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return g_state.capture ? kInvalid : reach_end(); }
int cuStreamBeginCapture_v2(void*, int) {
    g_state.capture = std::make_unique<Graph>();
    return 0;
}
int cuStreamEndCapture(void*, void** graph) {
    *graph = g_state.capture.release();
    return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
    *executable = new Graph(*static_cast<Graph*>(graph));
    return 0;
}
int cuGraphLaunch(void* executable, void*) {
    ++g_state.counts["cuGraphLaunch"];
    for (const auto& work : static_cast<Graph*>(executable)->work)
        if (const int result = later(work)) return result;
    return 0;
}
int cuGraphExecDestroy(void* executable) {
    delete static_cast<Graph*>(executable);
    return 0;
}
int cuGraphDestroy(void* graph) {
    delete static_cast<Graph*>(graph);
    return 0;
}

int cuEventCreate(void** event, unsigned) {
    *event = new Event;
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<Event*>(event);
    return 0;
}
int cuEventRecord(void* event, void*) {
    static_cast<Event*>(event)->position = g_state.done + g_state.waiting.size();
    return 0;
}
int cuEventSynchronize(void* event) {
    ++g_state.counts["cuEventSynchronize"];
    return reach(static_cast<Event*>(event)->position);
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
    *milliseconds = 1;
    return 0;
}

}  // extern "C"
