// One program with kernels for several instruction sets: each gives what the reference gives.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/isa.h"
#include "runtime/safetensors.h"
#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
namespace runtime = fovea::runtime;

namespace {

const std::string kBlockModel = FOVEA_SOURCE_DIR "/models/lessons/block.cpp:block";

/// Files for runs of the block: sequences of 9 steps, of 9 and 4 that count.
struct Case {
    fovea::tool::TemporaryFolder folder;
    std::string program = path("block"), inputs = path("inputs"), weights = path("weights");

    std::string path(const std::string& name) const { return (folder.path() / name).string(); }

    void write_files() const {
        const std::vector<float> x = numbers(2 * 9 * 64, 1);
        const std::int32_t lens[] = {9, 4};
        runtime::write_safetensors(inputs, {runtime::f32_tensor("x", {2, 9, 64}, x),
                                            {"lens", "I32", {2}, std::as_bytes(std::span(lens))},
                                            runtime::f32_tensor("output.grad", {2, 9, 64}, x)});
        const auto described =
            nlohmann::json::parse(run_process({program, "describe", "--json"}).output);
        std::vector<std::vector<float>> values;
        std::vector<runtime::TensorView> tensors;
        values.reserve(100);
        for (const auto& tensor : described.at("parameters")) {
            const auto shape = tensor.at("shape").get<std::vector<std::int64_t>>();
            std::int64_t count = 1;
            for (std::int64_t extent : shape) count *= extent;
            values.push_back(numbers(std::size_t(count), int(values.size()) + 2));
            tensors.push_back(runtime::f32_tensor(tensor.at("name"), shape, values.back()));
        }
        REQUIRE(values.size() > 10);
        REQUIRE(values.size() <= 100);
        runtime::write_safetensors(weights, tensors);
    }

    static std::vector<float> numbers(std::size_t count, int seed) {
        std::vector<float> result(count);
        for (std::size_t i = 0; i < count; ++i)
            result[i] = 0.3F * std::sin(float(i * 7919 % 1000 + 131 * std::size_t(seed)));
        return result;
    }
};

std::vector<double> values_of(const runtime::TensorView& tensor) {
    const bool wide = tensor.dtype == "F64";
    std::vector<double> values;
    for (std::size_t at = 0; at < tensor.bytes.size(); at += wide ? 8 : 4) {
        double value = 0;
        float narrow = 0;
        if (wide) std::memcpy(&value, tensor.bytes.data() + at, 8);
        else std::memcpy(&narrow, tensor.bytes.data() + at, 4), value = narrow;
        values.push_back(value);
    }
    return values;
}

/// Every tensor within 2e-5 of the reference's, relative to its largest value.
void check_alike(const std::string& own_path, const std::string& exact_path) {
    const auto own = runtime::read_safetensors(own_path);
    const auto exact = runtime::read_safetensors(exact_path);
    REQUIRE(own.tensors().size() == exact.tensors().size());
    REQUIRE(exact.find("ffn.dense1.weight.grad") != nullptr);
    for (const runtime::TensorView& tensor : exact.tensors()) {
        CAPTURE(tensor.name);
        REQUIRE(own.find(tensor.name));
        const auto a = values_of(*own.find(tensor.name)), b = values_of(tensor);
        REQUIRE(a.size() == b.size());
        double worst = 0, largest = 1;
        for (std::size_t i = 0; i < a.size(); ++i) {
            worst = std::max(worst, std::isfinite(a[i]) ? std::fabs(a[i] - b[i]) : 1e9);
            largest = std::max(largest, std::fabs(b[i]));
        }
        CHECK(worst <= 2e-5 * largest);
    }
}

std::string names_here(const std::vector<std::string>& isas) {
    std::string text;
    for (const std::string& isa : isas)
        if (runtime::machine_has(isa)) text += (text.empty() ? "" : ", ") + isa;
    return text;
}

}  // namespace

TEST_CASE("each instruction set of a program gives values and gradients of the reference") {
    Case files;
    REQUIRE(
        run_fovea({"build", kBlockModel, "-o", files.program}, {"-u", "FOVEA_CXXFLAGS"}).status ==
        0);
    files.write_files();
    for (bool train : {false, true}) {
        CAPTURE(train);
        std::vector<std::string> run = {"run",       "--inputs",    files.inputs,
                                        "--weights", files.weights, "--gradients"};
        if (train) run.insert(run.end(), {"--train", "--seed", "3", "--step", "5"});
        const std::string exact = files.path("exact");
        std::vector<std::string> reference = run;
        reference.insert(reference.begin() + 1, kBlockModel);
        reference.insert(reference.end(), {"--target", "reference", "--outputs", exact});
        REQUIRE(run_fovea(reference).status == 0);
        for (std::string_view name : runtime::isa_names()) {
            const std::string isa(name), own = files.path(isa);
            if (isa == "avx512_bf16") continue;  // not without products of bfloat16
            if (!runtime::machine_has(isa)) {
                MESSAGE("not run: this machine has no ", isa);
                continue;
            }
            CAPTURE(isa);
            std::vector<std::string> command = {"env", "FOVEA_ISA=" + isa, files.program};
            command.insert(command.end(), run.begin(), run.end());
            command.insert(command.end(), {"--outputs", own});
            const ProcessResult result = run_process(command);
            CHECK_MESSAGE(result.status == 0, result.output);
            check_alike(own, exact);
        }
    }
    const ProcessResult unknown = run_process({"env", "FOVEA_ISA=sse9", files.program, "describe"});
    CHECK(unknown.status == 2);
    CHECK(unknown.output ==
          "block: FOVEA_ISA is 'sse9', which this program does not have; on this machine it runs " +
              names_here({"avx512", "avx2", "baseline"}) + "\n");
}

TEST_CASE("--isa restricts what a program has") {
    Case files;
    REQUIRE(run_fovea({"build", kBlockModel, "--isa", "baseline", "-o", files.program}).status ==
            0);
    const std::string described = run_process({files.program, "describe"}).output;
    CHECK(described.find("\ninstruction set baseline\n") != std::string::npos);
    const ProcessResult other = run_process({"env", "FOVEA_ISA=avx2", files.program, "describe"});
    CHECK(other.status == 2);
    CHECK(other.output ==
          "block: FOVEA_ISA is 'avx2', which this program does not have; on this "
          "machine it runs baseline\n");
}

TEST_CASE("generated files name the instruction sets of --isa") {
    Case files;
    const std::string folder = files.path("generated");
    REQUIRE(run_fovea({"generate", kBlockModel, "--isa", "baseline,avx2", "-o", folder}).status ==
            0);
    const std::string text = fovea::test::read_text(folder + "/CMakeLists.txt");
    CHECK(text.find("foreach(isa avx2 baseline)") != std::string::npos);
    const ProcessResult wrong =
        run_fovea({"generate", kBlockModel, "--isa", "avx2,sse9", "-o", folder + "2"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output ==
          "fovea: --isa takes avx512_bf16, avx512, avx2, baseline or native, not 'sse9'\n");
    CHECK(!std::filesystem::exists(folder + "2"));
}

TEST_CASE("fovea run takes FOVEA_ISA") {
    Case files;
    const ProcessResult wrong = run_fovea({"verify", kBlockModel}, {"FOVEA_ISA=sse9"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output ==
          "fovea: FOVEA_ISA is 'sse9', which this program does not have; on this machine it runs " +
              names_here({"avx512_bf16", "avx512", "avx2", "baseline"}) + "\n");
}
