// A launch, checked against its kernel, block by block.
#include "codegen/ptx/interpret.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/ptx/decode.h"
#include "codegen/ptx/machine.h"

namespace fovea::ptx {
namespace {

std::vector<std::byte> parameters_of(const Program& program, const Launch& launch) {
    if (launch.arguments.size() != program.parameters.size())
        throw UserError(fmt::format("kernel {} takes {} arguments, not {}", program.name,
                                    program.parameters.size(), launch.arguments.size()));
    std::vector<std::byte> bytes(program.parameter_bytes);
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
        const Program::Parameter& parameter = program.parameters[i];
        const Argument& given = launch.arguments[i];
        if (given.size() != parameter.bytes)
            throw UserError(fmt::format("argument {} of kernel {} has {} bytes, not {}",
                                        parameter.name, program.name, given.size(),
                                        parameter.bytes));
        std::copy(given.begin(), given.end(), bytes.begin() + std::ptrdiff_t(parameter.at));
    }
    return bytes;
}

void check_extents(const Program& program, const Launch& launch) {
    std::uint64_t threads = 1;
    for (std::uint32_t extent : launch.block) threads *= extent;
    if (threads == 0 || threads > 1024)
        throw UserError(fmt::format("a block of {} threads; it may have 1 to 1024", threads));
    if (program.uses_wgmma && threads % 128)
        throw UserError(
            fmt::format("kernel {} works in warpgroups: a block of {} threads is no "
                        "multiple of 128",
                        program.name, threads));
    for (std::uint32_t extent : launch.grid)
        if (extent == 0) throw UserError("a grid without blocks");
}

}  // namespace

Module parse(const std::string& text) {
    auto parsed = std::make_shared<Text>(parse_text(text));
    Module module{parsed, {}};
    for (const auto& [name, function] : parsed->functions)
        if (function.kernel)
            module.kernels[name] = std::make_shared<const Program>(decode(*parsed, function));
    return module;
}

std::vector<Schedule> schedules() {
    using Copies = Schedule::Copies;
    return {{.reverse = false, .slice = 0, .copies = Copies::first_in},
            {.reverse = true, .slice = 0, .copies = Copies::last_in},
            {.reverse = false, .slice = 7, .copies = Copies::at_once},
            {.reverse = true, .slice = 31, .copies = Copies::first_in}};
}

std::uint64_t interpret(const Module& module, const std::string& kernel, const Launch& launch,
                        const Memory& memory, const Schedule& schedule) {
    const auto found = module.kernels.find(kernel);
    if (found == module.kernels.end())
        throw UserError(fmt::format("the module has no kernel '{}'", kernel));
    const Program& program = *found->second;
    check_extents(program, launch);
    Machine machine{*module.text, program, launch, schedule, memory, {}, {}, {}};
    machine.parameters = parameters_of(program, launch);
    for (const Program::Global& global : program.globals) {
        machine.variables.push_back(global.initial);
        auto& bytes = machine.variables.back();
        bytes.resize(global.bytes);
        machine.memory.add_at(global.address, bytes.data(), bytes.size(), global.writable);
    }
    machine.shadows.resize(machine.memory.buffers().size());
    Block block(machine);
    const std::uint64_t blocks = std::uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    std::uint64_t executed = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
        const std::uint64_t at = schedule.reverse ? blocks - 1 - i : i;
        executed += block.run({std::uint32_t(at % launch.grid[0]),
                               std::uint32_t(at / launch.grid[0] % launch.grid[1]),
                               std::uint32_t(at / launch.grid[0] / launch.grid[1])});
    }
    return executed;
}

}  // namespace fovea::ptx
