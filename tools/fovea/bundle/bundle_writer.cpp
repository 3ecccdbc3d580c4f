#include "tools/fovea/bundle/bundle_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/print.h"
#include "runtime/device/code_json.h"
#include "runtime/files/files.h"
#include "tools/fovea/bundle/case_tensors.h"
#include "tools/fovea/bundle/expected_values.h"
#include "tools/fovea/device/device_code.h"

namespace fovea::tool {

using runtime::Json;

namespace {

constexpr int kShort = 60, kLong = 120;  // seconds that a case may take
constexpr std::int64_t kCaseSeed = 11, kCaseStep = 3;

/// What programs check of their inputs.
std::vector<bundle::InputCheck> checks_of(const plan::Model& model) {
    std::vector<bundle::InputCheck> checks;
    for (const plan::Program& program : model.programs)
        for (const plan::Tensor& tensor : program.tensors)
            for (const plan::Check& check : tensor.checks)
                if (tensor.role == plan::Role::input)
                    checks.push_back({program.name, tensor.name,
                                      check.holds == plan::Holds::ids ? "ids" : "lengths",
                                      kernel::text_of(check.limit.without_label())});
    return checks;
}

Json dims_json(const SampleDims& dims) { return bundle::dims_json({dims.begin(), dims.end()}); }

}  // namespace

const std::vector<std::string>& bundle_stages() {
    static const std::vector<std::string> stages = {"load",         "layouts",   "rows",
                                                    "contractions", "attention", "gradients",
                                                    "models",       "training",  "bench"};
    return stages;
}

BundleWriter::BundleWriter(std::filesystem::path folder) : folder_(std::move(folder)) {
    for (const char* part : {"cases", "data", "models", "ptx"})
        std::filesystem::create_directories(folder_ / part);
}

void BundleWriter::add_case(const std::string& stage, int limit, Json::Object members) {
    const auto& stages = bundle_stages();
    const auto found = std::find(stages.begin(), stages.end(), stage);
    if (found == stages.end()) throw InternalError(fmt::format("a bundle has no stage {}", stage));
    Json json = std::move(members);
    json.set("stage", stage);
    cases_.push_back({std::size_t(found - stages.begin()), limit, std::move(json)});
}

std::string BundleWriter::write_ptx(const std::string& text) {
    const std::string path = fmt::format("ptx/{:016x}.ptx", std::hash<std::string>{}(text));
    if (!std::filesystem::exists(folder_ / path))
        runtime::write_file_atomically((folder_ / path).string(), text);
    return path;
}

Json BundleWriter::write_tensors(const std::vector<bundle::CaseTensor>& tensors) {
    Json json = Json::Object{};
    for (const bundle::CaseTensor& tensor : tensors) {
        const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()),
                                     tensor.bytes.size());
        const std::string path = fmt::format("data/{:016x}", std::hash<std::string_view>{}(bytes));
        if (!std::filesystem::exists(folder_ / path))
            runtime::write_file_atomically((folder_ / path).string(), bytes);
        Json::Array shape(tensor.shape.begin(), tensor.shape.end());
        json.set(tensor.name,
                 Json::Array{std::string(name_of(tensor.dtype)), std::move(shape), path});
    }
    return json;
}

void BundleWriter::begin_model(const CompiledModel& model, const std::string& name,
                               const emit::PtxOptions& options) {
    model_ = &model;
    const auto code = compile_for_devices(model.plan, emit::ptx_architectures(), options);
    Json::Object ptx;
    for (const auto& module : code.modules)
        ptx.emplace_back(module.architecture, write_ptx(module.text));
    model_file_ = fmt::format("models/{}.json", ++files_);
    const Json json = Json::Object{
        {"model", bundle::model_json(description_of(model.plan), checks_of(model.plan))},
        {"tables", runtime::device::launch_tables(code)},
        {"ptx", ptx}};
    runtime::write_file_atomically((folder_ / model_file_).string(), json.text());
    add_case("load", kLong, {{"name", name}, {"kind", "load"}, {"ptx", ptx}});
}

