// A bundle from its writing to its summary: on the interpreter, against a fake driver that breaks,
// in pieces, and where there is no GPU.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/files/json.h"
#include "tests/device/has_ptx.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using namespace fovea;
namespace fs = std::filesystem;

namespace {

const std::string kDriver = "LD_LIBRARY_PATH=" FOVEA_BINARY_DIR "/fake_cuda";

/// The bundle of the suite `quick`, written once.
const fs::path& quick_bundle() {
    static const tool::TemporaryFolder folder;
    static const fs::path bundle = [] {
        const auto written = test::run_fovea(
            {"bundle", "-o", (folder.path() / "bundle").string(), "--suite", "quick"});
        INFO(written.output);
        REQUIRE(written.status == 0);
        return folder.path() / "bundle";
    }();
    return bundle;
}

/// What check.sh leaves: its output and exit status, and the lines of its results.
struct Checked {
    int status;
    std::string output;
    std::vector<runtime::Json> lines;

    /// The last line of a case by name.
    const runtime::Json& operator[](const std::string& name) const {
        const auto found = std::find_if(lines.rbegin(), lines.rend(), [&](const auto& line) {
            return line.find("name")->string() == name;
        });
        REQUIRE_MESSAGE(found != lines.rend(), name);
        return *found;
    }
    std::string text(const std::string& name, const std::string& key) const {
        return (*this)[name].find(key)->string();
    }
};

Checked check(const fs::path& results, const std::vector<std::string>& environment,
              const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = {"env"};
    command.insert(command.end(), environment.begin(), environment.end());
    for (const std::string& word : {(quick_bundle() / "check.sh").string(), std::string("--quick"),
                                    std::string("--results"), results.string()})
        command.push_back(word);
    command.insert(command.end(), options.begin(), options.end());
    const auto ran = tool::run_process(command);
    Checked checked{ran.status, ran.output, {}};
    std::istringstream lines(test::read_text(results));
    for (std::string line; std::getline(lines, line);)
        checked.lines.push_back(runtime::parse_json(line));
    return checked;
}

std::vector<std::string> index_lines() {
    std::istringstream text(test::read_text(quick_bundle() / "index.txt"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

std::ptrdiff_t with_status(const Checked& checked, const std::string& status) {
    return std::count_if(checked.lines.begin(), checked.lines.end(),
                         [&](const auto& line) { return line.find("status")->string() == status; });
}

/// Changes text in a file of the bundle until it is destroyed.
class Edited {
  public:
    Edited(fs::path file, const std::string& from, const std::string& to)
        : file_(std::move(file)), before_(test::read_text(file_)) {
        const std::size_t at = before_.find(from);
        REQUIRE(at != std::string::npos);
        write(std::string(before_).replace(at, from.size(), to));
    }
    ~Edited() { write(before_); }

  private:
    void write(const std::string& text) { std::ofstream(file_, std::ios::binary) << text; }

    fs::path file_;
    std::string before_;
};

}  // namespace

TEST_CASE("a hang, a crash, a sticky error and an out-of-memory lose one case of a bundle each") {
    if (!test::has_ptx() || !test::has_turn(0, 2)) return;
    const tool::TemporaryFolder folder;
    const fs::path results = folder.path() / "results.jsonl";
    const std::size_t cases = index_lines().size();
    const std::string hangs = "mma.m16n8k8 tf32", crashes = "ldmatrix.x4.trans",
                      lacks = "wgmma bf16, registers by rows",
                      fails = "bf16 multi_head_attention hidden=128 heads=2, gradient";
    {
        const Edited shorter(quick_bundle() / "index.txt", "60 " + hangs, "3 " + hangs);
        const Checked broken =
            check(results, {kDriver,
                            "FAKE_CUDA_FAULT=hang:probe_mma_tf32,crash:probe_ldmatrix_trans,"
                            "memory:probe_wgmma_registers_across,sticky:W_q_attention_gradient"});
        INFO(broken.output);
        CHECK(broken.status == 1);
        CHECK(broken.lines.size() == cases);
        CHECK(with_status(broken, "ok") == std::ptrdiff_t(cases) - 4);
        CHECK(broken.text(hangs, "status") == "hang");
        CHECK(broken.text(hangs, "at") == "kernel probe_mma_tf32");
        CHECK(broken.text(crashes, "status") == "crash, signal 6");
        CHECK(broken.text(crashes, "at") == "kernel probe_ldmatrix_trans");
        CHECK(broken.text(lacks, "status") == "out of memory");
        CHECK(broken.text(lacks, "text") ==
              "cannot take 32768 bytes on Fake GPU: out of memory (2)");
        CHECK(broken.text(fails, "status") == "error");
        CHECK(broken.text(fails, "at").starts_with("kernel W_q_attention_gradient (step "));
        CHECK(broken.text(fails, "text") ==
              "cannot finish the kernels on Fake GPU: an illegal memory access was encountered "
              "(700)");
        CHECK(broken.output.find("case 8, " + hangs + ": hang\n    at: kernel probe_mma_tf32\n") !=
              std::string::npos);
    }
    // What is done stays done; with --retry what did not pass runs again.
    CHECK(check(results, {kDriver}).lines.size() == cases);
    const Checked again = check(results, {kDriver}, {"--retry"});
    INFO(again.output);
    CHECK(again.status == 0);
    CHECK(again.lines.size() == cases + 4);
    CHECK(again.text(fails, "status") == "ok");
    CHECK(again.text(fails, "architecture") == "sm_90a");
    CHECK(again["bf16 product 32x32x32"].find("median_ms")->number() == 1);
}

TEST_CASE("a bundle goes on where it stopped, and ends in time") {
    if (!test::has_ptx() || !test::has_turn(1, 2)) return;
    const tool::TemporaryFolder folder;
    const fs::path results = folder.path() / "results.jsonl";
    Checked checked = check(results, {kDriver}, {"--seconds", "3"});
    CHECK(checked.status == 0);
    CHECK(checked.lines.size() < index_lines().size());
    CHECK(checked.output.find("\nstopped before case ") != std::string::npos);
    checked = check(results, {kDriver}, {"--from", "20"});
    CHECK(with_status(checked, "ok") == std::ptrdiff_t(checked.lines.size()));
    CHECK(checked["bf16 product 32x32x32"].find("case")->integer() ==
          std::int64_t(index_lines().size()));
    checked = check(results, {kDriver});
    CHECK(checked.lines.size() == index_lines().size());
    CHECK(checked.output.find("\nstopped") == std::string::npos);
}

TEST_CASE("a bundle runs on the interpreter, for every architecture, and finds wrong values") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    const std::string fovea = "FOVEA=" FOVEA_BINARY_DIR "/fovea";
    for (const char* architecture : {"sm_80", "sm_90", "sm_90a"}) {
        const Checked checked =
            check(folder.path() / architecture, {fovea},
                  {"--interpreter", "--stage", "gradients", "--arch", architecture});
        INFO(checked.output);
        CHECK(checked.status == 0);
        CHECK(checked.lines.size() == 1);
        CHECK(checked.lines[0].find("architecture")->string() == architecture);
        CHECK(checked.lines[0].find("worst")->number() > 0);
    }
    const auto lines = index_lines();
    const auto product = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.ends_with("rows by columns") && line.find(" contractions ") != line.npos;
    });
    REQUIRE(product != lines.end());
    const std::string number = product->substr(0, product->find(' '));
    const Edited stricter(quick_bundle() / "cases" / (number + ".json"), "0.015625]", "1e-12]");
    const Checked checked =
        check(folder.path() / "missed", {fovea}, {"--interpreter", "--only", number});
    CHECK(checked.status == 1);
    CHECK(checked.lines[0].find("status")->string() == "miss");
    CHECK(checked.lines[0].find("text")->string().starts_with("c by "));
}

