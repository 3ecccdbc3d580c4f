// `--target` of the command and `--device` of built programs, with a fake driver library and
// without any.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "runtime/files/json.h"
#include "runtime/safetensors.h"
#include "tests/device/has_ptx.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using namespace fovea;

namespace {

const std::string kCase = FOVEA_SOURCE_DIR "/tests/parity/position_wise_ffn-0/";
const std::vector<std::string> kModel = {
    "position_wise_ffn", "--set", "input=7", "--set", "ffn=11", "--set", "output=9"};
const std::string kFakeDriver = "LD_LIBRARY_PATH=" FOVEA_BINARY_DIR "/fake_cuda";

std::vector<std::string> run_arguments(const std::string& outputs) {
    return {"--inputs",    kCase + "inputs.safetensors",
            "--weights",   kCase + "weights.safetensors",
            "--gradients", "--outputs",
            outputs};
}

/// The largest difference between the tensors of two files.
double difference(const std::string& a, const std::string& b) {
    const auto first = runtime::read_safetensors(a), second = runtime::read_safetensors(b);
    REQUIRE(!first.tensors().empty());
    double largest = 0;
    for (const runtime::TensorView& tensor : first.tensors()) {
        const runtime::TensorView* other = second.find(tensor.name);
        REQUIRE(other);
        REQUIRE(other->bytes.size() == tensor.bytes.size());
        for (std::size_t i = 0; i < tensor.bytes.size(); i += sizeof(float)) {
            float x, y;
            std::memcpy(&x, tensor.bytes.data() + i, sizeof x);
            std::memcpy(&y, other->bytes.data() + i, sizeof y);
            largest = std::max(largest, std::abs(double(x) - double(y)));
        }
    }
    return largest;
}

std::vector<std::string> with(std::vector<std::string> start,
                              const std::vector<std::string>& more) {
    start.insert(start.end(), more.begin(), more.end());
    return start;
}

/// `fovea COMMAND MODEL …`, with a library in the place of the driver.
tool::ProcessResult on_model(const std::string& command, const std::vector<std::string>& more) {
    return test::run_fovea(with(with({command}, kModel), more), {kFakeDriver});
}

tool::ProcessResult run_program(std::vector<std::string> command, const std::string& environment) {
    command.insert(command.begin(), {"env", environment});
    return tool::run_process(command);
}

}  // namespace

TEST_CASE("the command and built programs give on PTX what they give on this machine's cores") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
    // Where no dtype is set, weights and activations are float32 on the cores, bfloat16 in PTX.
    for (const bool exact : test::turns_of(std::vector<bool>{true, false}, 2)) {
        const auto dtype =
            exact ? std::vector<std::string>{"--set", "dtype=f32"} : std::vector<std::string>();
        REQUIRE(on_model("build", with(dtype, {"--isa", "native", "--device", "cuda", "-o",
                                               path("program")}))
                    .status == 0);
        for (const char* device : {"cpu", "cuda"}) {
            const auto result = run_program(
                with({path("program"), "run", "--device", device}, run_arguments(path(device))),
                kFakeDriver);
            INFO(result.output);
            REQUIRE(result.status == 0);
        }
        const double error = difference(path("cpu"), path("cuda"));
        if (exact) CHECK(error < 5e-6);
        else CHECK((error > 1e-4 && error < 5e-2));
        for (const char* target : {"ptx-interpreter", "cuda"}) {
            const auto result = on_model(
                "run", with(with({"--target", target}, run_arguments(path("command"))), dtype));
            INFO(result.output);
            REQUIRE(result.status == 0);
            CHECK(difference(path("command"), path("cuda")) == 0);
        }
    }
    const auto unknown = tool::run_process(
        with({path("program"), "run", "--device", "tpu"}, run_arguments(path("none"))));
    CHECK(unknown.status == 2);
    CHECK(unknown.output == "program: option '--device' takes cpu or cuda, not 'tpu'\n");
    const auto verified =
        test::run_fovea({"verify", "add_norm", "--target", "cuda"}, {kFakeDriver});
    CHECK(verified.status == 0);
    CHECK(verified.output.find("ln_layer_norm (bf16)\n") != std::string::npos);
    // Programs at random run in copies of the process.
    const auto drawn = test::run_fovea(
        {"fuzz", "--target", "cuda", "--seed", "1", "--count", "2", "-o", folder.path().string()},
        {kFakeDriver});
    INFO(drawn.output);
    CHECK(drawn.status == 0);

    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) {
        dlclose(driver);
        return;  // there is a driver here
    }
    const auto refused = run_program(
        with({path("program"), "run", "--device", "cuda"}, run_arguments(path("none"))), "A=1");
    CHECK(refused.status == 2);
    CHECK(refused.output.starts_with("program: there is no NVIDIA driver here: libcuda.so.1: "));
    const auto command = test::run_fovea({"verify", "add_norm", "--target", "cuda"});
    CHECK(command.status == 2);
    CHECK(command.output.starts_with("fovea: there is no NVIDIA driver here: libcuda.so.1: "));
}

