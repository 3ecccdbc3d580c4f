#include "cuda_driver.h"

#include <dlfcn.h>

#include "../error.h"
#include "device.h"

namespace fovea::runtime::device {
namespace {

template <class Function>
void find_if_there(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
    find_if_there(library, name, function);
    if (!function)
        throw UserError(std::string("the NVIDIA driver here is too old for fovea: it has no ") +
                        name);
}

}  // namespace

CudaDriver::CudaDriver(const std::string& library) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw UserError(std::string("there is no NVIDIA driver here: ") + dlerror());
    find(handle, "cuInit", init);
    find(handle, "cuGetErrorString", get_error_string);
    find(handle, "cuDeviceGetCount", device_get_count);
    find(handle, "cuDeviceGet", device_get);
    find(handle, "cuDeviceGetName", device_get_name);
    find(handle, "cuDeviceGetAttribute", device_get_attribute);
    find(handle, "cuDevicePrimaryCtxRetain", context_retain);
    find(handle, "cuDevicePrimaryCtxRelease_v2", context_release);
    find(handle, "cuCtxSetCurrent", context_set_current);
    find(handle, "cuModuleLoadDataEx", module_load);
    find(handle, "cuModuleUnload", module_unload);
    find(handle, "cuModuleGetFunction", module_get_function);
    find(handle, "cuFuncSetAttribute", function_set_attribute);
    find(handle, "cuLaunchKernel", launch);
    find_if_there(handle, "cuTensorMapEncodeTiled", encode_tensor_map);
    find(handle, "cuMemAlloc_v2", memory_allocate);
    find(handle, "cuMemFree_v2", memory_free);
    find(handle, "cuMemAllocHost_v2", host_memory_allocate);
    find(handle, "cuMemFreeHost", host_memory_free);
    find(handle, "cuMemcpyHtoDAsync_v2", copy_in);
    find(handle, "cuMemcpyDtoHAsync_v2", copy_out);
    find(handle, "cuMemcpyDtoDAsync_v2", copy);
    find(handle, "cuMemsetD8Async", set_bytes);
    find(handle, "cuStreamCreate", stream_create);
    find(handle, "cuStreamDestroy_v2", stream_destroy);
    find(handle, "cuStreamSynchronize", stream_synchronize);
    find(handle, "cuStreamBeginCapture_v2", begin_capture);
    find(handle, "cuStreamEndCapture", end_capture);
    find(handle, "cuGraphInstantiateWithFlags", graph_instantiate);
    find(handle, "cuGraphLaunch", graph_launch);
    find(handle, "cuGraphExecDestroy", graph_exec_destroy);
    find(handle, "cuGraphDestroy", graph_destroy);
    find(handle, "cuEventCreate", event_create);
    find(handle, "cuEventDestroy_v2", event_destroy);
    find(handle, "cuEventRecord", event_record);
    find(handle, "cuEventSynchronize", event_synchronize);
    find(handle, "cuEventElapsedTime", event_elapsed);
    const CuResult result = init(0);
    if (result == kCuNoDevice) throw UserError("the NVIDIA driver here finds no GPU");
    if (result != 0) throw UserError("the NVIDIA driver here does not start: " + text_of(result));
}

std::string CudaDriver::text_of(CuResult result) const {
    const char* text = nullptr;
    if (get_error_string(result, &text) != 0 || !text) text = "unknown error";
    return std::string(text) + " (" + std::to_string(result) + ")";
}

void CudaDriver::check(CuResult result, const std::string& what) const {
    if (result == 0) return;
    const std::string text = "cannot " + what + ": " + text_of(result);
    if (result == kCuOutOfMemory) throw OutOfMemory(text);
    throw InternalError(text);
}

}  // namespace fovea::runtime::device