TEST_CASE("without a GPU a bundle says so, and with a full one it does not") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    const Checked none = check(folder.path() / "none", {kDriver, "FAKE_CUDA_GPUS=0"});
    CHECK(none.status == 2);
    CHECK(none.output == "the NVIDIA driver here finds no GPU\n");
    CHECK(check(folder.path() / "old", {kDriver, "FAKE_CUDA_CAPABILITY=70"}, {"--only", "1"})
              .text("f32 add_norm hidden=100", "status") == "skipped");
    CHECK(
        check(folder.path() / "older", {kDriver, "FAKE_CUDA_CAPABILITY=80"}, {"--stage", "layouts"})
            .text("wgmma bf16, rows by rows", "status") == "skipped");
    CHECK(check(folder.path() / "word", {kDriver}, {"--from", "x"}).output ==
          "check.sh: --from takes a whole number, not 'x'\n");
    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) {
        dlclose(driver);
        return;  // there is a driver here
    }
    const Checked missing = check(folder.path() / "missing", {"A=1"});
    CHECK(missing.status == 2);
    CHECK(missing.output.starts_with("there is no NVIDIA driver here: "));
}

TEST_CASE("a runner that does not start is made from the sources in the bundle") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    const fs::path runner = quick_bundle() / "runner", made = quick_bundle() / "runner.made";
    const fs::path good = folder.path() / "good", compiler = folder.path() / "compiler";
    fs::copy_file(runner, good);
    // Takes what stands behind -o as the result, and looks for the sources of the runner.
    std::ofstream(compiler) << "#!/bin/sh\n"
                               "case $* in *tools/bundle/cuda_main.cpp*) ;; *) exit 1 ;; esac\n"
                               "case $* in *runtime/device/cuda_device.cpp*) ;; *) exit 1 ;; esac\n"
                               "while [ \"$1\" != -o ]; do shift; done\n"
                               "cp "
                            << good.string() << " \"$2\"\n";
    fs::permissions(compiler, fs::perms::owner_all);
    const Edited broken(runner, "ELF", "elf");
    const Checked failed = check(folder.path() / "failed", {kDriver, "CXX=/none"});
    CHECK(failed.status == 2);
    CHECK(failed.output.ends_with(
        "check.sh: the runner does not start, and cannot be made with /none\n"));
    const Checked checked =
        check(folder.path() / "made", {kDriver, "CXX=" + compiler.string()}, {"--stage", "rows"});
    INFO(checked.output);
    CHECK(checked.status == 0);
    CHECK(checked.lines.size() == 2);
    CHECK(fs::remove(made));
}
