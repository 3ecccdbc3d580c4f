#include "tests/nvptx/run_ptx.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/parameters.h"
#include "tests/random_seed.h"

namespace fovea::test {

using kernel::DimValues;
using kernel::Kernel;

namespace {

std::size_t bytes_of(const kernel::Buffer& buffer, const DimValues& dims) {
    std::size_t size = 1;
    for (const Dim& dim : buffer.shape) size *= std::size_t(kernel::value_of(dim, dims));
    return size * std::size_t(size_of(buffer.dtype));
}

std::uint64_t blocks_of(const emit::PtxLaunch& launch, const DimValues& dims) {
    const std::int64_t size = kernel::value_of(launch.range.extent, dims);
    if (size < launch.range.least || size > launch.range.most) return 0;
    std::uint64_t blocks = 1;
    for (const emit::GridFactor& factor : launch.grid)
        blocks *=
            std::uint64_t((kernel::value_of(factor.extent, dims) + factor.tile - 1) / factor.tile);
    return blocks;
}

/// The map of a tensor of these sizes, zeros where it has no elements.
std::array<std::byte, 128> tensor_map(const emit::TensorMap& from, const Kernel& kernel,
                                      std::uint64_t address, const DimValues& dims) {
    const DType dtype = kernel.buffers[std::size_t(from.buffer)].dtype;
    ptx::TensorMap map{.rank = std::uint32_t(from.axes.size()),
                       .element_bytes = std::uint32_t(size_of(dtype)),
                       .swizzle = std::uint32_t(from.swizzle),
                       .rounds_to_tf32 = from.rounds_to_tf32};
    map.address = address + std::uint64_t(kernel::value_of(from.offset, dims)) * map.element_bytes;
    for (std::size_t i = 0; i < from.axes.size(); ++i) {
        map.extents[i] = std::uint64_t(kernel::value_of(from.axes[i].extent, dims));
        map.strides[i] =
            std::uint64_t(kernel::value_of(from.axes[i].stride, dims)) * map.element_bytes;
        map.box[i] = std::uint32_t(from.axes[i].box);
        if (map.extents[i] == 0) return {};
    }
    return ptx::encode(map);
}

}  // namespace

Emitted emit_and_parse(const std::vector<Kernel>& kernels, const target::Gpu& target) {
    Emitted result{kernels, emit::emit_ptx(kernels, target), {}};
    result.module = ptx::parse(result.ptx.text);
    return result;
}

Emitted emit_and_parse(const std::vector<Kernel>& kernels, const std::string& architecture) {
    return emit_and_parse(kernels, target::gpu_of(architecture));
}

target::Gpu as_for_many_rows(const std::string& architecture) {
    target::Gpu target = target::gpu_of(architecture);
    target.blocks = 1;
    return target;
}

void run_ptx(const Emitted& emitted, std::size_t number, const DimValues& dims, Arrays& arrays,
             const ptx::Schedule& schedule, std::uint64_t max_instructions) {
    const Kernel& kernel = emitted.kernels[number];
    ptx::Memory memory;
    std::array<std::uint64_t, 2> draw{5, 3};
    std::vector<ptx::Argument> arguments;
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const std::size_t bytes = bytes_of(kernel.buffers[i], dims);
        auto* host = static_cast<std::byte*>(arrays.addresses[i]);
        addresses.push_back(kernel.buffers[i].written
                                ? memory.add(std::span<std::byte>(host, bytes))
                                : memory.add(std::span<const std::byte>(host, bytes)));
        arguments.push_back(ptx::argument(addresses.back()));
    }
    for (const std::string& symbol : kernel::symbols_of(kernel))
        arguments.push_back(ptx::argument(dims.at(symbol)));
    if (kernel::draws(kernel))
        arguments.push_back(ptx::argument(memory.add(std::span<const std::uint64_t>(draw))));
    for (int site : kernel::sites_of(kernel))
        arguments.push_back(ptx::argument(std::int64_t(site)));
    for (const emit::PtxLaunch& launch : emitted.ptx.kernels[number].launches) {
        ptx::Launch one;
        const std::uint64_t blocks = blocks_of(launch, dims);
        if (blocks == 0) continue;
        one.grid = {std::uint32_t(blocks), 1, 1};
        one.block = {std::uint32_t(launch.threads), 1, 1};
        one.dynamic_shared_bytes = std::uint32_t(launch.shared_bytes);
        one.arguments = arguments;
        for (const emit::TensorMap& map : launch.maps)
            one.arguments.push_back(
                ptx::argument(tensor_map(map, kernel, addresses[std::size_t(map.buffer)], dims)));
        one.max_instructions = max_instructions;
        ptx::interpret(emitted.module, launch.entry, one, memory, schedule);
    }
}

