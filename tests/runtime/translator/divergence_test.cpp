// A training that diverges says so, keeps what was good, and its weights translate nothing.
#include <doctest/doctest.h>

#include <limits>

#include "../../../runtime/safetensors.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using namespace fovea::runtime;

namespace {

struct DivergenceFixture {
    CurrentFolder folder;
    Model model = make_model();
    DivergenceFixture() {
        write_text("pairs.tsv", "Go.\tVa !\nHi.\tSalut !\nRun!\tCours !\nI see.\tJe vois .\n");
    }
    Result train(const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"train", "--data",     "pairs.tsv", "--weights",
                                              "w",     "--min-freq", "1",         "--threads=1"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, std::move(arguments));
    }
    void refuses(std::vector<std::string> arguments, const std::string& sentence) {
        const Result result = run_translator(model, std::move(arguments));
        CHECK(result.status == 2);
        CHECK(result.out.empty());
        CHECK(result.err == "translator: " + sentence + "\n");
    }
};

/// Sets every value of some tensors of a file.
void overwrite(const std::string& path, const std::vector<std::string>& names, float value) {
    const SafetensorsFile file = read_safetensors(path);
    std::vector<TensorView> tensors = file.tensors();
    std::vector<std::vector<float>> values;
    for (TensorView& tensor : tensors) {
        if (std::find(names.begin(), names.end(), tensor.name) == names.end()) continue;
        values.emplace_back(tensor.bytes.size() / sizeof(float), value);
        tensor = f32_tensor(tensor.name, tensor.shape, values.back());
    }
    write_safetensors(path, tensors, file.metadata());
}

}  // namespace

TEST_CASE("divergence: weights that the last step made infinite are not written") {
    DivergenceFixture f;
    REQUIRE(f.train({"--epochs=1"}).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    const std::vector<std::string> diverging = {"--epochs=1", "--optimizer=sgd", "--lr=1e38",
                                                "--weight-decay=1e38"};
    const Result result = f.train(diverging);
    CHECK(result.status == 2);
    CHECK(result.err.find("translator: after step 1 the training has diverged: 'encoder.embedding."
                          "weight' is no longer finite; train again with a smaller --lr\n") !=
          std::string::npos);
    CHECK(read_text("w") == weights);
    CHECK(read_text("w.checkpoint") == checkpoint);
}

TEST_CASE("divergence: a loss on held out pairs that is none is never the best") {
    DivergenceFixture f;
    const Result first = f.train({"--epochs=1", "--lr=1e30", "--validation=0.3"});
    CHECK(first.status == 2);
    CHECK(first.err.find("translator: the loss on the held out pairs is not finite after epoch 1; "
                         "train again with a smaller --lr\n") != std::string::npos);
    CHECK(file_names() == std::vector<std::string>{"pairs.tsv"});
    REQUIRE(f.train({"--epochs=2", "--validation=0.3"}).status == 0);
    const std::string weights = read_text("w");
    overwrite("w.checkpoint", {"decoder.dense.weight", "decoder.embedding.weight"}, 3e38F);
    const Result later = f.train({"--epochs=3", "--validation=0.3", "--resume"});
    CHECK(later.status == 2);
    CHECK(
        later.err.find("translator: the loss is no longer finite at step 3 (epoch 3); train again "
                       "with a smaller --lr; 'w.checkpoint' is from step 2; 'w' holds the "
                       "weights of epoch 2\n") != std::string::npos);
    CHECK(read_text("w") == weights);
}

TEST_CASE("divergence: weights and checkpoints that are not finite are refused") {
    DivergenceFixture f;
    REQUIRE(f.train({"--epochs=2"}).status == 0);
    const std::vector<std::string> names = {"decoder.dense.bias", "optimizer.v.decoder.dense.bias"};
    const std::string reason =
        "holds values that are not finite, the first in 'decoder.dense.bias': they are of a "
        "training that diverged; train again with a smaller --lr";
    overwrite("w", names, std::numeric_limits<float>::quiet_NaN());
    f.refuses({"translate", "--weights", "w", "Go."}, "'w' " + reason);
    f.refuses({"evaluate", "--weights", "w", "--data", "pairs.tsv"}, "'w' " + reason);
    overwrite("w.checkpoint", {names[1]}, std::numeric_limits<float>::infinity());
    const Result resumed = f.train({"--epochs=3", "--resume"});
    CHECK(resumed.status == 2);
    CHECK(resumed.err ==
          "translator: 'w.checkpoint' holds an optimizer's state 'v' that is not finite: the "
          "training diverged; train again with a smaller --lr\n");
}

TEST_CASE("divergence: finite weights whose scores are none translate nothing") {
    DivergenceFixture f;
    REQUIRE(f.train({"--epochs=2"}).status == 0);
    overwrite("w", {"decoder.dense.weight", "decoder.embedding.weight"}, 3e38F);
    f.refuses({"translate", "--weights", "w", "Go."},
              "the scores of the next word are not finite: the weights are of a training that "
              "diverged; train again with a smaller --lr");
    f.refuses({"evaluate", "--weights", "w", "--data", "pairs.tsv"},
              "the loss of 'w' on 'pairs.tsv' is not finite");
}
