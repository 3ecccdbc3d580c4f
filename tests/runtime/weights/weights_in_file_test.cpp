// Weights of commands that read them stay in their file, or are let go.
#include "runtime/weights/weights_in_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "runtime/error.h"
#include "runtime/files/read_weights.h"
#include "runtime/instance.h"
#include "tests/runtime/shared_model.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::kSharedWidth;
using fovea::test::looking_up_model;
using fovea::test::shared_model;
using fovea::test::write_shared_weights;

namespace {

float y_from_file(Instance& instance) {
    instance.bind({{"batch", 1}});
    instance.run();
    return instance.output_values("y")[0];
}

bool is_in(const SafetensorsFile& file, const char* name, const void* address) {
    return file.find(name)->bytes.data() == address;
}

}  // namespace

TEST_CASE("programs read weights of a file as they lie there, or as they were before") {
    for (const bool halves : {false, true}) {
        CAPTURE(halves);
        const fovea::test::TemporaryFolder folder;
        const SafetensorsFile file = read_weights(write_shared_weights(folder, halves));
        Parameters parameters(shared_model(), {});
        WeightsInFile in_file(parameters, file);
        in_file.load();
        CHECK(is_in(file, "weight", parameters.address(0)) == !halves);
        CHECK(is_in(file, "bias", parameters.address(1)) == !halves);
        Instance first(shared_model(), "first", parameters);
        Instance third(shared_model(), "third", parameters);
        CHECK(y_from_file(first) == kSharedWidth);
        CHECK(parameters.address(0)[kSharedWidth / 2] == (halves ? 0 : 0.5F));
        CHECK(y_from_file(first) == kSharedWidth);
        // Each parameter comes when it is wanted.
        CHECK(y_from_file(third) == 6 * kSharedWidth);
        parameters.mark_changed();
        CHECK(y_from_file(first) == kSharedWidth);
        CHECK(y_from_file(third) == 6 * kSharedWidth);
        // Values that are asked for are there, and stay.
        CHECK(parameters.values(1)[7] == 2);
        parameters.values(1)[7] = 4;
        parameters.mark_changed();
        CHECK(y_from_file(first) == kSharedWidth);
        CHECK(y_from_file(third) == 6 * kSharedWidth + 6);
        CHECK(parameters.address(1)[7] == 4);
    }
}

TEST_CASE("rows that programs look up stay in the file, which others are prepared of") {
    for (const bool halves : {false, true}) {
        CAPTURE(halves);
        const fovea::test::TemporaryFolder folder;
        const std::string path = write_shared_weights(folder, halves);
        for (const bool mapped : {false, true}) {
            CAPTURE(mapped);
            const SafetensorsFile file = mapped ? read_weights(path) : read_safetensors(path);
            Parameters parameters(looking_up_model(), {});
            WeightsInFile in_file(parameters, file);
            in_file.load();
            const HalfFloats* const table = parameters.halves();
            CHECK(is_in(file, "weight", table[0].address) == halves);
            CHECK(table[1].address == nullptr);
            Instance first(looking_up_model(), "first", parameters);
            Instance fourth(looking_up_model(), "fourth", parameters);
            CHECK(y_from_file(fourth) == 0.5F);
            CHECK(y_from_file(first) == kSharedWidth);
            CHECK(y_from_file(fourth) == 0.5F);
            CHECK(parameters.address(0)[kSharedWidth / 2] == (halves ? 0 : 0.5F));
        }
    }
}

TEST_CASE("parameters that lie in a file are no flat array") {
    const fovea::test::TemporaryFolder folder;
    const SafetensorsFile file = read_weights(write_shared_weights(folder, false));
    Parameters parameters(shared_model(), {});
    WeightsInFile(parameters, file).load();
    CHECK_THROWS_AS(parameters.flat(), InternalError);
    CHECK(parameters.values(1)[7] == 2);
}

TEST_CASE("weights that a device takes are copies, and those of a pipe come when they are wanted") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = write_shared_weights(folder, false);
    Model on_device = shared_model();
    for (Program& program : on_device.programs)
        program.executor = []() -> std::unique_ptr<Executor> { return nullptr; };
    const SafetensorsFile mapped = read_weights(path), copied = read_safetensors(path);
    CHECK(mapped.is_mapped());
    CHECK(!copied.is_mapped());
    Parameters device(on_device, {}), piped(shared_model(), {});
    WeightsInFile(device, mapped).load();
    CHECK(device.flat()[0] == 0.5F);
    WeightsInFile in_file(piped, copied);
    in_file.load();
    Instance first(shared_model(), "first", piped);
    CHECK(y_from_file(first) == kSharedWidth);
}

TEST_CASE("tensors of another shape or type are refused when they are taken") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = folder.file("weights.safetensors");
    const std::vector<float> few(8);
    const auto complaint = [&](const char* dtype, std::vector<std::int64_t> shape) {
        std::vector<TensorView> tensors;
        for (const char* name : {"weight", "bias"})
            tensors.push_back({name, dtype, shape, std::as_bytes(std::span(few))});
        write_safetensors(path, std::move(tensors));
        Parameters parameters(shared_model(), {});
        const SafetensorsFile file = read_weights(path);
        try {
            WeightsInFile(parameters, file).load();
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(complaint("F32", {8}) ==
          "parameter 'weight' in '" + path + "' has shape [8], expected [16384]");
    CHECK(
        complaint("I32", {8}) ==
        "parameter 'weight' in '" + path +
            "' has dtype I32, but weights are taken as F32, BF16 or F16: save it as one of these");
}