TEST_CASE("generate writes PTX for each architecture, and how to launch it") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    REQUIRE(test::run_fovea({"generate", "add_norm", "--target", "ptx", "--training", "-o",
                             folder.path().string()})
                .status == 0);
    for (const std::string& architecture : emit::ptx_architectures()) {
        const std::string text =
            test::read_text(folder.path() / ("add_norm." + architecture + ".ptx"));
        CHECK(text.starts_with("// "));
        CHECK(text.find(".target " + architecture) != std::string::npos);
        CHECK(text.find("// add, layer_norm\n") != std::string::npos);
        CHECK(text.find(".visible .entry ln_layer_norm(") != std::string::npos);
    }
    const auto tables =
        runtime::parse_json(test::read_text(folder.path() / "add_norm.launches.json"));
    CHECK(tables.find("modules")->array().size() == emit::ptx_architectures().size());
    CHECK(tables.find("programs")->array().size() == 2);
}

TEST_CASE("the form that attention has in PTX is shown, and why a faster form was not chosen") {
    if (!test::has_ptx() || !test::has_turn(0, 2)) return;
    const auto form = [](const std::string& architecture, const std::string& heads,
                         const std::string& dtype) {
        const std::string output =
            test::run_fovea({"show", "encoder_block", "--stage", "ptx", "--fusion", "always",
                             "--arch", architecture, "--set", "hidden=128", "--set",
                             "heads=" + heads, "--set", "dtype=" + dtype})
                .output;
        const std::string start = "\n// attention: ";
        const std::size_t at = output.find(start);
        REQUIRE(at != output.npos);
        const std::size_t from = at + start.size();
        return output.substr(from, output.find('\n', from) - from);
    };
    CHECK(form("sm_90a", "2", "bf16") == "products by groups of warps (wgmma)");
    const std::string by_warps = "products by warps (mma.sync), not by groups of them (wgmma): ";
    CHECK(form("sm_90", "2", "bf16") == by_warps + "sm_90 has no such products");
    CHECK(form("sm_90a", "4", "bf16") == by_warps + "it has rows of 32 elements, not of 64 or 128");
    CHECK(form("sm_90a", "2", "f32") ==
          "products by threads, in float32, not by warps (mma.sync): it has a product of floats");
}

TEST_CASE("kernels are measured by the clock of a GPU, also in turns with others") {
    if (!test::has_ptx()) return;
    const tool::TemporaryFolder folder;
    const std::string report = (folder.path() / "bench.json").string();
    const auto measured =
        test::run_fovea({"bench", "--target", "cuda", "--quick", "--json", report}, {kFakeDriver});
    INFO(measured.output);
    CHECK(measured.status == 0);
    const auto bench = runtime::parse_json(test::read_text(report));
    CHECK(bench.find("machine")->find("gpu")->string() == "Fake GPU");
    CHECK(bench.find("results")->array().size() == 11);
    // What waits for its turns measures when it is told to.
    const auto turns = tool::run_process(
        {"sh", "-c", "printf '2\\n\\n' | env \"$0\" \"$1\" bench --target cuda --quick --turns",
         kFakeDriver, std::string(FOVEA_BINARY_DIR) + "/fovea"});
    CHECK(turns.status == 0);
    CHECK(turns.output.starts_with(
        R"({"suite":"contraction","name":"32x32x32","pass":"forward","dtype":"bf16",)"));
    CHECK(turns.output.find("\n[1.0,1.0]\n") != std::string::npos);
    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) {
        dlclose(driver);
        return;  // there is a driver here
    }
    const auto refused = test::run_fovea({"verify", "masked_softmax", "--target", "cuda"});
    CHECK(refused.status == 2);
    CHECK(refused.output.starts_with("fovea: there is no NVIDIA driver here: "));
    CHECK(refused.output.find('\n') == refused.output.size() - 1);
}
