// The weights and checkpoints of a training under way: a disk that is full for a while ends none.
#pragma once

#include <memory>
#include <string>

#include "checkpoint.h"
#include "output_paths.h"
#include "train_options.h"

namespace fovea::runtime {

class TrainingFiles {
  public:
    /// Locks both files: UserError where another training has them.
    TrainingFiles(Training& training, const TrainPaths& paths);

    /// The weights as they are now are those to keep: writes them. Where that fails, warns, keeps a
    /// copy and tries again with the next checkpoint.
    void keep_weights();
    /// The same, but a UserError where writing fails.
    void save_last_weights();
    /// Writes a checkpoint; where that fails, warns: the next call tries again. Divergence where
    /// weights or state are not finite; the files are then untouched.
    void try_checkpoint();
    /// Writes what could not be written. UserError where it still can't be.
    void finish();
    /// Writes all, now.
    void checkpoint();
    /// What a training that diverged leaves, as the end of a sentence; empty: nothing.
    std::string kept() const;

  private:
    /// Weights that could not be written yet.
    struct Unwritten {
        Parameters parameters;
        Metadata metadata;
    };
    void verify_finite() const;
    void write_weights();

    Training& training_;
    const TrainPaths& paths_;
    const OutputLock weights_lock_, checkpoint_lock_;
    std::unique_ptr<Unwritten> unwritten_;
    bool is_behind_ = false;  // the last checkpoint could not be written
    bool has_checkpoint_ = false;
    std::uint64_t checkpoint_step_ = 0;
};

}  // namespace fovea::runtime
