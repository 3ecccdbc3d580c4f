// Files of a training: kills, disks that are full for a while, links, and two trainings at once.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "../../../runtime/files/json.h"
#include "../../../runtime/safetensors.h"
#include "../../../runtime/trainer/output_paths.h"
#include "../../../runtime/trainer/training_report.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using fovea::runtime::Json;
using fovea::runtime::kept_length;
using fovea::runtime::OutputLock;
using fovea::runtime::parse_json;

namespace {

/// Trains 3 steps an epoch, or 2 with pairs held out, in this process alone.
struct FilesFixture {
    CurrentFolder folder;
    fovea::runtime::Model model = make_model();
    FilesFixture() {
        write_text("pairs.tsv",
                   "Go.\tVa !\nHi.\tSalut !\nRun!\tCours !\nWow!\tÇa alors !\nI see.\tJe vois .\n"
                   "I try.\tJ'essaye .\nI won.\tJe gagne .\n");
    }
    ~FilesFixture() { before_step = nullptr; }
    Result train(const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"train",       "--data",     "pairs.tsv", "--weights",
                                              "w",           "--min-freq", "1",         "--batch=3",
                                              "--threads=1", "--lr=0.05",  "--log",     "log"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, std::move(arguments));
    }
    /// The same in a process of its own; its status as waitpid gives it.
    int train_apart(const std::vector<std::string>& more) {
        const pid_t child = fork();
        if (child == 0) _exit(train(more).status);
        int status = 0;
        waitpid(child, &status, 0);
        return status;
    }
};

/// Of each line of the log: epoch, loss, and the loss on held out pairs (0: none).
std::vector<std::vector<double>> numbers_of_log() {
    std::vector<std::vector<double>> lines;
    std::ifstream file("log");
    for (std::string text; std::getline(file, text);) {
        const Json line = parse_json(text);
        const Json* validation = line.find("validation_loss");
        lines.push_back({line.find("epoch")->number(), line.find("loss")->number(),
                         validation ? validation->number() : 0});
    }
    return lines;
}

/// Long enough for the next epoch to write a checkpoint.
void wait_for_checkpoint() { std::this_thread::sleep_for(std::chrono::milliseconds(1050)); }

}  // namespace

TEST_CASE("train: the held out pairs measure the weights of their epoch") {
    FilesFixture f;
    const std::vector<std::string> options = {"--validation=0.3", "--epochs=6"};
    REQUIRE(f.train(options).status == 0);
    const auto whole = numbers_of_log();
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    CHECK(whole[5][2] != whole[0][2]);
    // An instance that starts anew prepares from the weights as they are.
    REQUIRE(f.train({"--validation=0.3", "--epochs=3"}).status == 0);
    REQUIRE(f.train({"--validation=0.3", "--epochs=6", "--resume"}).status == 0);
    CHECK(numbers_of_log() == whole);
    CHECK(read_text("w") == weights);
    CHECK(read_text("w.checkpoint") == checkpoint);
}

TEST_CASE("train: after a kill and --resume the log has each epoch once") {
    for (const std::string validation : {"0", "0.3"}) {
        CAPTURE(validation);
        FilesFixture f;
        const std::vector<std::string> options = {"--epochs=6", "--validation=" + validation};
        const auto resumed = [&] {
            std::vector<std::string> all = options;
            all.push_back("--resume");
            return all;
        };
        REQUIRE(f.train(options).status == 0);
        const auto whole = numbers_of_log();
        REQUIRE(whole.size() == 6);
        const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
        for (const char* path : {"w", "w.checkpoint", "log"}) std::filesystem::remove(path);
        // Killed before there is a checkpoint, and behind one: epochs in the log, not in it.
        for (const std::uint64_t killed : {3, 8}) {
            CAPTURE(killed);
            before_step = [&](std::uint64_t step) {
                if (step == 4) wait_for_checkpoint();
                if (step == killed) std::raise(SIGKILL);
            };
            CHECK(WIFSIGNALED(f.train_apart(resumed())));
            CHECK(std::filesystem::exists("w.checkpoint") == (killed == 8));
        }
        std::ofstream("log", std::ios::app) << R"({"epoch": 5, "lo)";
        before_step = nullptr;
        const Result last = f.train(resumed());
        CHECK(last.status == 0);
        CHECK(numbers_of_log() == whole);
        CHECK(read_text("w") == weights);
        CHECK(read_text("w.checkpoint") == checkpoint);
        CHECK(file_names() == std::vector<std::string>{"log", "pairs.tsv", "w", "w.checkpoint"});
    }
}

TEST_CASE("train: what stays of a log") {
    const std::string one = "{\"epoch\": 1}\n", two = "{\"epoch\": 2}\n", other = "# mine\n\n[1]\n";
    CHECK(kept_length("", 3) == 0);
    CHECK(kept_length(one + two, 2) == one.size() + two.size());
    CHECK(kept_length(other + one + two + one, 1) == other.size() + one.size());
    CHECK(kept_length(one + "{\"epo", 1) == one.size());
    CHECK(kept_length(one + "# mine", 1) == one.size() + 6);
}

TEST_CASE("train: --resume without a checkpoint starts from the beginning, and says so") {
    FilesFixture f;
    const Result result = f.train({"--epochs=2", "--resume"});
    CHECK(result.status == 0);
    CHECK(result.err.starts_with(
        "there is no checkpoint 'w.checkpoint' yet: the training starts from the beginning\n"));
    const std::string weights = read_text("w");
    REQUIRE(f.train({"--epochs=2"}).status == 0);
    CHECK(read_text("w") == weights);
}

