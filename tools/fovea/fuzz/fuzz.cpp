// `fovea fuzz`: programs made at random, compared with the reference at every stage.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "runtime/device/cuda_device.h"
#include "runtime/files/files.h"
#include "runtime/isa.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/files/make_folder.h"
#include "tools/fovea/fuzz/check_recipe.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/run_apart.h"
#include "tools/fovea/fuzz/shrink_recipe.h"
#include "tools/fovea/progress.h"

namespace fovea::tool {

namespace {

using namespace fuzz;

constexpr int kShrinkTries = 400;
constexpr std::size_t kTogether = 16;  // programs that one compilation takes

/// What a run found.
struct Tally {
    std::int64_t right = 0, no_numbers = 0, refused = 0, wrong = 0;
    Counts counts;
    std::map<std::string, int> failures;  // by where
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
};

po::options_description fuzz_options() {
    po::options_description options("Options");
    auto add = options.add_options();
    auto number = [] { return po::value<std::string>()->value_name("N"); };
    add("seed", number(), "of the first program; drawn and printed by default");
    add("count", number(), "programs; 100 by default");
    add("time", po::value<std::string>()->value_name("S"), "stop after so many seconds");
    add("output,o", po::value<std::string>()->value_name("DIR"),
        "where the model files of failures are written; . by default");
    add("first", "stop at the first failure, and leave it as it was drawn");
    add("json", po::value<std::string>()->value_name("F"), "also write the failures as JSON");
    add_target_options(options, "reference");
    return options;
}

/// Programs run in copies of this process, where a driver does not work that this one has started:
/// a copy asks whether there is one.
Target target_of_copies(const Arguments& given) {
    const Target target = named_target(given);
    if (target.name != "cuda") return target;
    const auto why_not = [] {
        try {
            runtime::device::open_cuda();
        } catch (const std::exception& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const Apart asked = run_apart(why_not, {60, 120});
    if (!asked.answered) throw UserError("the NVIDIA driver here does not start: " + asked.end);
    if (!asked.answer.empty()) throw UserError(asked.answer);
    return target;
}

/// Without --target, all stages; on the CPU also the kernels, of each instruction set that this
/// machine has in turns; on PTX those.
Checks checks_on(const Arguments& given) {
    Checks checks;
    if (!given.has("target")) return checks;
    const Target target = target_of_copies(given);
    if (target.name == "cpu") {
        for (std::string_view isa : runtime::isa_names())
            if (!runtime::multiplies_pairs(isa) && !runtime::multiplies_bytes(isa) &&
                runtime::machine_has(isa))
                checks.isas.emplace_back(isa);
        for (std::string_view isa : runtime::portable_isa_names())
            if (runtime::machine_has(isa)) checks.isas.emplace_back(isa);
    } else if (target.name != "reference") {
        checks.devices.push_back(target);
    }
    return checks;
}

/// Those of one batch: one instruction set.
Checks checks_of_batch(const Checks& checks, std::size_t batch) {
    Checks own = checks;
    if (!own.isas.empty()) own.isas = {checks.isas[batch % checks.isas.size()]};
    return own;
}

Outcome check_recipe(const Recipe& recipe, const Checks& checks) {
    return check_recipes({recipe}, checks).front();
}

/// The model file of a failure: what to run, and the program.
std::string file_of(const Recipe& recipe, const Outcome& outcome) {
    std::string sizes;
    for (const auto& [name, size] : recipe.sizes)
        sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", name, size);
    std::string schedule;
    std::istringstream lines(recipe.schedule);
    for (std::string line; std::getline(lines, line);) schedule += "//     " + line + "\n";
    if (!schedule.empty()) schedule = "// With the schedule\n" + schedule;
    if (is_half(recipe.dtype))
        schedule = fmt::format("// With --set dtype={}\n{}", name_of(recipe.dtype), schedule);
    if (recipe.tf32) schedule = "// With --set dtype=tf32\n" + schedule;
    return fmt::format("// {}: {}\n// fovea fuzz --seed {} --count 1\n{}{}", outcome.where,
                       outcome.what, recipe.seed, schedule, build(recipe).source);
}

/// Writes and prints a failure; gives the file.
std::string write_failure(const Recipe& recipe, const Outcome& outcome, std::uint64_t seed,
                          const std::string& folder) {
    const std::string file = fmt::format("{}/{}.cpp", folder, recipe.name);
    runtime::write_file_atomically(file, file_of(recipe, outcome));
    Progress::clear();
    fmt::print("seed {}: {}: {} ({})\n", seed, outcome.where, outcome.what, file);
    std::fflush(stdout);  // a signal may end this process
    return file;
}

void report_failure(const Recipe& drawn, const Outcome& first, const Checks& checks,
                    const std::string& folder, Tally& tally) {
    Progress::show(fmt::format("shrinking the program of seed {}", drawn.seed));
    const Recipe recipe = shrink_recipe(
        drawn,
        [&](const Recipe& shorter) {
            const Outcome outcome = check_recipe(shorter, checks);
            return outcome.kind == Outcome::Kind::wrong && outcome.where == first.where;
        },
        kShrinkTries);
    Outcome outcome = check_recipe(recipe, checks);
    if (outcome.kind != Outcome::Kind::wrong) outcome = first;
    const std::string file = write_failure(recipe, outcome, drawn.seed, folder);
    tally.failures[outcome.where] += 1;
    tally.list.push_back(
        {{"seed", drawn.seed}, {"where", outcome.where}, {"what", outcome.what}, {"file", file}});
}

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void count(const Outcome& outcome, Tally& tally) {
    tally.counts.add(outcome.counts);
    switch (outcome.kind) {
        case Outcome::Kind::right: ++tally.right; break;
        case Outcome::Kind::no_numbers: ++tally.no_numbers; break;
        case Outcome::Kind::refused: ++tally.refused; break;
        case Outcome::Kind::wrong: ++tally.wrong; break;
    }
}

int fuzz_programs(const Arguments& given) {
    const Checks checks = checks_on(given);
    const std::int64_t drawn = std::int64_t(std::random_device{}() % 1'000'000'000);
    const std::int64_t first = given.whole("seed", kCounts, drawn);
    const std::int64_t programs = given.whole("count", {1, 1'000'000'000}, 100);
    const std::int64_t seconds = given.whole("time", {1, 1'000'000'000}, 1'000'000'000);
    const std::string folder = given.text_or("output", ".");
    make_folder(folder);
    Tally tally;
    Stopwatch watch;
    const std::size_t together = checks.isas.empty() ? 1 : kTogether;
    std::int64_t number = 0;
    while (number < programs && watch.seconds() < double(seconds)) {
        Progress::show(
            fmt::format("program {} of {}, {} failures", number + 1, programs, tally.wrong));
        std::vector<Recipe> recipes;
        for (; recipes.size() < together && number < programs; ++number)
            recipes.push_back(draw_recipe(std::uint64_t(first + number)));
        const Checks own = checks_of_batch(checks, std::size_t(number - 1) / together);
        const std::vector<Outcome> outcomes = check_recipes(recipes, own);
        for (std::size_t i = 0; i < recipes.size(); ++i) {
            count(outcomes[i], tally);
            if (outcomes[i].kind != Outcome::Kind::wrong) continue;
            if (given.has("first")) {
                write_failure(recipes[i], outcomes[i], recipes[i].seed, folder);
                return 1;
            }
            report_failure(recipes[i], outcomes[i], own, folder, tally);
        }
    }
    Progress::clear();
    fmt::print(
        "seeds {} to {}: {} right, {} without numbers, {} refused by the model's checks, {} "
        "wrong\n",
        first, first + number - 1, tally.right, tally.no_numbers, tally.refused, tally.wrong);
    fmt::print(
        "{} elements compared, {} without a bound; {} slopes compared, {} that tell nothing; {} "
        "schedules beyond an architecture\n",
        tally.counts.elements, tally.counts.unbounded, tally.counts.slopes, tally.counts.untold,
        tally.counts.unkept);
    for (const auto& [where, times] : tally.failures) fmt::print("{:>6}  {}\n", times, where);
    if (given.has("json"))
        runtime::write_file_atomically(given.text("json"), tally.list.dump(1) + "\n");
    return tally.wrong ? 1 : 0;
}

}  // namespace

Command fuzz_command() {
    return {{"fuzz",
             "compare programs made at random with the reference",
             "",
             "Makes programs at random and compares them with the float64 reference at\n"
             "every stage, and on --target. A failure is shrunk to a few lines and written\n"
             "as a model file. Exit status 1 if there is one.",
             {{"ten programs, the same each time", "fovea fuzz --seed 1 --count 10"},
              {"kernels, too; takes an hour",
               "fovea fuzz --target cpu --count 1000000 --time 3600 -o failures"}}},
            fuzz_options(),
            fuzz_programs};
}

}  // namespace fovea::tool
