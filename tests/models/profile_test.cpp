// The profile: what is in its trace and its table, of programs whose threads share each kernel, of
// those that run in shards, and of several sessions at once.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "runtime/error.h"
#include "runtime/profile/program_profile.h"
#include "runtime/runner/bench_model.h"
#include "runtime/session.h"
#include "runtime/threads.h"
#include "tests/runtime/temporary_folder.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::profile_test {

using nlohmann::json;
using runtime::Profile;
using runtime::ProgramProfile;

namespace {

const runtime::DimValues kDims = {{"batch", 9}, {"len", 2}};

const runtime::Model& model() {
    static const runtime::Model& loaded = [&]() -> const runtime::Model& {
        tool::LoadedModel layer =
            tool::load_model("position_wise_ffn", {{"input", "3"}, {"ffn", "5"}, {"output", "2"}});
        tool::read_schedule("cpu.shards.most_floats = 200\n", "test", layer.targets);
        const CompiledModel compiled =
            tool::compile(layer, {tool::runner_program(layer, false, false, true),
                                  tool::runner_program(layer, true, false, true)});
        return tool::load_generated(compiled.plan, tool::isa_of_this_machine(),
                                    tool::Keep::in_cache, tool::Optimized::little);
    }();
    return loaded;
}

/// Runs a program a few times, as an instance with a profile does.
void run_profiled(Profile& profile, const std::string& program, int runs) {
    runtime::Parameters parameters(model(), kDims);
    parameters.initialize(1);
    runtime::Instance instance(model(), program, parameters);
    instance.bind(kDims);
    runtime::fill_random(instance, 1);
    ProgramProfile watched(profile, model(), instance.program());
    for (int i = 0; i < runs; ++i)
        instance.run_call(
            {}, [&](const runtime::Call& call) { watched.run(call, instance.program().run); });
}

std::vector<json> events_of(const std::string& path) {
    std::ifstream file(path);
    return json::parse(file).get<std::vector<json>>();
}

double begin_of(const json& event) { return event.at("ts").get<double>(); }
double end_of(const json& event) { return begin_of(event) + event.at("dur").get<double>(); }

std::vector<json> kernels_of(const std::vector<json>& events, const std::string& program) {
    std::vector<json> found;
    for (const json& event : events)
        if (event["cat"] == "kernel" && event["args"]["program"] == "position_wise_ffn." + program)
            found.push_back(event);
    return found;
}

/// On each thread, what overlaps lies inside: that is what a viewer draws as nested.
void check_nesting(const std::vector<json>& events) {
    constexpr double kRounding = 0.002;
    std::map<int, std::vector<json>> tracks;
    for (const json& event : events) tracks[event.at("tid").get<int>()].push_back(event);
    for (auto& [thread, spans] : tracks) {
        std::stable_sort(spans.begin(), spans.end(), [](const json& one, const json& other) {
            if (begin_of(one) != begin_of(other)) return begin_of(one) < begin_of(other);
            return end_of(one) > end_of(other);
        });
        std::vector<double> open;
        for (const json& span : spans) {
            CHECK(span["ph"] == "X");
            CHECK(span["dur"].get<double>() >= 0);
            while (!open.empty() && open.back() <= begin_of(span) + kRounding) open.pop_back();
            if (!open.empty()) CHECK(end_of(span) <= open.back() + kRounding);
            open.push_back(end_of(span));
        }
    }
}

struct TableRow {
    std::string program, kernel;
    long calls = 0;
    double total = 0, share = 0, mean = 0;
};

std::vector<TableRow> rows_of(const std::string& table) {
    std::vector<TableRow> rows;
    std::istringstream lines(table);
    std::string line;
    for (std::getline(lines, line);
         std::getline(lines, line) && line.find(" runs in ") == line.npos;) {
        std::istringstream stream(line);
        const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
        REQUIRE(words.size() >= 6);
        const std::size_t numbers = words.size() - 4;
        TableRow row{words[0], words[1]};
        for (std::size_t i = 2; i < numbers; ++i) row.kernel += " " + words[i];
        row.calls = std::stol(words[numbers]);
        row.total = std::stod(words[numbers + 1]);
        row.share = std::stod(words[numbers + 2]);
        row.mean = std::stod(words[numbers + 3]);
        rows.push_back(row);
    }
    return rows;
}

void check_table(const std::string& table, const std::vector<json>& events) {
    std::map<std::pair<std::string, std::string>, std::pair<long, double>> sums;
    for (const json& event : events) {
        auto& [calls, total] = sums[{event["args"]["program"], event["name"]}];
        ++calls;
        total += event["dur"].get<double>() / 1000;
    }
    double share = 0, last = INFINITY;
    for (const TableRow& row : rows_of(table)) {
        CAPTURE(row.kernel);
        const auto& [calls, total] = sums.at({row.program, row.kernel});
        CHECK(row.calls == calls);
        CHECK(std::abs(row.total - total) <= 0.0006 + 1e-6 * double(calls));
        CHECK(std::abs(row.mean - 1000 * total / double(calls)) <= 0.0051 + 0.001);
        CHECK(row.total <= last);
        last = row.total;
        share += row.share;
    }
    CHECK(std::abs(share - 100) < 0.06 * double(rows_of(table).size()));
}

/// Runs on `threads` threads each.
struct Threads {
    explicit Threads(int threads) { runtime::set_threads(threads); }
    ~Threads() { runtime::set_threads(before); }
    const int before = runtime::thread_count();
};

}  // namespace

