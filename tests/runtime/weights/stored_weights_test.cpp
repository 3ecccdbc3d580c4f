// Files with weights of 8 and 4 bits: what is wrong with one is said, and what to do.
#include "runtime/weights/stored_weights.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/error.h"
#include "runtime/load_parameters.h"
#include "runtime/weights/weight_tensors.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;

namespace {

Model model_of(WeightStorage storage) {
    Model model;
    model.name = "small";
    model.stored_weights = &kStoredWeights;
    TensorSpec weight;
    weight.name = "dense.weight";
    weight.shape = {3, 40};
    weight.storage = storage;
    model.parameters = {weight};
    return model;
}

/// What a program has that makes weights itself.
Model with_command(Model model) {
    model.quantize = [](const std::string&, const Model&, std::span<const char* const>) {
        return 0;
    };
    return model;
}

/// Weights of the model in tensors that last as long as they do.
WeightTensors tensors_of(const Model& model) {
    Parameters parameters(model, {});
    parameters.initialize(3);
    std::vector<float> values(120);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 23) - 9;
    parameters.set_values(0, values);
    WeightTensors all = tensors_to_write(parameters);
    if (!all.owned.empty()) return all;
    for (TensorView& tensor : all.tensors) {  // floats, which lie in the parameters
        all.owned.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
        tensor.bytes = all.owned.back();
    }
    return all;
}

/// What loading a file with these says; "loaded" where nothing is wrong.
std::string said_on_loading(const Model& model, const WeightTensors& all,
                            const Metadata& metadata) {
    const fovea::test::TemporaryFolder folder;
    write_safetensors(folder.file("w"), all.tensors, metadata);
    Parameters parameters(model, {});
    try {
        load_parameters(parameters, parse_safetensors("w", read_file(folder.file("w"))));
    } catch (const UserError& error) {
        return error.what();
    }
    return "loaded";
}

}  // namespace

TEST_CASE("scales that are not finite, or negative, are refused with their place") {
    const Model model = model_of({8, 16});
    const struct {
        std::uint16_t bits;
        const char* said;
    } cases[] = {{0x7fc0, "not a number"}, {0xffff, "not a number"}, {0x7f80, "infinite"},
                 {0xff80, "infinite"},     {0xbf80, "negative"},     {0x8001, "negative"},
                 {0x0000, nullptr},        {0x8000, nullptr},        {0x7f7f, nullptr}};
    for (const auto& [bits, said] : cases) {
        WeightTensors all = tensors_of(model);
        REQUIRE(all.owned.size() == 2);
        std::memcpy(&all.owned[1][2 * 7], &bits, sizeof bits);  // row 2, group 1
        CHECK(said_on_loading(model, all, metadata_to_write(model)) ==
              (said ? "'dense.weight.scales' in 'w' is " + std::string(said) +
                          " at [2, 1], but scales are finite and not negative: make the file again "
                          "of weights of floats, by `fovea quantize MODEL --to int8 --group 16`"
                    : "loaded"));
    }
}

TEST_CASE("numbers with scales in a file that does not say what they are") {
    for (const WeightStorage storage : {WeightStorage{8, 16}, {4, 16}}) {
        const WeightTensors all = tensors_of(model_of(storage));
        for (const WeightStorage own : {storage, WeightStorage{}})
            CHECK(said_on_loading(model_of(own), all, {}) ==
                  "'w' has 'dense.weight' of " + std::string(storage.bits == 8 ? "I8" : "U8") +
                      " and 'dense.weight.scales', but no fovea_weights in its __metadata__, which "
                      "says what they are: add it, as int8:32 (the type and the size of groups), "
                      "or make the file again of weights of floats, by `fovea quantize`");
    }
}

TEST_CASE("for weights of floats the command is named that makes others of them") {
    const Model model = model_of({4, 32});
    const WeightTensors floats = tensors_of(model_of({}));
    const std::string start =
        "'w' has weights of floats, but this program of small takes int4 in groups of 32: make "
        "such weights of them by ";
    CHECK(said_on_loading(model, floats, {}) ==
          start + "`fovea quantize MODEL --to int4 --group 32`");
    CHECK(said_on_loading(with_command(model), floats, {}) == start + "its command `quantize`");
}