void check_kernel(const Emitted& emitted, std::size_t number, const DimValues& dims,
                  const std::function<Arrays()>& arrays, std::size_t turn, double tolerance) {
    std::string what = emitted.kernels[number].name;
    for (const auto& [name, value] : dims) what += fmt::format(", {} = {}", name, value);
    CAPTURE(what);
    const std::vector<ptx::Schedule> schedules = ptx::schedules();
    Arrays first = arrays();
    run_ptx(emitted, number, dims, first, schedules[turn % schedules.size()]);
    check_against_evaluator(emitted.kernels[number], dims, first, tolerance);
    if (turn > 0) return;
    Arrays other = arrays();
    run_ptx(emitted, number, dims, other, schedules[1 + number % (schedules.size() - 1)]);
    CHECK(same_bits(first, other));
}

void check_kernels(const std::vector<Kernel>& kernels, const std::vector<DimValues>& sizes,
                   double tolerance) {
    const Emitted emitted = emit_and_parse(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (std::size_t s = 0; s < sizes.size(); ++s)
            check_kernel(
                emitted, i, sizes[s], [&] { return Arrays(kernels[i], sizes[s], 7, 11); }, s,
                tolerance);
}

std::optional<std::string> complaints_of_ptxas(const std::string& text,
                                               const std::string& architecture) {
    if (std::system("command -v ptxas > /dev/null 2>&1") != 0) {
        MESSAGE("no ptxas: skipped");
        return std::nullopt;
    }
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(FOVEA_BINARY_DIR) / "nvptx";
    fs::create_directories(folder);
    const std::string file = (folder / (architecture + ".ptx")).string(), log = file + ".log";
    std::ofstream(file) << text;
    const std::string command =
        "ptxas -v -arch=" + architecture + " " + file + " -o /dev/null > " + log + " 2>&1";
    const bool fails = std::system(command.c_str()) != 0;
    std::ifstream lines(log);
    std::string found, line, entry;
    while (std::getline(lines, line)) {
        if (line.find("Compiling entry function") != line.npos) entry = line;
        const bool frame = line.find("bytes stack frame") != line.npos &&
                           line.find(
                               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                               "spill loads") == line.npos;
        const bool told = line.find("warning") != line.npos || line.find("error") != line.npos ||
                          line.find("C75") != line.npos ||
                          (fails && line.find("info") == line.npos);
        if (frame || told) found += entry + "\n" + line + "\n";
    }
    return found.empty() && fails ? "ptxas fails" : found;
}

void check_ptxas(const std::vector<Kernel>& kernels,
                 const std::vector<std::string>& architectures) {
    const std::size_t start = random_seed(), step = std::getenv("FOVEA_WHOLE") ? 1 : 16;
    for (std::size_t first = 0; first < architectures.size(); ++first) {
        const std::string& architecture = architectures[(start + first) % architectures.size()];
        CAPTURE(architecture);
        std::vector<Kernel> own;
        for (std::size_t i = first; i < kernels.size(); i += architectures.size())
            if ((start / architectures.size() + i / architectures.size()) % step == 0)
                own.push_back(kernels[i]);
        if (own.empty()) continue;
        const auto complaints =
            complaints_of_ptxas(emit::emit_ptx(own, architecture).text, architecture);
        if (!complaints) return;
        CHECK(*complaints == "");
    }
}

}  // namespace fovea::test