TEST_CASE("each kernel has a span for each run, and the table their sums") {
    const fovea::test::TemporaryFolder folder;
    for (const int count : {1, 3}) {
        CAPTURE(count);
        const Threads threads(count);
        Profile profile(folder.file("trace.json"));
        run_profiled(profile, "forward", 5);
        const std::string table = profile.finish();
        CAPTURE(table);
        const std::vector<json> events = events_of(folder.file("trace.json"));
        const auto& kernels = model().programs[0].kernels;
        const std::vector<json> spans = kernels_of(events, "forward");
        REQUIRE(spans.size() == 5 * kernels.size());
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const std::size_t step = i % kernels.size();
            CHECK(spans[i]["name"] == kernels[step]);
            CHECK(spans[i]["args"]["step"] == step);
            CHECK(spans[i]["args"]["run"] == i / kernels.size() + 1);
            CHECK(spans[i]["args"]["threads"] == count);
            if (i > 0) CHECK(begin_of(spans[i]) >= end_of(spans[i - 1]) - 0.002);
        }
        CHECK(std::count_if(events.begin(), events.end(),
                            [](const json& event) { return event["name"] == "forward"; }) == 5);
        check_nesting(events);
        check_table(table, events);
        CHECK(table.find("5 runs in ") != table.npos);
    }
}

TEST_CASE("in shards each thread has spans of its own") {
    const fovea::test::TemporaryFolder folder;
    for (const int count : {1, 2, 3}) {
        CAPTURE(count);
        const Threads threads(count);
        Profile profile(folder.file("trace.json"));
        run_profiled(profile, "gradient", 2);
        const std::string table = profile.finish();
        const std::vector<json> events = events_of(folder.file("trace.json"));
        std::map<std::string, int> calls;
        std::map<int, int> on_threads;
        for (const json& span : kernels_of(events, "gradient")) {
            ++calls[span["name"]];
            ++on_threads[span["tid"]];
        }
        for (const std::string& kernel : model().programs[1].kernels)
            CHECK(calls[kernel] % (2 * 8) == 0);
        CHECK(int(on_threads.size()) == count);
        check_nesting(events);
        check_table(table, events);
    }
}

TEST_CASE("sessions on several threads share a file and a table") {
    const fovea::test::TemporaryFolder folder;
    Profile profile(folder.file("trace.json"));
    model();
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            const runtime::ThreadsOfRegions threads(1, nullptr);
            run_profiled(profile, "forward", 50);
        });
    for (std::thread& caller : callers) caller.join();
    const std::string table = profile.finish();
    const std::vector<json> events = events_of(folder.file("trace.json"));
    const std::vector<json> spans = kernels_of(events, "forward");
    CHECK(spans.size() == 4 * 50 * model().programs[0].kernels.size());
    std::map<int, int> on_threads;
    for (const json& span : spans) ++on_threads[span["tid"]];
    CHECK(on_threads.size() == 4);
    check_nesting(events);
    check_table(table, events);
    CHECK(table.find("200 runs in ") != table.npos);
}

