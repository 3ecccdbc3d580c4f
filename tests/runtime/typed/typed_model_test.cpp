// A model whose programs give no gradients leaves its weights in their file.
#include "runtime/typed/typed_model.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "runtime/files/read_weights.h"
#include "runtime/instance.h"
#include "runtime/typed/typed_program.h"
#include "runtime/weights/weights_in_file.h"
#include "tests/runtime/shared_model.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::kSharedWidth;
using fovea::test::write_shared_weights;

namespace {

const Model& model_in_file() {
    static const Model model = [] {
        Model result = fovea::test::looking_up_model();
        result.file_weights = &kFileWeights;
        return result;
    }();
    return model;
}

struct LoadedModel : TypedModel {
    explicit LoadedModel(const std::string& file) : TypedModel(model_in_file(), file) {}
};

float y_of_session(const TypedModel& model, const char* program) {
    TypedProgram session(model, program, {});
    const std::int64_t sizes[] = {1};
    return session.run(sizes, {}).row<float>(0)[0];
}

std::string complaint_of_session(const TypedModel& model, const char* program) {
    try {
        y_of_session(model, program);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string bytes_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("weights that stay in their file are read, written and saved as others are") {
    for (const bool halves : {false, true}) {
        CAPTURE(halves);
        const fovea::test::TemporaryFolder folder;
        const std::string path = write_shared_weights(folder, halves);
        const std::string before = bytes_in(path);
        LoadedModel model(path);
        CHECK((model.parameters()->halves()[0].address != nullptr) == halves);
        CHECK(y_of_session(model, "fourth") == 0.5F);
        CHECK(y_of_session(model, "first") == kSharedWidth);
        CHECK(model.parameter("weight")[kSharedWidth - 1] == 0.5F);
        CHECK(y_of_session(model, "fourth") == 0.5F);

        std::vector<float> values(kSharedWidth, 1.F);
        model.set_parameter("weight", values);
        CHECK(y_of_session(model, "first") == 2 * kSharedWidth);
        CHECK(y_of_session(model, "fourth") == 1);
        CHECK(y_of_session(model, "third") == 6 * kSharedWidth);
        // Where `parameter` points may be written, too.
        const std::span<const float> bias = model.parameter("bias");
        std::fill_n(const_cast<float*>(bias.data()), kSharedWidth, 4.F);
        model.parameters()->mark_changed();
        CHECK(y_of_session(model, "third") == 12 * kSharedWidth);
        CHECK(y_of_session(model, "first") == 2 * kSharedWidth);

        CHECK(bytes_in(path) == before);
        model.save(path);
        CHECK(y_of_session(model, "third") == 12 * kSharedWidth);
        CHECK(y_of_session(LoadedModel(path), "third") == 12 * kSharedWidth);
        CHECK(y_of_session(LoadedModel(path), "fourth") == 1);
    }
}

TEST_CASE("a file that another takes the name of is read on, one that is written to is not") {
    for (const bool halves : {false, true}) {
        CAPTURE(halves);
        const fovea::test::TemporaryFolder folder;
        const std::string path = write_shared_weights(folder, halves);
        const LoadedModel model(path);
        write_shared_weights(folder, halves, 3);  // renamed
        CHECK(y_of_session(model, "first") == kSharedWidth);
        const LoadedModel second(path);
        CHECK(y_of_session(second, "fourth") == 3);
        CHECK(y_of_session(model, "fourth") == 0.5F);

        const std::string bytes = bytes_in(path);
        std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
        const std::string expected =
            "'" + path +
            "' was written to since its weights were loaded, and programs read them there: load "
            "them again, and have a new file take its name rather than its place";
        CHECK(complaint_of_session(second, "first") == expected);
        CHECK_THROWS_AS(second.parameter("bias"), UserError);
        CHECK(complaint_of_session(model, "first").empty());
    }
}

TEST_CASE("a program that reads all of a weight has it in memory") {
    Model model = model_in_file();
    static constexpr int kWhole[] = {0};
    model.programs[3].whole = kWhole;
    const fovea::test::TemporaryFolder folder;
    SafetensorsFile file = read_weights(write_shared_weights(folder, true));
    const auto parameters = kFileWeights.load(model, {}, file);
    for (const char* const program : {"first", "fourth"}) {
        CHECK(parameters->address(0)[kSharedWidth / 2] == 0);
        Instance instance(model, program, *parameters);
        instance.bind({{"batch", 1}});
        instance.run();
    }
    CHECK(parameters->address(0)[kSharedWidth / 2] == 0.5F);
}

TEST_CASE("weights of a model whose programs give gradients are copied") {
    Model model = model_in_file();
    model.programs[1].needs.clear();
    const fovea::test::TemporaryFolder folder;
    SafetensorsFile file = read_weights(write_shared_weights(folder, false));
    CHECK(kFileWeights.load(model, {}, file) == nullptr);
    CHECK(file.find("weight") != nullptr);
    CHECK(kFileWeights.load(model_in_file(), {}, file) != nullptr);
}

TEST_CASE("weights of a pipe are copied") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = write_shared_weights(folder, true);
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes_in(path); });
    const LoadedModel model(pipe);
    writer.join();
    CHECK(model.parameters()->flat()[0] == 0.5F);
    CHECK(y_of_session(model, "first") == kSharedWidth);
    CHECK(y_of_session(model, "fourth") == 0.5F);
}

TEST_CASE("values are asked for while sessions run on other threads") {
    const fovea::test::TemporaryFolder folder;
    const LoadedModel model(write_shared_weights(folder, true));
    std::vector<std::thread> threads;
    std::vector<float> found(6);
    for (std::size_t i = 0; i < found.size(); ++i)
        threads.emplace_back([&, i] {
            const char* const programs[] = {"first", "fourth", "third"};
            if (i < 3) found[i] = y_of_session(model, programs[i]);
            else found[i] = model.parameter(i % 2 ? "bias" : "weight")[kSharedWidth / 2];
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(found == std::vector<float>{kSharedWidth, 0.5F, 6 * kSharedWidth, 2, 0.5F, 2});
}
