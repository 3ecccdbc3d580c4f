// Runs one generated model on request, so that its runs can alternate with those of a peer: each
// line of standard input is a command, each line of standard output its answer, a JSON object.
//
//     initialize [NAME=VALUE …]  draws the parameters, of the sizes of these dims
//     save FILE               writes them
//     open PROGRAM FILE       binds to the file's tensors and copies them; nothing runs yet
//     output FILE             runs once, and writes the outputs
//     go N                    the milliseconds of N runs
//     train N                 the same for steps: run, clip to norm 1, Adam at rate 0.0001
//     decode STEPS N          the same for greedy decoding of sentences, per token
//     greedy STEPS            the tokens of one such sentence
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "fovea/error.h"
#include "fovea/files/json.h"
#include "fovea/instance.h"
#include "fovea/load_parameters.h"
#include "fovea/runner/bind_dims.h"
#include "fovea/runner/run_model.h"
#include "fovea/safetensors.h"
#include "fovea/text/vocabulary.h"
#include "fovea/threads.h"
#include "fovea/training_step.h"
#include "fovea/translator/decoding.h"
#include SERVED_HEADER

namespace {

using namespace fovea::runtime;

template <class Run>
Json milliseconds_of(std::int64_t runs, const Run& run) {
    using Clock = std::chrono::steady_clock;
    Json::Array times;
    for (std::int64_t i = 0; i < runs; ++i) {
        const Clock::time_point start = Clock::now();
        run();
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    return Json::Object{{"ms", std::move(times)}};
}

class Server {
  public:
    explicit Server(const Model& model) : model_(model) {}

    Json answer(const std::string& line);

  private:
    Json initialize(std::istream& sizes);
    Json save(const std::string& path);
    Json open(const std::string& name, const std::string& path);
    Json write_outputs(const std::string& path);
    Json train(std::int64_t steps);
    Json decode(std::int64_t steps, std::int64_t sentences);
    std::vector<std::int32_t> sentence(std::span<const std::int32_t> source);

    Instance& instance() {
        if (step_) return step_->instance();
        if (!instance_) throw UserError("open a program first");
        return *instance_;
    }
    Parameters& parameters() {
        if (!parameters_) throw UserError("initialize comes first");
        return *parameters_;
    }

    const Model& model_;
    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Instance> instance_;
    std::unique_ptr<Optimizer> optimizer_;
    std::unique_ptr<TrainingStep> step_;
    std::unique_ptr<Decoding> decoding_;
};

Json Server::initialize(std::istream& sizes) {
    DimValues dims;
    for (std::string size; sizes >> size;) {
        const std::size_t name = size.find('=');
        dims[size.substr(0, name)] = std::stoll(size.substr(name + 1));
    }
    parameters_ = std::make_unique<Parameters>(model_, dims);
    parameters_->initialize(1);
    return Json::Object{{"parameters", std::int64_t(parameters_->flat_size())}};
}

Json Server::save(const std::string& path) {
    write_safetensors(path, parameter_tensors(parameters()));
    return Json::Object{};
}

Json Server::open(const std::string& name, const std::string& path) {
    if (!parameters_) parameters_ = std::make_unique<Parameters>(model_, DimValues{});
    const SafetensorsFile inputs = read_safetensors(path);
    step_.reset();
    instance_.reset();
    if (name == "training_step") {
        optimizer_ = std::make_unique<Optimizer>(parameters().trained_size());
        step_ = std::make_unique<TrainingStep>(model_, parameters(), *optimizer_);
    } else {
        instance_ = std::make_unique<Instance>(model_, name, parameters());
    }
    const Program& program = instance().program();
    DimValues dims = bind_dims(model_, program, inputs, nullptr);
    dims.insert(parameters().dims().begin(), parameters().dims().end());
    instance().bind(dims);
    fill_inputs(instance(), inputs, std::vector<bool>(program.outputs.size(), true));
    Json::Array kernels(program.kernels.begin(), program.kernels.end());
    return Json::Object{{"isa", model_.isa},
                        {"threads", thread_count()},
                        {"kernels", std::move(kernels)},
                        {"workspace_bytes", std::int64_t(instance().workspace_bytes())},
                        {"prepared_bytes", std::int64_t(instance().prepared_bytes())}};
}

Json Server::write_outputs(const std::string& path) {
    instance().run(1, 0);
    const std::vector<bool> all(instance().program().outputs.size(), true);
    write_safetensors(path, output_tensors(instance(), all));
    return Json::Object{};
}

Json Server::train(std::int64_t steps) {
    if (!step_) throw UserError("open training_step first");
    return milliseconds_of(
        steps, [&] { step_->run(1, optimizer_->step(), {.learning_rate = 0.0001, .clip = 1}); });
}

/// As many tokens as a source has words: the likeliest after each, `<eos>` like any other.
std::vector<std::int32_t> Server::sentence(std::span<const std::int32_t> source) {
    const auto steps = static_cast<std::int64_t>(source.size());
    const std::int32_t length = static_cast<std::int32_t>(steps);
    std::vector<std::int32_t> tokens;
    std::span<const float> logits = decoding_->begin(source, {&length, 1}, {&kBegin, 1}, steps);
    while (true) {
        tokens.push_back(
            std::int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin()));
        const auto position = static_cast<std::int64_t>(tokens.size());
        if (position >= steps) return tokens;
        logits = decoding_->step({&tokens.back(), 1}, position);
    }
}

/// The encoder's run is part of a sentence. Without sentences to time: the tokens.
Json Server::decode(std::int64_t steps, std::int64_t sentences) {
    if (!decoding_)
        decoding_ = std::make_unique<Decoding>(model_, parameters(), parameters().dims());
    std::vector<std::int32_t> source(std::size_t(steps), 0);
    std::iota(source.begin(), source.end(), kEnd + 1);
    Json::Array times, tokens;
    auto translate = [&] { return sentence(source); };
    for (std::int64_t i = 0; i < sentences; ++i) {
        const Json timed = milliseconds_of(1, translate);
        times.push_back(timed.find("ms")->array().front().number() / double(steps));
    }
    if (sentences > 0) return Json::Object{{"ms", std::move(times)}};
    for (std::int32_t token : translate()) tokens.push_back(token);
    return Json::Object{{"tokens", std::move(tokens)}};
}

Json Server::answer(const std::string& line) {
    std::istringstream words(line);
    std::string command, first, second;
    words >> command;
    if (command == "initialize") return initialize(words);
    words >> first >> second;
    auto number = [](const std::string& text) -> std::int64_t { return std::stoll(text); };
    if (command == "save") return save(first);
    if (command == "open") return open(first, second);
    if (command == "output") return write_outputs(first);
    if (command == "go") return milliseconds_of(number(first), [&] { instance().run(1, 0); });
    if (command == "train") return train(number(first));
    if (command == "decode") return decode(number(first), number(second));
    if (command == "greedy") return decode(number(first), 0);
    throw UserError("unknown command '" + command + "'");
}

}  // namespace

int main(int argc, char** argv) {
    set_threads(argc > 1 ? std::stoi(argv[1]) : thread_count());
    Server server(SERVED_MODEL());
    for (std::string line; std::getline(std::cin, line);) {
        Json reply;
        try {
            reply = server.answer(line);
        } catch (const std::exception& error) {
            reply = Json::Object{{"error", error.what()}};
        }
        std::cout << reply.text() << std::endl;
    }
    return 0;
}
