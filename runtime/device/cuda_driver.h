// The functions of the CUDA driver that are used here, found in libcuda when the program runs: no
// header and no library of CUDA is needed to build it. Types and numbers are those of cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fovea::runtime::device {

using CuResult = int;  // 0: success
using CuDevice = int;
using CuPointer = std::uint64_t;
struct CuContextOpaque;
struct CuModuleOpaque;
struct CuFunctionOpaque;
struct CuStreamOpaque;
struct CuGraphOpaque;
struct CuGraphExecOpaque;
struct CuEventOpaque;
using CuContext = CuContextOpaque*;
using CuModule = CuModuleOpaque*;
using CuFunction = CuFunctionOpaque*;
using CuStream = CuStreamOpaque*;
using CuGraph = CuGraphOpaque*;
using CuGraphExec = CuGraphExecOpaque*;
using CuEvent = CuEventOpaque*;

/// 128 bytes that kernels take by value.
struct alignas(64) CuTensorMap {
    std::uint64_t words[16] = {};
};

inline constexpr CuResult kCuOutOfMemory = 2, kCuNoDevice = 100, kCuUnsupportedPtx = 222;
inline constexpr int kCuCapabilityMajor = 75, kCuCapabilityMinor = 76;  // of a device
inline constexpr int kCuMaxDynamicShared = 8;                           // of a function
inline constexpr unsigned kCuStreamNonBlocking = 1, kCuEventWithoutTime = 2;
inline constexpr int kCuCaptureThreadLocal = 1;
inline constexpr int kCuJitInfoLog = 3, kCuJitInfoLogBytes = 4, kCuJitErrorLog = 5,
                     kCuJitErrorLogBytes = 6;

/// Of tensor maps: elements, the swizzles of 32, 64 and 128 bytes in order behind none, how much
/// of memory a copy fetches (256 bytes), and what lies outside of the tensor (zeros).
inline constexpr int kCuMapUint8 = 0, kCuMapInt32 = 3, kCuMapFloat16 = 6, kCuMapFloat32 = 7,
                     kCuMapBfloat16 = 9,
                     kCuMapTf32 = 11;  // floats, rounded on their way
inline constexpr int kCuMapNoInterleave = 0, kCuMapFetch256 = 3, kCuMapZeros = 0;

/// The driver's functions; the library stays open as long as the process. Each is there but where
/// it says otherwise.
struct CudaDriver {
    /// UserError, in one sentence, where there is no driver or one that is too old.
    explicit CudaDriver(const std::string& library);

    /// Throws for a result other than success: OutOfMemory where the GPU has too little of it, an
    /// InternalError otherwise. `what` is what was tried: `copy 40 bytes to the GPU`.
    void check(CuResult result, const std::string& what) const;
    /// `invalid argument (1)`
    std::string text_of(CuResult result) const;

    CuResult (*init)(unsigned) = nullptr;
    CuResult (*get_error_string)(CuResult, const char**) = nullptr;
    CuResult (*device_get_count)(int*) = nullptr;
    CuResult (*device_get)(CuDevice*, int) = nullptr;
    CuResult (*device_get_name)(char*, int, CuDevice) = nullptr;
    CuResult (*device_get_attribute)(int*, int, CuDevice) = nullptr;
    CuResult (*context_retain)(CuContext*, CuDevice) = nullptr;
    CuResult (*context_release)(CuDevice) = nullptr;
    CuResult (*context_set_current)(CuContext) = nullptr;
    CuResult (*module_load)(CuModule*, const void*, unsigned, int*, void**) = nullptr;
    CuResult (*module_unload)(CuModule) = nullptr;
    CuResult (*module_get_function)(CuFunction*, CuModule, const char*) = nullptr;
    CuResult (*function_set_attribute)(CuFunction, int, int) = nullptr;
    CuResult (*launch)(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CuStream, void**, void**) = nullptr;
    /// Null in drivers that know no tensor maps, which are older than CUDA 12.
    CuResult (*encode_tensor_map)(CuTensorMap*, int, std::uint32_t, void*, const std::uint64_t*,
                                  const std::uint64_t*, const std::uint32_t*, const std::uint32_t*,
                                  int, int, int, int) = nullptr;
    CuResult (*memory_allocate)(CuPointer*, std::size_t) = nullptr;
    CuResult (*memory_free)(CuPointer) = nullptr;
    CuResult (*host_memory_allocate)(void**, std::size_t) = nullptr;
    CuResult (*host_memory_free)(void*) = nullptr;
    CuResult (*copy_in)(CuPointer, const void*, std::size_t, CuStream) = nullptr;
    CuResult (*copy_out)(void*, CuPointer, std::size_t, CuStream) = nullptr;
    CuResult (*copy)(CuPointer, CuPointer, std::size_t, CuStream) = nullptr;
    CuResult (*set_bytes)(CuPointer, unsigned char, std::size_t, CuStream) = nullptr;
    CuResult (*stream_create)(CuStream*, unsigned) = nullptr;
    CuResult (*stream_destroy)(CuStream) = nullptr;
    CuResult (*stream_synchronize)(CuStream) = nullptr;
    CuResult (*begin_capture)(CuStream, int) = nullptr;
    CuResult (*end_capture)(CuStream, CuGraph*) = nullptr;
    CuResult (*graph_instantiate)(CuGraphExec*, CuGraph, unsigned long long) = nullptr;
    CuResult (*graph_launch)(CuGraphExec, CuStream) = nullptr;
    CuResult (*graph_exec_destroy)(CuGraphExec) = nullptr;
    CuResult (*graph_destroy)(CuGraph) = nullptr;
    CuResult (*event_create)(CuEvent*, unsigned) = nullptr;
    CuResult (*event_destroy)(CuEvent) = nullptr;
    CuResult (*event_record)(CuEvent, CuStream) = nullptr;
    CuResult (*event_synchronize)(CuEvent) = nullptr;
    CuResult (*event_elapsed)(float*, CuEvent, CuEvent) = nullptr;  // milliseconds
};

}  // namespace fovea::runtime::device