TEST_CASE("train: files that can't be written for a while are written later") {
    FilesFixture f;
    const std::vector<std::string> options = {"--epochs=6", "--validation=0.3"};
    REQUIRE(f.train(options).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    for (const char* path : {"w", "w.checkpoint"}) std::filesystem::remove(path);
    before_step = [&](std::uint64_t step) {
        for (const char* path : {"w", "w.checkpoint"}) {
            if (step == 0) std::filesystem::create_directory(path);
            if (step == 7) std::filesystem::remove(path);
        }
        if (step == 3) wait_for_checkpoint();
    };
    const Result result = f.train(options);
    CHECK(result.status == 0);
    CHECK(result.err.find("warning: cannot write 'w': Is a directory; the training goes on, and "
                          "tries again after an epoch\n") != std::string::npos);
    CHECK(read_text("w") == weights);
    CHECK(read_text("w.checkpoint") == checkpoint);
}

TEST_CASE("train: a checkpoint that can't be written to the end fails, with the weights written") {
    FilesFixture f;
    before_step = [](std::uint64_t step) {
        if (step == 0) std::filesystem::create_directory("w.checkpoint");
    };
    const Result result = f.train({"--epochs=2"});
    CHECK(result.status == 2);
    CHECK(result.err.ends_with("translator: cannot write 'w.checkpoint': Is a directory\n"));
    CHECK(std::filesystem::is_regular_file("w"));
    CHECK(numbers_of_log().size() == 2);
}

TEST_CASE("train: over a file size limit it ends with a sentence") {
    FilesFixture f;
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_DFL);
        const rlimit limit{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(f.train({"--epochs=1"}).status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(read_text("stderr").find("translator: cannot write 'w': File too large\n") !=
          std::string::npos);
    CHECK(file_names() == std::vector<std::string>{"log", "pairs.tsv"});
}

TEST_CASE("train: two trainings never write one file") {
    FilesFixture f;
    REQUIRE(f.train({"--epochs=1"}).status == 0);
    const std::string weights = read_text("w"), log = read_text("log");
    const auto refused = [&](const std::string& sentence) {
        const Result result = f.train({"--epochs=2"});
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
        CHECK(read_text("w") == weights);
        CHECK(read_text("log") == log);
    };
    std::filesystem::create_symlink("w.checkpoint", "link");
    {
        const OutputLock lock("link");
        refused(
            "another training writes 'w.checkpoint'; wait until it has ended, or choose other "
            "--weights and --checkpoint");
    }
    {
        const OutputLock lock("w");
        refused(
            "another training writes 'w'; wait until it has ended, or choose other --weights "
            "and --checkpoint");
    }
    const int file = open("log", O_RDWR);
    flock(file, LOCK_EX);
    refused(
        "another training writes the log 'log'; wait until it has ended, or choose another "
        "--log");
    close(file);
    std::filesystem::remove("link");
    write_text("w.lock", "left by a kill");
    write_text("w.fovea-partial", "left by a kill");
    CHECK(f.train({"--epochs=1"}).status == 0);
    CHECK(file_names() == std::vector<std::string>{"log", "pairs.tsv", "w", "w.checkpoint"});
}

TEST_CASE("train: links to files that are not there yet are followed") {
    FilesFixture f;
    std::filesystem::create_directory("far");
    for (const std::string name : {"w", "w.checkpoint", "log"})
        std::filesystem::create_symlink("far/" + name, name);
    REQUIRE(f.train({"--epochs=1"}).status == 0);
    for (const std::string name : {"w", "w.checkpoint", "log"}) {
        CHECK(std::filesystem::is_symlink(name));
        CHECK(std::filesystem::is_regular_file("far/" + name));
    }
    std::filesystem::remove("w");
    std::filesystem::create_symlink("w", "w");
    const Result circle = f.train({"--epochs=1"});
    CHECK(circle.status == 2);
    CHECK(circle.err == "translator: cannot write 'w': Too many levels of symbolic links\n");
}

TEST_CASE("train: SIGHUP that nohup ignores stays ignored") {
    FilesFixture f;
    std::signal(SIGHUP, SIG_IGN);
    before_step = [](std::uint64_t) { std::raise(SIGHUP); };
    CHECK(f.train({"--epochs=2"}).status == 0);
    const bool is_ignored = std::signal(SIGHUP, SIG_DFL) == SIG_IGN;
    CHECK(is_ignored);
}

TEST_CASE("train: seeds are told apart to their last digit") {
    FilesFixture f;
    REQUIRE(f.train({"--epochs=1", "--seed=9007199254740993"}).status == 0);
    const Result other = f.train({"--epochs=2", "--seed=9007199254740992", "--resume"});
    CHECK(other.status == 2);
    CHECK(other.err ==
          "translator: 'w.checkpoint' was made with --seed 9007199254740993, but this run has "
          "--seed 9007199254740992; --resume needs the same\n");
    REQUIRE(f.train({"--epochs=1", "--clip=0.1"}).status == 0);
    CHECK(f.train({"--epochs=2", "--clip=0.1000000000000001", "--resume"}).status == 2);
}

TEST_CASE("train: an option without its value is refused") {
    FilesFixture f;
    for (const std::string option : {"log", "bpe", "weights", "data", "checkpoint", "device"}) {
        const Result result = run_translator(f.model, {"train", "--" + option + "="});
        CHECK(result.status == 2);
        CHECK(result.err.starts_with("translator: option '--" + option + "' needs a value, "));
    }
}
