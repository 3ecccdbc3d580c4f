// The runs of one program, watched for the profile.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../program.h"
#include "profile.h"

namespace fovea::runtime {

/// Watches the runs of an instance. A kernel's time is from the end of the one before, for which
/// all threads wait, to its own end; in shards of the batch each thread has its own times.
class ProgramProfile {
  public:
    ProgramProfile(Profile& profile, const Model& model, const Program& program);
    /// `work` on the call, with an observer.
    void run(Call call, const std::function<void(const Call&)>& work);

  private:
    class Watch;

    Profile& profile_;
    std::size_t whole_, before_, after_;  // rows
    std::vector<std::size_t> kernels_;  // rows
};

/// What Description names, so that programs which are built without it do not link it.
struct ProfiledRuns {
    /// Null where no profile is wanted. UserError when its file cannot be written.
    std::shared_ptr<ProgramProfile> (*wanted)(const Model& model, const Program& program);
    /// ProgramProfile::run.
    void (*run)(ProgramProfile& profile, const Call& call,
                const std::function<void(const Call&)>& work);
};

}  // namespace fovea::runtime
