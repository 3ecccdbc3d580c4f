#include "tools/bundle/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include "runtime/error.h"
#include "runtime/instance.h"
#include "runtime/runner/bench_model.h"
#include "runtime/training_step.h"
#include "tools/bundle/launch_clock.h"
#include "tools/bundle/open_model.h"

namespace fovea::bundle {

using runtime::Json;
using runtime::device::Device;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 3, kMostRuns = 100;
constexpr double kMilliseconds = 500;  // of all runs together
constexpr double kSeconds = 3;  // with the copies between host and device

/// The work of a case, ready to run again and again.
class Work {
  public:
    Work(const CaseFile& from, std::shared_ptr<Device> device, const RunOptions& options)
        : clock_(std::make_shared<LaunchClock>(device)),
          is_step_(from.text("program") == "training_step"),
          // Launches that are measured one by one are not recorded as a graph.
          open_(open_model(from, is_step_ ? device : clock_, options.architecture)),
          device_(std::move(device)) {
        if (!open_.model) return;
        const runtime::DimValues dims = read_dims(from[options.quick ? "small_dims" : "dims"]);
        parameters_ = std::make_unique<runtime::Parameters>(*open_.model, dims);
        parameters_->initialize(1);
        if (is_step_) {
            optimizer_ = std::make_unique<runtime::Optimizer>(parameters_->trained_size());
            step_ =
                std::make_unique<runtime::TrainingStep>(*open_.model, *parameters_, *optimizer_);
        } else {
            instance_ = std::make_unique<runtime::Instance>(*open_.model, from.text("program"),
                                                            *parameters_);
        }
        runtime::Instance& own = is_step_ ? step_->instance() : *instance_;
        own.bind(dims);
        runtime::fill_random(own, 1);
        std::set<std::string> counted;
        for (const Json& kernel : from["counted"].array()) counted.insert(kernel.string());
        clock_->count(std::move(counted));
    }

    bool is_there() const { return open_.model != nullptr; }
    const std::string& architecture() const { return open_.architecture; }
    /// Runs once; milliseconds.
    double run() {
        if (is_step_)
            return device_->milliseconds_of(
                [&] { step_->run(1, optimizer_->step(), {.learning_rate = 0.0001, .clip = 1}); });
        clock_->start();
        instance_->run();
        clock_->leave_out_copies(true);  // what the first run brought stays there
        return clock_->milliseconds();
    }

  private:
    std::shared_ptr<LaunchClock> clock_;
    bool is_step_;
    OpenModel open_;
    std::shared_ptr<Device> device_;
    std::unique_ptr<runtime::Parameters> parameters_;
    std::unique_ptr<runtime::Optimizer> optimizer_;
    std::unique_ptr<runtime::TrainingStep> step_;
    std::unique_ptr<runtime::Instance> instance_;
};

}  // namespace

Outcome measure(const CaseFile& from, const std::shared_ptr<Device>& device,
                const RunOptions& options, Progress progress) {
    progress("load the kernels");
    Work work(from, device, options);
    if (!work.is_there())
        return {.status = "skipped", .text = device->name() + " runs none of its architectures"};
    progress("warm up");
    for (int i = 0; i < kWarmUps; ++i) work.run();
    progress("measure");
    std::vector<double> times;
    double sum = 0;
    const auto end = Clock::now() + std::chrono::duration<double>(kSeconds);
    const auto has_time = [&] { return sum < kMilliseconds && Clock::now() < end; };
    while (int(times.size()) < kMostRuns && (times.size() < 5 || has_time())) {
        times.push_back(work.run());
        sum += times.back();
    }
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double part) {
        return times[std::size_t(std::lround(part * double(times.size() - 1)))];
    };
    Outcome outcome{.architecture = work.architecture()};
    outcome.measured = Json::Object{{"median_ms", quantile(0.5)},
                                    {"p10_ms", quantile(0.1)},
                                    {"p90_ms", quantile(0.9)},
                                    {"runs", int(times.size())}};
    if (!options.quick)
        outcome.measured.set("tflops", from["flops"].number() / quantile(0.5) / 1e9);
    return outcome;
}

void take_turns(const CaseFile& from, std::shared_ptr<Device> device, const RunOptions& options) {
    Work work(from, std::move(device), options);
    if (!work.is_there()) return;
    Json about = from["work"];
    about.set("dims", from[options.quick ? "small_dims" : "dims"]);
    about.set("flops", from["flops"].number());
    std::cout << about.text() << '\n' << std::flush;
    for (std::string line; std::getline(std::cin, line) && !line.empty();) {
        Json::Array times;
        for (int i = 0, runs = std::stoi(line); i < runs; ++i) times.push_back(work.run());
        std::cout << Json(std::move(times)).text() << '\n' << std::flush;
    }
}

}  // namespace fovea::bundle
