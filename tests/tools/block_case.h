// A model of a lesson with inputs and weights, and the comparison of what programs make of them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/safetensors.h"
#include "tests/tools/run_fovea.h"

namespace fovea::test {

inline const std::string kBlockModel = FOVEA_SOURCE_DIR "/models/lessons/block.cpp:block";

/// Files for runs of the block: sequences of 9 steps, of 9 and 4 that count.
struct BlockCase {
    tool::TemporaryFolder folder;
    std::string program = path("block"), inputs = path("inputs"), weights = path("weights");

    std::string path(const std::string& name) const { return (folder.path() / name).string(); }

    /// Inputs, and weights for the parameters that `describe --json` of the program says.
    void write_files(const std::string& description) const {
        const std::vector<float> x = numbers(2 * 9 * 64, 1);
        const std::int32_t lens[] = {9, 4};
        runtime::write_safetensors(inputs, {runtime::f32_tensor("x", {2, 9, 64}, x),
                                            {"lens", "I32", {2}, std::as_bytes(std::span(lens))},
                                            runtime::f32_tensor("output.grad", {2, 9, 64}, x)});
        const auto described = nlohmann::json::parse(description);
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

inline std::vector<double> values_of(const runtime::TensorView& tensor) {
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
inline void check_alike(const std::string& own_path, const std::string& exact_path) {
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

/// Values and gradients of the program in `files`, also with dropout, are those of the reference.
/// `run` runs a command line that begins with the program; `more` stands behind it.
template <class Run>
void check_against_reference(const BlockCase& files, const Run& run,
                             const std::vector<std::string>& more = {}) {
    for (const bool train : {false, true}) {
        CAPTURE(train);
        std::vector<std::string> own = {files.program, "run",         "--inputs",   files.inputs,
                                        "--weights",   files.weights, "--gradients"};
        if (train) own.insert(own.end(), {"--train", "--seed", "3", "--step", "5"});
        std::vector<std::string> reference(own.begin() + 1, own.end());
        own.insert(own.end(), more.begin(), more.end());
        own.insert(own.end(), {"--outputs", files.path("own")});
        reference.insert(reference.begin() + 1, kBlockModel);
        const std::string exact = files.path(train ? "exact_of_training" : "exact");
        reference.insert(reference.end(), {"--target", "reference", "--outputs", exact});
        const tool::ProcessResult result = run(own);
        REQUIRE_MESSAGE(result.status == 0, result.output);
        if (!std::filesystem::exists(exact)) REQUIRE(run_fovea(reference).status == 0);
        check_alike(files.path("own"), exact);
    }
}

}  // namespace fovea::test
