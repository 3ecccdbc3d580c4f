#include "program_executor.h"

#include "../parallel/region.h"

namespace fovea::runtime::device {
namespace {

class ProgramExecutor : public Executor {
  public:
    ProgramExecutor(std::shared_ptr<const Shared> shared, const Program& program,
                    const Steps& steps)
        : program_(std::move(shared), program, steps) {}

    void run(const Call& call) override { execute(program_, call); }
    void fetch_states(const Call& call) override {
        program_.copy_states(call);
        program_.device().synchronize();
    }

  private:
    ProgramRun program_;
};

}  // namespace

void execute(ProgramRun& program, const Call& call) {
    const Placement::Change change = program.bind(call);
    const bool prepare = call.prepare || change.contents;
    if (prepare) program.copy_parameters();
    program.copy_inputs(call, change.places);
    if (prepare) program.prepare();
    if (call.observe) program.run_observed(call);
    else program.repeat([&] { program.run_steps(); });
    program.copy_outputs(call, true);
    program.device().synchronize();
    if (!call.finish) return;
    Team team;
    run_region(team, [&] { call.finish(call.finish_state, team); });
}

std::unique_ptr<Executor> make_executor(std::shared_ptr<const Shared> shared,
                                        const Program& program, const Steps& steps) {
    return std::make_unique<ProgramExecutor>(std::move(shared), program, steps);
}

}  // namespace fovea::runtime::device
