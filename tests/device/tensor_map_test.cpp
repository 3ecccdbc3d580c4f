// Tensor maps on their way to a kernel: from launch tables, through a device, to a copy that uses
// them.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

#include "runtime/device/code_json.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/run_kernel.h"
#include "runtime/error.h"
#include "tools/fovea/device/interpreter_device.h"

using namespace fovea;
using namespace fovea::runtime::device;
using runtime::Extent;

namespace {

const std::string kFakeLibrary = FOVEA_BINARY_DIR "/fake_cuda/libcuda.so.1";

/// y[64]: a box of 8 rows of 8 floats as it lies in shared memory, or -1 where x has one row.
constexpr const char* kText = R"(.version 8.5
.target sm_90
.address_size 64
.visible .entry box(.param .u64 box_x, .param .u64 box_y, .param .u64 box_rows,
    .param .align 64 .b8 box_map[128])
.maxntid 64, 1, 1
{
    .shared .align 1024 .b8 tile[256];
    .shared .align 8 .b8 bar[8];
    .reg .pred %p<4>;
    .reg .b32 %r<10>;
    .reg .f32 %f<2>;
    .reg .b64 %d<10>;
    ld.param.u64 %d0, [box_y];
    ld.param.u64 %d1, [box_rows];
    mov.b64 %d2, box_map;
    cvta.param.u64 %d2, %d2;
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d3, %r0, 4;
    add.s64 %d0, %d0, %d3;
    mov.f32 %f0, 0fbf800000;
    setp.le.u64 %p0, %d1, 1;
    @%p0 bra DONE;
    mov.u32 %r1, tile;
    mov.u32 %r2, bar;
    mov.u32 %r3, 4;
    mov.u32 %r4, -1;
    mov.u32 %r5, 0;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r1], [%d2, {%r3, %r4}], [%r2];
READY:
    bar.sync 0;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], %r5;
    @!%p2 bra WAIT;
    shl.b32 %r6, %r0, 2;
    add.u32 %r6, %r6, %r1;
    ld.shared.f32 %f0, [%r6];
DONE:
    st.global.f32 [%d0], %f0;
    ret;
}
)";

/// Copies from x [rows, 4 * quads] without its first row, dims rows and quads.
Code boxes() {
    const Extent rows = Extent::dim(0), width = Extent(4) * Extent::dim(1);
    Kernel kernel{.name = "box"};
    kernel.buffers = {{.written = false}, {.written = true}};
    kernel.dims = {0};
    kernel.launches = {{.entry = "box",
                        .grid = {},
                        .threads = 64,
                        .maps = {{0, width, {{width, 1, 8}, {rows + Extent(-1), width, 8}}, 32}}}};
    Code code;
    code.dims = {"rows", "quads"};
    code.modules = {{"sm_90", kText, {kernel}}};
    return code;
}

/// What the kernel gives on a device, from x = 1, 2, 3, …
std::vector<float> run(Device& device, const Code& code, std::int64_t rows, std::int64_t quads) {
    std::vector<float> x(std::size_t(rows * quads * 4)), y(64);
    std::iota(x.begin(), x.end(), 1.F);
    const Address from = device.allocate(x.size() * 4), to = device.allocate(256);
    device.copy_in(from, x.data(), x.size() * 4);
    const Region regions[] = {{from, x.size() * 4, false}, {to, 256, true}};
    const std::int64_t dims[] = {rows, quads};
    run_kernel(device, code.modules[0].kernels[0], regions, dims);
    device.copy_out(y.data(), to, 256);
    return y;
}

/// Row -1 and column 4 of the box are its first; pieces of 16 bytes are exchanged in rows 4 to 7.
float expected(std::size_t at, std::int64_t rows, std::int64_t quads) {
    const std::size_t byte = (at * 4) ^ (at * 4 >> 7 & 1) << 4;
    const std::int64_t row = std::int64_t(byte / 32) - 1, column = std::int64_t(byte % 32 / 4) + 4;
    if (row < 0 || row >= rows - 1 || column >= quads * 4) return 0;
    return float((row + 1) * quads * 4 + column + 1);
}

