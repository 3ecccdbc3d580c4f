#include "tests/ptx/kernel_text.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <numeric>

namespace fovea::ptx::test {

std::string kernel_text(const std::string& body, const std::string& declarations,
                        const std::string& target) {
    return fmt::format(R"(.version 8.3
.target {}
.address_size 64
{}
.visible .entry k(.param .u64 k_x, .param .u64 k_y, .param .u32 k_n)
{{
    .reg .pred %p<10>;
    .reg .b16 %h<10>;
    .reg .b32 %r<40>;
    .reg .f32 %f<40>;
    .reg .b64 %d<20>;
    .reg .f64 %g<10>;
    .reg .b64 %x, %y;
    .reg .b32 %n, %t;
    ld.param.u64 %x, [k_x];
    ld.param.u64 %y, [k_y];
    ld.param.u32 %n, [k_n];
    mov.u32 %t, %tid.x;
{}
    ret;
}}
)",
                       target, declarations, body);
}

std::optional<FaultKind> fault_of(const Module& module, const Launch& launch, const Memory& memory,
                                  const Schedule& schedule, std::string* message) {
    try {
        interpret(module, module.kernels.begin()->first, launch, memory, schedule);
    } catch (const Fault& fault) {
        if (message) *message = fault.what();
        return fault.kind;
    }
    return std::nullopt;
}

std::optional<FaultKind> fault_of_body(const std::string& body, std::uint32_t threads,
                                       std::uint32_t blocks, const Schedule& schedule,
                                       std::string* message) {
    std::vector<std::uint32_t> x(1024), y(1024);
    std::iota(x.begin(), x.end(), 0);
    Memory memory;
    const auto from = memory.add(std::span<const std::uint32_t>(x));
    const auto to = memory.add(std::span<std::uint32_t>(y));
    const Module module = parse(kernel_text(body, ".shared .align 128 .b8 buffer[4096];"));
    return fault_of(module,
                    {.grid = {blocks, 1, 1},
                     .block = {threads, 1, 1},
                     .arguments = {argument(from), argument(to), argument(7)},
                     .max_instructions = 10000},
                    memory, schedule, message);
}

std::string file_text(const std::string& name) {
    std::ifstream file(FOVEA_SOURCE_DIR "/tests/ptx/" + name);
    REQUIRE_MESSAGE(file.good(), name);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fovea::ptx::test