void BundleWriter::add(const ProgramCase& given) {
    const CompiledProgram& compiled = model_->programs[given.program];
    Values values = draw_values(compiled.plan, given.sample);
    round_inputs(compiled.plan, given.lengths, values);
    CaseTensors tensors;
    for (const plan::Tensor& tensor : compiled.plan.tensors) {
        if (tensor.role == plan::Role::parameter)
            tensors.add("parameter " + tensor.name, DType::f32, values.at(tensor.name));
        if (tensor.role == plan::Role::input)
            tensors.add("input " + tensor.name, tensor.dtype, values.at(tensor.name));
    }
    Json::Array expected;
    for (const ExpectedTensor& row : expected_tensors(
             model_->plan, compiled, given.sample, values,
             {.training = given.training, .seed = kCaseSeed, .step = kCaseStep}, given.bounds)) {
        tensors.add(fmt::format("expected {} {}", row.step, row.tensor),
                    compiled.plan.tensors[std::size_t(row.tensor)].dtype, row.values);
        expected.push_back(Json::Array{row.step, row.tensor, row.floor, row.bound});
    }
    add_case(given.stage, kShort,
             {{"name", given.name},
              {"kind", "program"},
              {"model", model_file_},
              {"program", compiled.name},
              {"dims", dims_json(given.sample.dims)},
              {"seed", kCaseSeed},
              {"step", kCaseStep},
              {"expected", std::move(expected)},
              {"tensors", write_tensors(tensors.take())}});
}

void BundleWriter::add(const TrainingCase& given) {
    const TrainingRun run =
        run_training(*model_, given.sample, given.optimizer, given.steps, kCaseSeed);
    CaseTensors tensors;
    const plan::Program& program = model_->programs[0].plan;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::input)
            tensors.add("input " + tensor.name, tensor.dtype, run.inputs.at(tensor.name));
    for (const auto& [name, array] : run.before)
        tensors.add("parameter " + name, DType::f32, array);
    for (const auto& [name, array] : run.after) tensors.add("after " + name, DType::f32, array);
    Json::Array losses(run.losses.begin(), run.losses.end()),
        norms(run.norms.begin(), run.norms.end());
    const double wide = given.in_halves ? 100 : 1;
    add_case(
        "training", kLong,
        {{"name", given.name},
         {"kind", "training"},
         {"model", model_file_},
         {"program", program.name},
         {"dims", dims_json(given.sample.dims)},
         {"seed", kCaseSeed},
         {"optimizer", run.optimizer},
         {"rule", run.rule},
         {"losses", std::move(losses)},
         {"norms", std::move(norms)},
         {"bounds",
          Json::Object{{"loss", 1e-4 * wide}, {"norm", 5e-4 * wide}, {"parameters", 5e-4 * wide}}},
         {"tensors", write_tensors(tensors.take())}});
}

void BundleWriter::add(const BenchCase& given) {
    Json::Array counted;
    for (const std::string& kernel : given.counted) counted.push_back(kernel);
    add_case("bench", kLong,
             {{"name", given.name},
              {"kind", "bench"},
              {"model", model_file_},
              {"program", model_->programs[0].name},
              {"dims", dims_json(given.dims)},
              {"small_dims", dims_json(given.small_dims)},
              {"flops", given.flops},
              {"work", given.work},
              {"counted", std::move(counted)}});
}

void BundleWriter::add(const bundle::Probe& probe) {
    CaseTensors tensors;
    tensors.add_words("input", probe.input);
    tensors.add_words("expected", probe.expected);
    Json::Array arguments;
    for (std::uint64_t argument : probe.more_arguments)
        arguments.emplace_back(std::int64_t(argument));
    Json::Object members = {{"name", probe.name},
                            {"kind", "probe"},
                            {"ptx", Json::Object{{probe.architecture, write_ptx(probe.text)}}},
                            {"entry", probe.entry},
                            {"threads", probe.threads},
                            {"of_floats", probe.of_floats},
                            {"more_arguments", std::move(arguments)},
                            {"tensors", write_tensors(tensors.take())}};
    if (probe.tensor) {
        Json::Array axes;
        for (const auto& axis : probe.tensor->axes)
            axes.push_back(
                Json::Array{std::int64_t(axis.extent), std::int64_t(axis.stride), int(axis.box)});
        members.emplace_back("tensor",
                             Json::Object{{"axes", std::move(axes)},
                                          {"swizzle", probe.tensor->swizzle},
                                          {"rounds_to_tf32", probe.tensor->rounds_to_tf32}});
    }
    add_case("layouts", kShort, std::move(members));
}

std::size_t BundleWriter::finish() {
    std::stable_sort(cases_.begin(), cases_.end(),
                     [](const Case& a, const Case& b) { return a.stage < b.stage; });
    std::string index;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        const Case& own = cases_[i];
        runtime::write_file_atomically((folder_ / fmt::format("cases/{}.json", i + 1)).string(),
                                       own.json.text());
        index += fmt::format("{} {} {} {}\n", i + 1, bundle_stages()[own.stage], own.limit,
                             own.json.find("name")->string());
    }
    runtime::write_file_atomically((folder_ / "index.txt").string(), index);
    return cases_.size();
}

}  // namespace fovea::tool