void check_boxes(Device& device, const Code& code) {
    device.load(code.modules[0].text);
    for (const auto& [rows, quads] : {std::array{20, 5}, {5, 3}, {2, 2}}) {
        CAPTURE(rows);
        const std::vector<float> y = run(device, code, rows, quads);
        for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == expected(i, rows, quads));
    }
    CHECK(run(device, code, 1, 4) == std::vector<float>(64, -1));
}

template <class Function>
Function* function_of(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen(kFakeLibrary.c_str(), RTLD_NOW), name));
}

}  // namespace

TEST_CASE("a kernel copies boxes of tensors of any size") {
    tool::InterpreterDevice interpreter;
    check_boxes(interpreter, boxes());
    check_boxes(*open_cuda(kFakeLibrary), boxes());
}

TEST_CASE("tensor maps come back from JSON as they were") {
    const Code code = boxes();
    const std::string tables = launch_tables(code).text();
    CHECK(tables.find(R"("maps":[{"buffer":0,"offset":"4*quads","axes":[["4*quads","1",8],)"
                      R"(["rows-1","4*quads",8]],"swizzle":32}])") != std::string::npos);
    const Code read = read_code(tables, {{"sm_90", kText}});
    CHECK(launch_tables(read).text() == tables);
    tool::InterpreterDevice interpreter;
    check_boxes(interpreter, read);
}

TEST_CASE("a tensor map that rounds to tf32 does so on either device") {
    Code code = boxes();
    code.modules[0].kernels[0].launches[0].maps[0].rounds_to_tf32 = true;
    const std::string tables = launch_tables(code).text();
    CHECK(tables.find(R"("swizzle":32,"rounds_to_tf32":true})") != std::string::npos);
    CHECK(launch_tables(read_code(tables, {{"sm_90", kText}})).text() == tables);
    const auto device = open_cuda(kFakeLibrary);
    device->load(kText);
    run(*device, code, 20, 5);
    CHECK(
        std::string(function_of<const char*()>("fake_cuda_last_map")()).starts_with("element 11;"));
}

TEST_CASE("the driver is given the sizes of the call, and none of an empty tensor") {
    const auto device = open_cuda(kFakeLibrary);
    device->load(kText);
    auto* count = function_of<int(const char*)>("fake_cuda_count");
    auto* last = function_of<const char*()>("fake_cuda_last_map");
    const int before = count("cuTensorMapEncodeTiled");
    run(*device, boxes(), 20, 5);
    CHECK(std::string(last()) == "element 7; 20 by 4 in 8; 19 by 80 in 8; swizzle 32");
    run(*device, boxes(), 1, 5);
    CHECK(count("cuTensorMapEncodeTiled") == before + 1);
}

TEST_CASE("a kernel with tensor maps needs a driver that knows them") {
    const auto device = open_cuda(FOVEA_BINARY_DIR "/fake_old_cuda/libcuda.so.1");
    device->load(kText);
    CHECK_THROWS_WITH_AS(run(*device, boxes(), 20, 5),
                         "the NVIDIA driver here is too old for kernel box: it has no "
                         "cuTensorMapEncodeTiled",
                         runtime::UserError);
}

TEST_CASE("a tensor that no map can hold is refused") {
    tool::InterpreterDevice device;
    const Region regions[] = {{}, {}};
    const std::int64_t dims[] = {2, std::int64_t(1) << 36};
    CHECK_THROWS_WITH_AS(
        run_kernel(device, boxes().modules[0].kernels[0], regions, dims),
        "kernel box copies from a tensor with an axis of 274877906944 positions, 4 bytes apart, "
        "more than the GPU's copies take; take a smaller batch",
        runtime::UserError);
}
