// Parameters and the optimizer's state stay on the device from step to step; they are copied back
// on access, and the copies are valid until the next step.
#include "training.h"

#include <algorithm>
#include <array>
#include <string>

#include "../error.h"
#include "program_executor.h"

namespace fovea::runtime::device {
namespace {

constexpr auto place(UpdateFactor factor) { return static_cast<std::size_t>(factor); }
constexpr auto place(UpdateOutcome outcome) { return static_cast<std::size_t>(outcome); }
using FactorValues = std::array<float, place(UpdateFactor::count)>;
using Outcome = std::array<float, place(UpdateOutcome::count)>;

const Steps* find_steps(const Code& code, const std::string& name) {
    for (const Steps& steps : code.programs)
        if (steps.program == name) return &steps;
    return nullptr;
}

class DeviceTraining : public TrainingExecutor {
  public:
    DeviceTraining(std::shared_ptr<const Shared> shared, const Program& program, const Steps& steps)
        : program_(std::move(shared), program, steps),
          device_(program_.device()),
          first_(device_),
          second_(device_),
          sum_(device_),
          factors_(device_),
          infinite_(device_),
          outcome_(device_),
          squares_(device_) {
        factors_.reserve(sizeof(FactorValues));
        infinite_.reserve(sizeof(float));
        outcome_.reserve(sizeof(Outcome));
        for (std::size_t i = 0; i < program.outputs.size(); ++i)
            if (program.outputs[i].name == "loss") loss_ = i;
    }

    void run(const Call& call) override {
        program_.forget();
        execute(program_, call);
        program_.forget();
    }

    void attach(Parameters& parameters, Optimizer& optimizer) override {
        parameters_ = &parameters;
        optimizer_ = &optimizer;
        update_ = "update_" + name_of(optimizer.settings().kind);
        parameters.set_fetch([this] { fetch_parameters(); });
        optimizer.set_fetch([this] { fetch_state(); });
    }

    void detach() override {
        parameters_->set_fetch(nullptr);
        optimizer_->set_fetch(nullptr);
        fetch_parameters();
        fetch_state();
    }

    StepOutcome step(const Call& call, const StepRule& rule) override {
        begin(call);
        const bool sums = has_sum_;
        if (sums) {  // what is added is scaled, and then the sum moves the parameters
            write_factors({.gradient_scale = rule.gradient_scale});
            run_steps(call);
            update(call, "add_to_sum", false);
            write_factors({.learning_rate = rule.learning_rate, .clip = rule.clip});
            update(call, update_, true);
        } else {
            write_factors(rule);
            if (program_.has_computed() || call.observe_time) {
                run_steps(call);
                update(call, update_, false);
            } else {
                program_.repeat([&] {
                    program_.prepare();
                    program_.run_steps();
                    update(call, update_, false);
                });
            }
        }
        has_sum_ = false;
        program_.copy_outputs(call, false);
        Outcome outcome = {};
        device_.copy_out_at_wait(outcome.data(), outcome_.address(), sizeof outcome);
        device_.synchronize();
        has_parameters_ = has_state_ = true;
        return {outcome[place(UpdateOutcome::norm)], outcome[place(UpdateOutcome::moves)] != 0};
    }

    void accumulate(const Call& call, double gradient_scale) override {
        begin(call);
        write_factors({.gradient_scale = gradient_scale});
        run_steps(call);
        sum_.reserve(program_.placement().trained_bytes());
        update(call, has_sum_ ? "add_to_sum" : "set_sum", false);
        has_sum_ = true;
        program_.copy_outputs(call, false);
        device_.synchronize();
    }

  private:
    /// Before a step: everything that the device lacks.
    void begin(const Call& call) {
        const bool places = program_.bind(call).places;
        if (!has_parameters_) program_.copy_parameters();
        has_parameters_ = true;
        const std::size_t flat = program_.placement().trained_bytes();
        for (Allocation* state : {&first_, &second_})
            if (state->reserve_zeros(flat)) has_state_ = false;
        squares_.reserve(flat / Placement::kChunk);
        if (!has_state_) copy_state(true);
        has_state_ = true;
        program_.copy_inputs(call, places);
    }

    /// Observed where the observer looks at the clock alone. UserError, before anything moves, when
    /// the program computed ids out of range.
    void run_steps(const Call& call) {
        program_.prepare();
        if (call.observe_time) program_.run_observed(call);
        else program_.run_steps();
        if (program_.has_computed()) program_.check_computed(call);
    }

    void copy_state(bool to_device) {
        const Address places[] = {first_.address(), second_.address()};
        const std::vector<OptimizerState> states = optimizer_->state_here();
        const std::size_t bytes = optimizer_->size() * sizeof(float);
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (to_device && is_fresh(states[i])) device_.clear(places[i], bytes);
            else if (to_device) device_.copy_in(places[i], states[i].flat.data(), bytes);
            else device_.copy_out(states[i].flat.data(), places[i], bytes);
        }
        device_.synchronize();
    }

    /// Whether a state is that of before the first update: zeros.
    bool is_fresh(const OptimizerState& state) const {
        return optimizer_->step() == 0 && std::all_of(state.flat.begin(), state.flat.end(),
                                                      [](float value) { return value == 0; });
    }

