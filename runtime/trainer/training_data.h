// What a trainer reads: examples with numbers, which are put into the inputs of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../files/json.h"
#include "../instance.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// A batch in an instance's inputs.
struct LoadedBatch {
    std::int64_t tokens = 0;  // that the loss is of
    std::size_t steps = 0;    // of each sequence: `labels` are [batch, steps]
    double nats = 1;          // that 1 in the sum of `loss` stands for
    double share = 1;  // what the gradient of that sum is multiplied with, before gradients of the
        // batches of a step are added
};

/// An option that decides a training's bits.
struct DataOption {
    const char* name;
    Json value, unset;  // a number each; `unset` where a checkpoint does not name it
};

class TrainingData {
  public:
    TrainingData() = default;
    TrainingData(const TrainingData&) = delete;
    TrainingData& operator=(const TrainingData&) = delete;
    virtual ~TrainingData() = default;

    /// Examples have the numbers 0 … count() - 1.
    virtual std::size_t count() const = 0;
    /// The tokens of an example that the loss is of; they are the first of its labels.
    virtual std::int64_t tokens(std::uint32_t example) const = 0;
    /// What examples are called: `pairs`.
    virtual const char* examples() const = 0;
    /// A number that changes with any example, and with their order.
    virtual std::uint64_t fingerprint() const = 0;
    virtual std::vector<DataOption> options() const = 0;

    /// Binds `instance` to `batch` and fills its inputs; `step` holds the examples of all batches
    /// whose gradients make up one step, these among them.
    virtual LoadedBatch load(Instance& instance, std::span<const std::uint32_t> batch,
                             std::span<const std::uint32_t> step) const = 0;
    /// Changes the order of an epoch, whose batches have `batch` examples, by (seed, epoch) alone.
    virtual void arrange(std::span<std::uint32_t> /*order*/, std::size_t /*batch*/,
                         std::uint64_t /*seed*/, std::uint64_t /*epoch*/) const {}

    /// The program that measures what is held out: inputs as `training_step` has them, `loss`, and
    /// maybe `logits` [batch, steps, tokens].
    virtual const char* measuring_program() const = 0;
    /// Settings of the model that follow from the data.
    virtual std::span<const char* const> open_settings() const { return {}; }
    /// What weights and checkpoints say of the data, beside model, step and seed.
    virtual Metadata metadata() const = 0;
    /// UserError where a checkpoint is of another kind of tokens.
    virtual void verify_kind(const SafetensorsFile& checkpoint) const = 0;
    /// UserError where a checkpoint, whose options are equal, is of other tokens of this kind.
    virtual void verify_tokens(const SafetensorsFile& /*checkpoint*/) const {}
};

}  // namespace fovea::runtime
