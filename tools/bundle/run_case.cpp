#include "tools/bundle/run_case.h"

#include <array>

#include "runtime/device/on_device.h"
#include "runtime/error.h"
#include "tools/bundle/measure.h"
#include "tools/bundle/open_model.h"
#include "tools/bundle/probe.h"
#include "tools/bundle/run_program.h"

namespace fovea::bundle {

using runtime::Json;
using runtime::device::Device;

namespace {

std::vector<std::uint32_t> words_of(const CaseTensor& tensor) {
    std::vector<std::uint32_t> words(tensor.bytes.size() / 4);
    tensor.copy_to(words.data(), runtime::DType::i32, words.size());
    return words;
}

/// Loads each module of the case that the device runs.
Outcome run_load(const CaseFile& from, Device& device, const RunOptions& options,
                 Progress progress) {
    Outcome outcome;
    for (const auto& [architecture, text] : from.ptx(from["ptx"])) {
        if (!options.architecture.empty() && architecture != options.architecture) continue;
        if (device.choose({&architecture, 1}).empty()) continue;
        progress("load the module for " + architecture);
        device.load(text);
        outcome.architecture += (outcome.architecture.empty() ? "" : " ") + architecture;
    }
    if (outcome.architecture.empty()) outcome.status = "skipped";
    return outcome;
}

Outcome run_probe(const CaseFile& from, Device& device, Progress progress) {
    const auto texts = from.ptx(from["ptx"]);
    const auto& [architecture, text] = *texts.begin();
    if (device.choose({&architecture, 1}).empty())
        return {.status = "skipped", .text = device.name() + " does not run " + architecture};
    Probe probe{.name = from.text("name"),
                .architecture = architecture,
                .text = text,
                .entry = from.text("entry"),
                .threads = int(from["threads"].integer()),
                .input = words_of(from.tensor("input")),
                .expected = words_of(from.tensor("expected")),
                .of_floats = from["of_floats"].boolean()};
    for (const Json& argument : from["more_arguments"].array())
        probe.more_arguments.push_back(std::uint64_t(argument.integer()));
    if (const Json* map = from.find("tensor")) {
        runtime::device::MappedTensor tensor{
            .axes = {},
            .swizzle = int(at(*map, "swizzle").integer()),
            .rounds_to_tf32 = at(*map, "rounds_to_tf32").boolean()};
        for (const Json& axis : at(*map, "axes").array())
            tensor.axes.push_back({std::uint64_t(axis.array().at(0).integer()),
                                   std::uint64_t(axis.array().at(1).integer()),
                                   std::uint32_t(axis.array().at(2).integer())});
        probe.tensor = tensor;
    }
    progress("kernel " + probe.entry);
    Outcome outcome{.architecture = architecture, .worst = error_of(device, probe)};
    if (outcome.worst == 0) return outcome;
    outcome.status = "miss";
    outcome.kernel = probe.entry;
    outcome.text = "a word differs by " + std::to_string(outcome.worst);
    return outcome;
}

}  // namespace

Outcome run_case(const CaseFile& from, const std::shared_ptr<Device>& device,
                 const RunOptions& options, Progress progress) {
    const std::string& kind = from.text("kind");
    if (kind == "load") return run_load(from, *device, options, progress);
    if (kind == "probe") return run_probe(from, *device, progress);
    if (kind == "program") return run_program(from, device, options, progress);
    if (kind == "training") return run_training(from, device, options, progress);
    if (kind == "bench") return measure(from, device, options, progress);
    throw runtime::UserError("case " + std::to_string(from.number()) + " is of the kind '" + kind +
                             "', which this runner does not know");
}

}  // namespace fovea::bundle
