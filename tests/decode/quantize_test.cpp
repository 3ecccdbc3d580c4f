// Programs that take weights of 8 or 4 bits make them of floats, whatever else they do.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/registry.h"
#include "runtime/safetensors.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/small_program.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using namespace fovea;
using test::run_fovea;
using tool::ProcessResult;

namespace {

struct Case {
    std::string model, weights;
    std::vector<std::string> arguments;  // of a command that reads weights
    SettingValues settings;
};

/// The model's entry with other small settings, `weights` among them.
ModelEntry entry_of(const Case& one) {
    ModelEntry entry = *models::find_model(one.model);
    for (const auto& setting : one.settings) entry.small_settings.push_back(setting);
    return entry;
}

std::vector<Case> all_cases() {
    return {{"bert", "int8:16", {"embed", "--ids", "3,17,5"}, {}},
            {"vit", "int4:48", {"classify", "pixels.safetensors"}, {}},
            {"position_wise_ffn",
             "int8:32",
             {"run", "--inputs", "x.safetensors", "--outputs", "out.safetensors"},
             {{"input", "40"}, {"ffn", "24"}}}};
}

void write_inputs(const tool::TemporaryFolder& folder) {
    const std::vector<float> some(3 * 21 * 21, 0.5F);
    const auto write = [&](const char* name, const char* tensor,
                           const std::vector<std::int64_t>& shape) {
        std::size_t count = 1;
        for (const std::int64_t size : shape) count *= std::size_t(size);
        runtime::write_safetensors(
            (folder.path() / name).string(),
            {runtime::f32_tensor(tensor, shape, std::span(some).first(count))});
    };
    write("pixels.safetensors", "pixels", {1, 3, 21, 21});
    write("x.safetensors", "x", {1, 2, 40});
}

class Quantizing {
  public:
    explicit Quantizing(const Case& one) : case_(one), entry_(entry_of(one)) {
        const test::RandomWeights weights(entry_.build(entry_.small_settings));
        weights.write(path("floats"));
        write_inputs(folder_);
        ModelEntry stored = entry_;
        stored.small_settings.emplace_back("weights", one.weights);
        test::build_small_program(stored, path("program"));
    }