    void fetch_parameters() {
        if (!has_parameters_) return;
        has_parameters_ = false;
        const Region& flat = program_.placement().parameters();
        device_.copy_out(parameters_->address(), flat.address, flat.bytes);
        device_.synchronize();
    }

    void fetch_state() {
        if (!has_state_) return;
        has_state_ = false;
        copy_state(false);
    }

    void write_factors(const StepRule& rule) {
        const FactorValues factors = update_factors(*optimizer_, rule);
        device_.copy_in(factors_.address(), factors.data(), sizeof factors);
    }

    /// The kernels of an update program; the gradient is the sum of several with `of_sum`.
    void update(const Call& call, const std::string& name, bool of_sum) {
        const Placement& placement = program_.placement();
        const Region& loss = placement[placement.first_output() + loss_];
        const std::size_t flat = placement.trained_bytes();
        const Address gradients = of_sum ? sum_.address() : placement.gradients();
        const Region tensors[] = {{placement.parameters().address, flat},
                                  {gradients, flat},
                                  {first_.address(), flat},
                                  {second_.address(), flat},
                                  {sum_.address(), flat},
                                  loss,
                                  {factors_.address(), sizeof(FactorValues)},
                                  {infinite_.address(), sizeof(float)},
                                  {outcome_.address(), sizeof(Outcome)},
                                  {squares_.address(), flat / Placement::kChunk}};
        const std::int64_t dims[] = {
            static_cast<std::int64_t>(flat / sizeof(float) / Placement::kChunk),
            static_cast<std::int64_t>(loss.bytes / sizeof(float))};
        std::size_t number = program_.step_count() + first_update_kernel(name);
        for (const Step& step : find_steps(*program_.shared().code, name)->steps) {
            std::vector<Region> arguments;
            for (int tensor : step.arguments)
                arguments.push_back(tensors[static_cast<std::size_t>(tensor)]);
            program_.run_kernel(step, std::move(arguments), dims);
            if (!call.observe_time) continue;
            device_.synchronize();
            call.observe(call.observe_state, static_cast<int>(number++));
        }
    }
    /// Of a program, among the kernels of all.
    std::size_t first_update_kernel(const std::string& name) const {
        std::size_t first = 0;
        for (const char* program : kUpdatePrograms) {
            if (name == program) break;
            first += find_steps(*program_.shared().code, program)->steps.size();
        }
        return first;
    }

    ProgramRun program_;
    Device& device_;
    Parameters* parameters_ = nullptr;
    Optimizer* optimizer_ = nullptr;
    std::string update_;  // the program that moves the parameters
    std::size_t loss_ = 0;  // among the outputs
    Allocation first_, second_, sum_, factors_, infinite_, outcome_, squares_;
    bool has_parameters_ = false, has_state_ = false;  // those of the device are the newest
    bool has_sum_ = false;
};

}  // namespace

FactorValues update_factors(const Optimizer& optimizer, const StepRule& rule) {
    const OptimizerFactors from = optimizer.factors(rule.learning_rate, rule.gradient_scale);
    FactorValues to = {};
    const auto set = [&](UpdateFactor factor, float value) { to[place(factor)] = value; };
    set(UpdateFactor::gradient_scale, from.gradient_scale);
    set(UpdateFactor::clip, static_cast<float>(rule.clip));
    set(UpdateFactor::decay, from.decay);
    set(UpdateFactor::keep, from.keep);
    set(UpdateFactor::beta1, from.beta1);
    set(UpdateFactor::beta2, from.beta2);
    set(UpdateFactor::one_minus_beta1, from.one_minus_beta1);
    set(UpdateFactor::one_minus_beta2, from.one_minus_beta2);
    set(UpdateFactor::step_size, from.step_size);
    set(UpdateFactor::inverse_root, from.inverse_root);
    set(UpdateFactor::epsilon, from.epsilon);
    set(UpdateFactor::momentum, from.momentum);
    return to;
}

std::vector<std::string> update_kernels(const Code& code, const Module& module) {
    std::vector<std::string> names;
    for (const char* program : kUpdatePrograms)
        for (const Step& step : find_steps(code, program)->steps)
            names.push_back(module.kernels[static_cast<std::size_t>(step.kernel)].name);
    return names;
}

const char* why_not_trainable(const Code& code, const Program& program, const Model& model) {
    for (const char* name : kUpdatePrograms)
        if (!find_steps(code, name)) return "the code has no kernels of an optimizer";
    const auto has_output = [&](const std::string& name) {
        return std::any_of(program.outputs.begin(), program.outputs.end(),
                           [&](const TensorSpec& output) { return output.name == name; });
    };
    if (!has_output("loss")) return "the program has no loss";
    for (const TensorSpec& parameter : model.parameters)
        if (!parameter.frozen && !has_output(parameter.name + ".grad"))
            return "a parameter has no gradient";
    return nullptr;
}

std::unique_ptr<Executor> make_training_executor(std::shared_ptr<const Shared> shared,
                                                 const Program& program, const Steps& steps) {
    return std::make_unique<DeviceTraining>(std::move(shared), program, steps);
}

}  // namespace fovea::runtime::device