TEST_CASE("a long trace is cut, its table is not") {
    const fovea::test::TemporaryFolder folder;
    const Threads threads(1);
    Profile profile(folder.file("trace.json"), 7);
    run_profiled(profile, "forward", 5);
    const std::string table = profile.finish();
    CHECK(events_of(folder.file("trace.json")).size() == 7);
    CHECK(table.find("it has the first 7 spans\n") != table.npos);
    for (const TableRow& row : rows_of(table)) CHECK(row.calls == 5);
}

TEST_CASE("a trace that another writer holds is left alone") {
    const fovea::test::TemporaryFolder folder;
    std::ofstream(folder.file("trace.json")) << std::string(1000, ' ') << "of before";
    Profile first(folder.file("trace.json")), second(folder.file("trace.json"));
    run_profiled(first, "forward", 2);
    run_profiled(second, "forward", 3);
    CHECK(first.finish().find("opens " + folder.file("trace.json")) != std::string::npos);
    CHECK(second.finish().find("opens " + folder.file("trace-2.json")) != std::string::npos);
    const std::size_t kernels = model().programs[0].kernels.size();
    const auto spans_in = [&](const std::string& name) {
        return kernels_of(events_of(folder.file(name)), "forward").size();
    };
    CHECK(spans_in("trace.json") == 2 * kernels);
    CHECK(spans_in("trace-2.json") == 3 * kernels);
    Profile third(folder.file("trace.json"));
    CHECK(third.finish().find("opens " + folder.file("trace.json")) != std::string::npos);
    CHECK(events_of(folder.file("trace.json")).empty());
}

TEST_CASE("a process that was forked writes nothing") {
    const fovea::test::TemporaryFolder folder;
    Profile profile(folder.file("trace.json"));
    const Threads threads(1);
    run_profiled(profile, "forward", 1);
    const pid_t child = ::fork();
    if (child == 0) {
        run_profiled(profile, "forward", 3000);  // more than what is kept in memory
        ::_exit(profile.finish().empty() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    profile.finish();
    CHECK(kernels_of(events_of(folder.file("trace.json")), "forward").size() ==
          model().programs[0].kernels.size());
}

TEST_CASE("a file that cannot be written is said in one sentence") {
    CHECK_THROWS_WITH_AS(Profile("no/such/trace.json"),
                         "FOVEA_PROFILE: cannot write 'no/such/trace.json': No such file or "
                         "directory",
                         runtime::UserError);
    Profile full("/dev/full");
    const Threads threads(1);
    run_profiled(full, "forward", 1);
    const std::string said = full.finish();
    CHECK(said.find("FOVEA_PROFILE: cannot write '/dev/full': No space left on device\n") !=
          std::string::npos);
    CHECK(rows_of(said).size() == 2 + model().programs[0].kernels.size());
}

TEST_CASE("counters of a thread are read together, from any thread") {
    // What the system counts by itself: there are machines without other counters.
    constexpr runtime::CountedEvents kOfTheSystem = {
        {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "nanoseconds"},
         {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page_faults"},
         {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "switches"}}};
    const runtime::ThreadCounters counters(kOfTheSystem);
    if (!counters.why_not().empty()) {
        MESSAGE("not run: ", counters.why_not());
        CHECK(counters.read() == runtime::Counts{});
        return;
    }
    const runtime::Counts before = counters.read();
    std::vector<char> memory(std::size_t{64} << 20);
    for (std::size_t i = 0; i < memory.size(); i += 4096) memory[i] = 1;
    runtime::Counts after = {};
    std::thread([&] { after = counters.read(); }).join();
    CHECK(after[0] > before[0]);
    CHECK(after[1] >= before[1]);

    const runtime::ThreadCounters none({{{9999, 0, "none"}, {}, {}}});
    CHECK_FALSE(none.why_not().empty());
    CHECK(none.read() == runtime::Counts{});
}

}  // namespace fovea::profile_test