    std::string path(const char* name) const { return (folder_.path() / name).string(); }
    ProcessResult call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "./program");
        std::string line = "cd '" + folder_.path().string() + "' &&";
        for (const std::string& word : arguments) line += " '" + word + "'";
        return tool::run_process({"sh", "-c", line + " 2>&1"});
    }
    /// The command that reads weights.
    ProcessResult read(const std::string& weights) const {
        std::vector<std::string> arguments = case_.arguments;
        arguments.insert(arguments.begin() + 1, {"--weights", weights});
        return call(arguments);
    }
    void refuses(const std::vector<std::string>& arguments, const std::string& said) const {
        const ProcessResult result = call(arguments);
        CHECK(result.status == 2);
        CHECK_MESSAGE(result.output.find(said) != std::string::npos, result.output);
    }
    /// `fovea` with the settings of the model.
    ProcessResult fovea(std::vector<std::string> arguments) const {
        for (const auto& [setting, value] : entry_.small_settings)
            arguments.insert(arguments.end(), {"--set", setting + "=" + value});
        return run_fovea(arguments);
    }

    void check() const {
        const auto colon = case_.weights.find(':');
        const std::string type = case_.weights.substr(0, colon),
                          group = case_.weights.substr(colon + 1);
        const ProcessResult floats = read("floats");
        CHECK(floats.status == 2);
        CHECK_MESSAGE(floats.output.find("takes " + type + " in groups of " + group +
                                         ": make such weights of them by its command "
                                         "`quantize`\n") != std::string::npos,
                      floats.output);
        CHECK(call({"--help"}).output.find("  quantize  make weights of 8 or 4 bits\n") !=
              std::string::npos);
        const ProcessResult made =
            call({"quantize", "--weights", "floats", "-o", "small", "--threads", "1"});
        CHECK_MESSAGE(made.status == 0, made.output);
        CHECK(made.output.find("largest error") != std::string::npos);
        CHECK_MESSAGE(read("small").status == 0, read("small").output);
        refuses({"quantize", "--weights", "small", "-o", "again"}, " already: give those");
        refuses({"quantize", "--weights", "floats", "-o", "again", "--to", "int3"},
                "--to takes int8 or int4, not 'int3'\n");
        refuses({"quantize", "--weights", "floats", "-o", "again", "--group", "24"},
                "--group takes a multiple of 16 up to 4096, not 24\n");
        check_other_numbers();

        const ProcessResult same =
            fovea({"quantize", case_.model, "--to", type, "--group", group, "--weights",
                   path("floats"), "-o", path("same"), "--threads", "2"});
        CHECK_MESSAGE(same.status == 0, same.output);
        CHECK(test::read_text(path("same")) == test::read_text(path("small")));
    }

  private:
    /// Those of another program.
    void check_other_numbers() const {
        const ProcessResult made = call(
            {"quantize", "--weights", "floats", "-o", "other", "--to", "int4", "--group", "64"});
        CHECK_MESSAGE(made.status == 0, made.output);
        CHECK(made.output.find("for a program that is built with `--set weights=int4:64`") !=
              std::string::npos);
        CHECK(read("other").output.find("build it with `--set weights=int4:64`") !=
              std::string::npos);
    }

    Case case_;
    ModelEntry entry_;
    tool::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("programs of encoders, classifiers and any model make weights of 8 and 4 bits") {
    for (const Case& one : test::turns_of(all_cases(), 2)) {
        CAPTURE(one.model);
        Quantizing(one).check();
    }
}

TEST_CASE("fovea quantize makes the weights that fovea run takes, and says what it lacks") {
    const Case one = all_cases()[2];
    const ModelEntry entry = entry_of(one);
    const test::RandomWeights weights(entry.build(entry.small_settings));
    const tool::TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    weights.write(path("floats"));
    write_inputs(folder);
    const std::string inputs = path("x.safetensors"), outputs = path("out");
    const auto called = [&](std::vector<std::string> arguments) {
        for (const auto& [setting, value] : entry.small_settings)
            arguments.insert(arguments.end(), {"--set", setting + "=" + value});
        return run_fovea(arguments);
    };
    const auto run = [&](const std::string& file) {
        return called({"run", one.model, "--set", "weights=int8", "--weights", file, "--inputs",
                       inputs, "--outputs", outputs});
    };
    CHECK(run(path("floats"))
              .output.ends_with("takes int8 in groups of 32: make such weights of them by `fovea "
                                "quantize MODEL --to int8 "
                                "--group 32`\n"));
    const auto quantize = [&](std::vector<std::string> more) {
        more.insert(more.begin(),
                    {"quantize", one.model, "--weights", path("floats"), "-o", path("small")});
        return called(more);
    };
    CHECK(quantize({"--set", "weights=int8"}).status == 0);
    CHECK(run(path("small")).status == 0);
    CHECK(called({"run", one.model, "--target", "reference", "--weights", path("small"), "--inputs",
                  inputs, "--outputs", outputs})
              .output.ends_with(
                  "has weights of int8 in groups of 32, and the reference takes floats: give it "
                  "the weights that these were made of, or leave out --target reference and set "
                  "weights=int8:32\n"));
    CHECK(quantize({"--to", "int8", "--set", "weights=int8"}).output ==
          "fovea: --to and --set weights=int8:32 ask for numbers twice: leave out one\n");
    CHECK(quantize({}).output ==
          "fovea: fovea quantize needs --to int8 or --to int4: the numbers that the weights "
          "become\n");
    CHECK(quantize({"--to", "int8", "--group", "40"}).output ==
          "fovea: --group takes a multiple of 16 up to 4096, not 40\n");
}
