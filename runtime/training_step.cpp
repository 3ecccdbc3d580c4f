// What the threads of the program's region do behind its last kernel: the norm of the gradient, a
// barrier, and each its own blocks of the optimizer's pass.
#include "training_step.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "error.h"

namespace fovea::runtime {
namespace {

Call call_of(std::uint64_t seed, std::uint64_t step) {
    Call call;
    call.seed = seed, call.step = step;
    return call;
}

}  // namespace

/// One run, as its threads see it. Each thread finds the same norm and the same scale.
struct TrainingStep::Running {
    TrainingStep& self;
    const StepRule& rule;
    bool moves = true;  // the parameters; else gradients are accumulated
    std::span<const float> loss = {};  // [batch]
    bool is_finished = false;          // it and `outcome` are written by the first thread
    StepOutcome outcome = {};
};

TrainingStep::TrainingStep(const Model& model, Parameters& parameters, Optimizer& optimizer)
    : parameters_(parameters),
      optimizer_(optimizer),
      instance_(model, "training_step", parameters),
      norm_(parameters.trained_size()) {
    if (optimizer.size() != parameters.trained_size())
        throw InternalError("an optimizer of {} floats for parameters of {}",
                            {optimizer.size(), parameters.trained_size()});
    std::vector<Instance::OutputPlace> gradients;
    for (std::size_t i = 0; i < parameters.count(); ++i)
        if (!model.parameters[i].frozen)
            gradients.push_back(
                {model.parameters[i].name + ".grad", parameters.offset(i) * sizeof(float)});
    instance_.place_in_workspace(gradients, parameters.trained_size() * sizeof(float));
    instance_.keep_states();
    std::size_t floats = 0;
    for (const TensorSpec& output : instance_.program().outputs) {
        const int parameter = output.state ? parameters.find(output.name) : -1;
        if (parameter < 0) continue;
        states_.push_back(std::size_t(parameter));
        floats += parameters.values(std::size_t(parameter)).size();
    }
    states_before_.reserve(floats * sizeof(float));
    device_ = dynamic_cast<TrainingExecutor*>(instance_.executor());
    if (device_) device_->attach(parameters, optimizer);
}

TrainingStep::~TrainingStep() {
    try {
        if (device_) device_->detach();
    } catch (const std::exception& error) {
        // A device that fails has said so before: what it had is lost.
        std::fprintf(stderr, "warning: %s\n", error.what());
    }
}

void TrainingStep::finish(void* state, Team& team) {
    auto& running = *static_cast<Running*>(state);
    TrainingStep& self = running.self;
    const Part part = Team::part();
    if (part.index == 0) running.is_finished = true;
    if (!running.moves || self.has_sum_)
        add_scaled_part({self.sum_.as<float>(), self.parameters_.trained_size()}, self.gradients(),
                        running.rule.gradient_scale, part);
    if (running.moves) move(running, team);
}

void TrainingStep::move(Running& running, Team& team) {
    TrainingStep& self = running.self;
    const StepRule& rule = running.rule;
    const Part part = Team::part();
    const double scale = self.has_sum_ ? 1 : rule.gradient_scale;
    const std::span<const float> gradients =
        self.has_sum_ ? std::span<const float>{self.sum_.as<float>(), self.gradients().size()}
                      : self.gradients();
    self.norm_.add_part(gradients, part);
    team.wait();
    const double norm = self.norm_.norm() * scale;
    const bool moves =
        std::isfinite(norm) && std::all_of(running.loss.begin(), running.loss.end(),
                                           [](float loss) { return std::isfinite(loss); });
    if (part.index == 0) running.outcome = {norm, moves};
    if (!moves) return;
    self.optimizer_.update_part(self.parameters_.trained(), gradients, rule.learning_rate,
                                scale * clip_scale(norm, rule.clip), part);
}

void TrainingStep::keep_states() {
    float* to = states_before_.as<float>();
    for (const std::size_t state : states_)
        to = std::copy_n(parameters_.values(state).data(), parameters_.values(state).size(), to);
}

void TrainingStep::restore_states() {
    const float* from = states_before_.as<float>();
    for (const std::size_t state : states_) {
        const std::span<float> values = parameters_.values(state);
        std::copy_n(from, values.size(), values.data());
        from += values.size();
    }
}

void TrainingStep::clear_gaps() {
    auto* flat = static_cast<float*>(instance_.workspace());
    float* end = flat + parameters_.trained_size();
    for (std::size_t i = parameters_.count(); i-- > 0;) {
        if (instance_.model().parameters[i].frozen) continue;
        float* start = flat + parameters_.offset(i);
        std::fill(start + parameters_.values(i).size(), end, 0.0F);
        end = start;
    }
}

void TrainingStep::run_program(std::uint64_t seed, std::uint64_t step, Running& running) {
    if (instance_.has_lent_workspace()) clear_gaps();
    running.loss = instance_.output_values("loss");
    Call call = call_of(seed, step);
    call.finish = finish, call.finish_state = &running;
    instance_.run_call(call);
    if (!running.is_finished)
        throw InternalError("program 'training_step' ended without a call of Call::finish");
}

void TrainingStep::accumulate(std::uint64_t seed, std::uint64_t step, double gradient_scale) {
    if (device_) {
        instance_.run_call(call_of(seed, step),
                           [&](const Call& call) { device_->accumulate(call, gradient_scale); });
        return;
    }
    if (!has_sum_) {
        keep_states();
        sum_.reserve(parameters_.trained_size() * sizeof(float));
        std::fill_n(sum_.as<float>(), parameters_.trained_size(), 0.0F);
    }
    const StepRule rule{.gradient_scale = gradient_scale};
    Running running{*this, rule, false};
    run_program(seed, step, running);
    has_sum_ = true;
}

StepOutcome TrainingStep::run(std::uint64_t seed, std::uint64_t step, const StepRule& rule) {
    Running running{*this, rule};
    if (device_) {
        instance_.run_call(call_of(seed, step),
                           [&](const Call& call) { running.outcome = device_->step(call, rule); });
    } else {
        if (!has_sum_) keep_states();
        run_program(seed, step, running);
        has_sum_ = false;
        if (!running.outcome.moved) restore_states();
    }
    if (running.outcome.moved) {
        optimizer_.advance();
        parameters_.mark_changed();
    }
    return running.outcome;
}

}  // namespace fovea::runtime
