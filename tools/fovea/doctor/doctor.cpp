// `fovea doctor`: what the command finds on this machine, what is missing, and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/main.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/doctor/findings.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/version.h"

namespace fovea::tool {

namespace {

using State = Finding::State;

std::string state_name(State state) {
    return state == State::ok ? "ok" : state == State::absent ? "absent" : "missing";
}

void print_findings(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
        fmt::print("{:<8} {:<17} {}\n", state_name(finding.state), finding.what, finding.found);
        if (!finding.advice.empty()) fmt::print("{:27}-> {}\n", "", finding.advice);
    }
}

nlohmann::ordered_json report_json(const std::vector<Finding>& findings, bool ready) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings)
        list.push_back({{"what", finding.what},
                        {"state", state_name(finding.state)},
                        {"found", finding.found},
                        {"advice", finding.advice}});
    return {{"ready", ready}, {"findings", list}};
}

int examine(const Arguments& given) {
    std::vector<Finding> findings = {{"command",
                                      State::ok,
                                      fmt::format("{}, compiled by {} ({})", name_and_version(),
                                                  FOVEA_COMPILER_NAME, command_file().string()),
                                      {}}};
    {
        const Progress progress("compiling a small model");
        find_main_tools(findings);
    }
    find_machine(findings);
    find_gpu_tools(findings);
    const bool ready = std::ranges::none_of(
        findings, [](const Finding& finding) { return finding.state == State::missing; });
    if (given.has("json")) {
        fmt::print("{}\n", report_json(findings, ready).dump(2));
    } else {
        print_findings(findings);
        fmt::print("{}\n", ready ? "models build and run here"
                                 : "models do not build here: do what stands below `missing`");
    }
    return ready ? 0 : 1;
}

}  // namespace

Command doctor_command() {
    po::options_description options("Options");
    options.add_options()("json", "print JSON");
    return {{"doctor",
             "say what is found here, what is missing, and what to do",
             "",
             "Looks at what the command needs: its sources, a compiler, which compiles a small\n"
             "model, instruction sets, cores, memory and folders; and at what PTX and GPUs take,\n"
             "which may be absent. Exit status 1 when models cannot be built.",
             {{"all that there is, with advice", "fovea doctor"},
              {"the same for programs", "fovea doctor --json"}}},
            options,
            examine};
}

}  // namespace fovea::tool
