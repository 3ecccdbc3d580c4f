// Outputs and gradients of `fovea run` against PyTorch's, case by case; README.md says what a case
// is and what errors pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "models/registry.h"
#include "runtime/safetensors.h"
#include "tests/alike_models.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using fovea::runtime::SafetensorsFile;
using fovea::runtime::TensorView;

std::vector<double> values_of(const TensorView& tensor) {
    std::vector<double> values;
    const bool wide = tensor.dtype == "F64";
    for (std::size_t at = 0; at < tensor.bytes.size(); at += wide ? 8 : 4) {
        double value;
        float narrow;
        std::memcpy(wide ? static_cast<void*>(&value) : &narrow, tensor.bytes.data() + at,
                    wide ? 8 : 4);
        values.push_back(wide ? value : narrow);
    }
    return values;
}

double largest(const std::vector<double>& values) {
    double result = 0;
    for (double value : values) result = std::max(result, std::abs(value));
    return result;
}

bool is_gradient(const TensorView& tensor) { return tensor.name.ends_with(".grad"); }

void compare(const SafetensorsFile& actual, const SafetensorsFile& expected) {
    double largest_gradient = 0;
    for (const TensorView& tensor : expected.tensors())
        if (is_gradient(tensor))
            largest_gradient = std::max(largest_gradient, largest(values_of(tensor)));
    for (const TensorView& tensor : expected.tensors()) {
        CAPTURE(tensor.name);
        const TensorView* ours = actual.find(tensor.name);
        REQUIRE(ours);
        REQUIRE(ours->shape == tensor.shape);
        const std::vector<double> a = values_of(*ours), b = values_of(tensor);
        double error = 0, scale = std::max(largest(b), 1e-3);
        for (std::size_t i = 0; i < b.size(); ++i)
            error = std::max(error, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
        if (is_gradient(tensor)) scale = std::max(scale, largest_gradient / 10);
        CHECK(error / scale <= (is_gradient(tensor) ? 1e-4 : 2e-5));
    }
}

std::string names_of_outputs(const SafetensorsFile& expected) {
    std::string names;
    for (const TensorView& tensor : expected.tensors())
        if (!is_gradient(tensor)) names += (names.empty() ? "" : ",") + tensor.name;
    return names;
}

std::string text_of(const nlohmann::json& value) {
    if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
    std::string list;
    for (const nlohmann::json& item : value) list += (list.empty() ? "" : ",") + text_of(item);
    return list;
}

/// Of a checkpoint's `config.json` the fields that are settings of the model.
nlohmann::json settings_of_config(nlohmann::json config, const std::string& model) {
    if (config.contains("rope_parameters")) config.update(config["rope_parameters"]);
    if (config.contains("id2label")) config["num_labels"] = config["id2label"].size();
    nlohmann::json settings = nlohmann::json::object();
    const fovea::ModelEntry* entry = fovea::models::find_model(model);
    REQUIRE_MESSAGE(entry, model);
    for (const fovea::SettingSpec& spec : entry->settings)
        if (config.contains(spec.name)) settings[spec.name] = config[spec.name];
    return settings;
}

/// The fovea of this build, or the one that the words of FOVEA_COMMAND start.
std::vector<std::string> fovea_command() {
    std::vector<std::string> command = {"env", fovea::test::value_flags()};
    const char* other = std::getenv("FOVEA_COMMAND");
    std::istringstream words(other ? other : FOVEA_BINARY_DIR "/fovea");
    for (std::string word; words >> word;) command.push_back(word);
    return command;
}

void run_case(const fs::path& folder, const std::string& target, const std::string& fusion) {
    const nlohmann::json given = nlohmann::json::parse(std::ifstream(folder / "settings.json"));
    const std::string model = given["model"];
    const SafetensorsFile expected =
        fovea::runtime::read_safetensors((folder / "expected.safetensors").string());
    fovea::tool::TemporaryFolder temporary;
    const std::string output = (temporary.path() / "out.safetensors").string();
    std::vector<std::string> command = fovea_command();
    command.insert(command.end(),
                   {"run", model, "--target", target, "--fusion", fusion, "--inputs",
                    (folder / "inputs.safetensors").string(), "--outputs", output, "--gradients",
                    "--only", names_of_outputs(expected), "--set", "dtype=f32"});
    if (fs::exists(folder / "weights.safetensors"))
        command.insert(command.end(), {"--weights", (folder / "weights.safetensors").string()});
    const nlohmann::json settings =
        given.contains("config") ? settings_of_config(given["config"], model) : given["settings"];
    for (const auto& [name, value] : settings.items())
        command.insert(command.end(), {"--set", name + "=" + text_of(value)});
    const fovea::tool::ProcessResult result = fovea::tool::run_process(command);
    INFO(result.output);
    REQUIRE(result.status == 0);
    compare(fovea::runtime::read_safetensors(output), expected);
}

/// The folders of the cases, in one order.
std::vector<fs::path> folders_of_cases() {
    const char* other = std::getenv("FOVEA_CASES");
    std::vector<fs::path> folders;
    for (const auto& entry :
         fs::directory_iterator(other ? other : FOVEA_SOURCE_DIR "/tests/parity"))
        if (fs::exists(entry.path() / "settings.json")) folders.push_back(entry.path());
    std::ranges::sort(folders);
    return folders;
}

void run_all(const std::string& target, const std::string& fusion) {
    std::vector<fs::path> folders = folders_of_cases();
    if (target != "reference") {
        std::erase_if(folders, [](const fs::path& folder) {
            const std::string name = folder.filename().string();
            return fovea::test::is_like_another(name.substr(0, name.find('-')));
        });
        // Compiling takes long: a third by turns; what is fused with one seed is not with the next.
        if (!std::getenv("FOVEA_CASES"))
            folders = fovea::test::turns_of(folders, 3, target != "cpu" || fusion == "off");
    }
    for (const fs::path& folder : folders) {
        CAPTURE(folder.filename().string());
        run_case(folder, target, fusion);
    }
}

/// On the interpreter of PTX, where this build writes any.
void run_all_as_ptx(const std::string& fusion) {
    if (const auto reason = fovea::emit::why_not_ptx()) MESSAGE("skipped: ", *reason);
    else run_all("ptx-interpreter", fusion);
}

}  // namespace

TEST_CASE("the reference agrees with PyTorch") { run_all("reference", "on"); }
TEST_CASE("the reference of plain ops agrees with PyTorch") { run_all("reference", "off"); }
TEST_CASE("generated C++ agrees with PyTorch") { run_all("cpu", "on"); }
TEST_CASE("generated C++ without fusion agrees with PyTorch") { run_all("cpu", "off"); }
TEST_CASE("PTX agrees with PyTorch") { run_all_as_ptx("on"); }
/// Every night: plain ops on PTX are those of other tests.
TEST_CASE("PTX without fusion agrees with PyTorch") {
    if (fovea::test::takes_all()) run_all_as_ptx("off");
}
