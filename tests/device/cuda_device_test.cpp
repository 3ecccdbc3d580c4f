// The calls of the CUDA driver, with a fake driver library.
#include "runtime/device/cuda_device.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/device/on_device.h"
#include "runtime/device/piece_copies.h"
#include "runtime/error.h"
#include "runtime/session.h"
#include "tests/device/scaled_model.h"

using namespace fovea;
using runtime::device::open_cuda;
using runtime::device::PieceCopies;

namespace {

const std::string kFake = FOVEA_BINARY_DIR "/fake_cuda/libcuda.so.1";
const std::string kOldFake = FOVEA_BINARY_DIR "/fake_old_cuda/libcuda.so.1";  // of no tensor maps

int count_of(const char* function) {
    void* const library = dlopen(kFake.c_str(), RTLD_NOW);
    return reinterpret_cast<int (*)(const char*)>(dlsym(library, "fake_cuda_count"))(function);
}

struct Environment {
    Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name_); }
    const char* name_;
};

std::string mistake(const std::string& library) {
    try {
        open_cuda(library);
    } catch (const runtime::UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a machine without a driver or a GPU says so in one sentence") {
    CHECK(mistake("libcuda_of_nobody.so.1") ==
          "there is no NVIDIA driver here: libcuda_of_nobody.so.1: cannot open shared object "
          "file: No such file or directory");
    const Environment none("FAKE_CUDA_GPUS", "0");
    CHECK(mistake(kFake) == "the NVIDIA driver here finds no GPU");
    const Environment fails("FAKE_CUDA_GPUS", "-1");
    CHECK(mistake(kFake) == "the NVIDIA driver here finds no GPU");
    CHECK(mistake("libm.so.6") == "the NVIDIA driver here is too old for fovea: it has no cuInit");
}

TEST_CASE("programs run through the driver, the second time at one place as a graph") {
    const int before = count_of("cuGraphLaunch");
    test::check_scaled_model(open_cuda(kFake));
    CHECK(count_of("cuGraphLaunch") > before);
    CHECK(count_of("cuLaunchKernel") > 0);
    const auto device = open_cuda(kFake);  // has another model's kernels by then
    device->load(test::other_text());
    test::check_scaled_model(device);
}

TEST_CASE("a driver that knows no tensor maps runs programs without them") {
    test::check_scaled_model(open_cuda(kOldFake));
}

TEST_CASE("the best code for the GPU is loaded") {
    const std::vector<std::string> all = {"sm_80", "sm_90", "sm_90a"};
    const auto best = [&](const char* capability) {
        const Environment environment("FAKE_CUDA_CAPABILITY", capability);
        return open_cuda(kFake)->choose(all);
    };
    CHECK(best("90") == "sm_90a");
    CHECK(best("100") == "sm_90");
    CHECK(best("86") == "sm_80");
    CHECK(best("75") == "");
    const Environment old("FAKE_CUDA_CAPABILITY", "75");
    CHECK_THROWS_WITH_AS(
        runtime::device::on_device(test::scaled_model(), open_cuda(kFake), test::scaled_code()),
        "the kernels of scaled are for sm_80, sm_90, which Fake GPU does not run",
        runtime::UserError);
}

TEST_CASE("what the driver refuses is said with its words") {
    const auto device = open_cuda(kFake);
    CHECK_THROWS_WITH_AS(device->allocate(std::size_t(1) << 40),
                         "cannot take 1099511627776 bytes on Fake GPU: out of memory (2)",
                         runtime::UserError);
    CHECK_THROWS_WITH_AS(device->load(".version 7.8\n.target sm_80\nnonsense"),
                         doctest::Contains("a PTX JIT compilation failed (218)"),
                         runtime::InternalError);
    std::vector<std::uint64_t> none;
    CHECK_THROWS_WITH_AS(device->launch({"softmax", "softmax", 1, 32, 0, none, {}}),
                         "no module has the entry 'softmax'", runtime::InternalError);
}

TEST_CASE("shared memory is asked for, once, and with it what the kernel's own arrays take") {
    const auto device = open_cuda(kFake);
    device->load(
        ".version 7.8\n.target sm_80\n.address_size 64\n"
        ".visible .entry big() { ret; }\n.visible .entry none() { ret; }\n"
        ".shared .align 16 .b8 own[64];\n"
        ".visible .entry with_own() { .reg .b32 %r<2>; mov.u32 %r1, own; ret; }\n");
    const int before = count_of("cuFuncSetAttribute");
    const auto launch = [&](const std::string& entry, int bytes) {
        device->launch({entry, entry, 2, 32, bytes, {}, {}});
        return count_of("cuFuncSetAttribute") - before;
    };
    CHECK(launch("none", 0) == 0);
    CHECK(launch("big", 99 << 10) == 1);
    CHECK(launch("big", 99 << 10) == 1);
    CHECK(launch("big", 80 << 10) == 1);
    CHECK(launch("big", 160 << 10) == 2);
    CHECK(launch("with_own", 48 << 10) == 3);
    CHECK_THROWS_WITH_AS(launch("with_own", 227 << 10), doctest::Contains("invalid argument"),
                         runtime::InternalError);
}

TEST_CASE("copies of every size arrive, those that are waited for together after the wait alone") {
    const auto device = open_cuda(kFake);
    runtime::device::Allocation memory(*device);
    for (const std::size_t bytes : {1u, 4096u, 1u << 20, (1u << 20) + 1}) {
        CAPTURE(bytes);
        memory.reserve(9 * bytes);
        std::vector<std::vector<char>> there(9, std::vector<char>(bytes)), back = there;
        for (std::size_t i = 0; i < there.size(); ++i) {
            std::fill(there[i].begin(), there[i].end(), char('a' + i));
            device->copy_in(memory.address() + i * bytes, there[i].data(), bytes);
        }
        for (std::size_t i = 0; i < there.size(); ++i)
            device->copy_out_at_wait(back[i].data(), memory.address() + i * bytes, bytes);
        if (bytes == 4096) CHECK(back[0][0] == 0);
        device->synchronize();
        CHECK(back == there);
    }
}

TEST_CASE("zeros are made on the GPU, and once more whenever a recording of them is repeated") {
    constexpr std::size_t kBytes = 3 << 20;
    const auto device = open_cuda(kFake);
    runtime::device::Allocation memory(*device);
    const int sent = count_of("bytes from the host");
    CHECK(memory.reserve_zeros(kBytes));
    const std::vector<char> zeros(kBytes), ones(kBytes, 1);
    std::vector<char> back(kBytes, 'x');
    device->copy_out(back.data(), memory.address(), kBytes);
    CHECK(back == zeros);
    CHECK(count_of("bytes from the host") == sent);
    const auto recording = device->record([&] { device->clear(memory.address(), kBytes - 1); });
    for (int i = 0; i < 2; ++i) {
        device->copy_in(memory.address(), ones.data(), kBytes);
        device->replay(*recording);
        device->copy_out(back.data(), memory.address(), kBytes);
        CHECK(std::count(back.begin(), back.end(), 1) == 1);
    }
    CHECK(count_of("bytes from the host") == sent + 2 * int(kBytes));
}

TEST_CASE("a large copy goes in pieces, of which one is filled while another is under way") {
    constexpr std::size_t kPieces = 5, kFloats = ((kPieces - 1) * PieceCopies::kPiece + 64) / 4;
    const auto device = open_cuda(kFake);
    runtime::device::Allocation memory(*device);
    memory.reserve(kFloats * 4);
    std::vector<float> there(kFloats), back(kFloats);
    const int others = count_of("copies of other memory");
    for (const float start : {1.F, 2.F}) {
        std::iota(there.begin(), there.end(), start);
        const int waits = count_of("cuEventSynchronize");
        device->copy_in(memory.address(), there.data(), kFloats * 4);
        if (start == 1) CHECK(count_of("cuEventSynchronize") - waits == kPieces - 2);
        const std::vector<float> sent = there;
        std::fill(there.begin(), there.end(), 0.F);  // it was read
        device->copy_out(back.data(), memory.address(), kFloats * 4);
        CHECK(back == sent);
    }
    CHECK(count_of("copies of other memory") == others);
}

TEST_CASE("copies arrive where the driver has no memory of the host to give") {
    const Environment none("FAKE_CUDA_PINNED", "0");
    const auto device = open_cuda(kFake);
    runtime::device::Allocation memory(*device);
    for (const std::size_t bytes : {std::size_t(100), 2 * PieceCopies::kPiece + 1}) {
        memory.reserve(bytes);
        const std::vector<char> there(bytes, 'x');
        std::vector<char> back(bytes);
        device->copy_in(memory.address(), there.data(), bytes);
        device->copy_out(back.data(), memory.address(), bytes);
        CHECK(back == there);
    }
}
