#include "tools/fovea/device/ptx_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "codegen/base/error.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

/// The number before `unit` in a line of ptxas; 0 where there is none.
int number_before(const std::string& line, const std::string& unit) {
    std::smatch match;
    return std::regex_search(line, match, std::regex("(\\d+) " + unit)) ? std::stoi(match[1]) : 0;
}

std::map<std::string, KernelResources> parse_report(const std::string& report) {
    std::map<std::string, KernelResources> all;
    KernelResources* current = nullptr;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
        const std::string entry = "Compiling entry function '";
        if (const std::size_t at = line.find(entry); at != line.npos) {
            const std::size_t from = at + entry.size();
            current = &all[line.substr(from, line.find('\'', from) - from)];
        }
        if (!current) continue;
        if (line.find("bytes stack frame") != line.npos) {
            current->stack_bytes = number_before(line, "bytes stack frame");
            current->spill_bytes = number_before(line, "bytes spill stores");
        }
        if (line.find("Used ") != line.npos) {
            current->registers = number_before(line, "registers");
            current->shared_bytes = number_before(line, "bytes smem");
        }
    }
    return all;
}

/// The launches of a kernel and of the steps of a scan.
void add_launches(const emit::PtxKernel& kernel, std::vector<emit::PtxLaunch>& launches) {
    launches.insert(launches.end(), kernel.launches.begin(), kernel.launches.end());
    for (const emit::PtxKernel& step : kernel.steps) add_launches(step, launches);
}

}  // namespace

std::optional<std::map<std::string, KernelResources>> ptx_resources(
    const std::string& text, const std::string& architecture) {
    if (find_program("ptxas").empty()) return std::nullopt;
    const TemporaryFolder folder;
    const auto source = folder.path() / "kernels.ptx";
    write_temporary(source, text);
    const ProcessResult result =
        run_process({"ptxas", "-v", "-arch=" + architecture, source.string(), "-o",
                     (folder.path() / "kernels.cubin").string()});
    if (result.status != 0)
        throw InternalError(fmt::format("ptxas does not take the kernels: {}", result.output));
    return parse_report(result.output);
}

std::string resource_table(const emit::PtxModule& module) {
    std::vector<emit::PtxLaunch> launches;
    for (const emit::PtxKernel& kernel : module.kernels) add_launches(kernel, launches);
    std::size_t width = 6;
    for (const emit::PtxLaunch& launch : launches) width = std::max(width, launch.entry.size());
    std::string table;
    if (const auto resources = ptx_resources(module.text, module.architecture)) {
        table = fmt::format("// {:<{}}  threads  registers  shared bytes  spilled bytes\n",
                            "kernel", width);
        for (const emit::PtxLaunch& launch : launches) {
            const auto found = resources->find(launch.entry);
            const KernelResources own =
                found == resources->end() ? KernelResources{} : found->second;
            table += fmt::format("// {:<{}}  {:>7}  {:>9}  {:>12}  {:>13}\n", launch.entry, width,
                                 launch.threads, own.registers,
                                 own.shared_bytes + launch.shared_bytes, own.spill_bytes);
        }
    } else {
        table = "// ptxas is not installed here: no table of registers and shared memory.\n";
    }
    for (const emit::PtxLaunch& launch : launches)
        if (!launch.form.empty()) table += fmt::format("// {}: {}\n", launch.entry, launch.form);
    return table;
}

}  // namespace fovea::tool
