#include "tools/bundle/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tools/bundle/measure.h"
#include "tools/bundle/run_case.h"

namespace fovea::bundle {

namespace device = runtime::device;
using runtime::Json;

namespace {

enum Status { kRight = 0, kMiss = 1, kNoDevice = 2, kError = 3, kOutOfMemory = 4 };

std::string g_doing;  // what failed, where something fails

void progress(const std::string& text) {
    g_doing = text;
    std::fprintf(stderr, "at: %s\n", text.c_str());
    std::fflush(stderr);
}

struct Arguments {
    std::string folder;
    int number = 0;
    bool asks_for_device = false, turns = false;
    RunOptions options;
};

int case_number(const std::string& word) {
    const int number = std::atoi(word.c_str());
    if (number > 0) return number;
    throw runtime::UserError("takes the number of a case, from 1, not '" + word + "'");
}

Arguments parse(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 2) throw runtime::UserError("takes the folder of a bundle and a case");
    Arguments given;
    given.folder = words[0];
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto value = [&] {
            if (i + 1 == words.size()) throw runtime::UserError(words[i] + " lacks its value");
            return words[++i];
        };
        if (words[i] == "--device") given.asks_for_device = true;
        else if (words[i] == "--turns") given.turns = true;
        else if (words[i] == "--quick") given.options.quick = true;
        else if (words[i] == "--arch") given.options.architecture = value();
        else if (words[i] == "--replays") given.options.replays = std::atoi(value().c_str());
        else given.number = case_number(words[i]);
    }
    return given;
}

/// A number that JSON has: infinite errors stand as 1e300.
double finite(double value) { return std::min(value, 1e300); }

void print_line(const Json& line) {
    std::printf("%s\n", line.text().c_str());
    std::fflush(stdout);
}

class CaseRun {
  public:
    CaseRun(const Arguments& given, const CaseFile& from) : given_(given), from_(from) {}

    int on(const std::shared_ptr<device::Device>& opened) {
        device_ = opened->name();
        try {
            const Outcome outcome = run_case(from_, opened, given_.options, progress);
            print(outcome);
            return outcome.status == "miss" ? kMiss : kRight;
        } catch (const device::OutOfMemory& error) {
            print({.status = "out of memory", .kernel = g_doing, .text = error.what()});
            return kOutOfMemory;
        } catch (const std::exception& error) {
            print({.status = "error", .kernel = g_doing, .text = error.what()});
            return kError;
        }
    }

    void print(const Outcome& outcome) const {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
        Json line = Json::Object{{"case", given_.number},
                                 {"stage", from_.text("stage")},
                                 {"name", from_.text("name")},
                                 {"status", outcome.status},
                                 {"device", device_},
                                 {"architecture", outcome.architecture},
                                 {"seconds", double(long(taken.count() * 1000)) / 1000}};
        if (outcome.measured.is_object())
            for (const auto& [key, value] : outcome.measured.object()) line.set(key, value);
        else line.set("worst", finite(outcome.worst));
        if (!outcome.kernel.empty()) line.set("at", outcome.kernel);
        if (!outcome.text.empty()) line.set("text", outcome.text);
        print_line(line);
    }

  private:
    const Arguments& given_;
    const CaseFile& from_;
    std::string device_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int runner_main(int argc, char** argv,
                const std::function<std::shared_ptr<device::Device>()>& open) {
    return runtime::report_errors(argv[0], [&]() -> int {
        const Arguments given = parse(argc, argv);
        if (given.asks_for_device) {
            std::printf("%s\n", open()->name().c_str());
            return kRight;
        }
        const CaseFile from(given.folder, given.number);
        if (given.turns) return take_turns(from, open(), given.options), int(kRight);
        CaseRun run(given, from);
        progress("open the device");
        std::shared_ptr<device::Device> opened;
        try {
            opened = open();
        } catch (const device::OutOfMemory& error) {
            run.print({.status = "out of memory", .kernel = g_doing, .text = error.what()});
            return kOutOfMemory;
        }
        const int status = run.on(opened);
        // What a device in an error takes to close is no part of the case.
        std::fflush(nullptr);
        if (status == kError) std::_Exit(status);
        return status;
    });
}

}  // namespace fovea::bundle
