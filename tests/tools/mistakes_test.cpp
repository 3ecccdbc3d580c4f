// The user's mistakes on the command line: one sentence, status 2, nothing written.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "models/registry.h"
#include "runtime/safetensors.h"
#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;
using fovea::tool::TemporaryFolder;

namespace {

void check_mistake(const std::vector<std::string>& arguments, const std::string& text,
                   const std::vector<std::string>& environment = {}) {
    fovea::tool::ProcessResult result = run_fovea(arguments, environment);
    CHECK(result.output == "fovea: " + text + "\n");
    CHECK(result.status == 2);
}

const std::string kParity = FOVEA_SOURCE_DIR "/tests/parity/transformer_encoder-0/";

/// A reference run of the parity case with some file or setting replaced.
std::vector<std::string> encoder_run(const std::string& weights, const std::string& inputs,
                                     const std::string& output) {
    return {"run",       "transformer_encoder",
            "--target",  "reference",
            "--set",     "src_vocab=20",
            "--set",     "hidden=16",
            "--set",     "ffn=28",
            "--set",     "heads=2",
            "--weights", weights,
            "--inputs",  inputs,
            "--outputs", output};
}

std::string names_of_models() {
    std::string names;
    for (const fovea::ModelEntry& entry : fovea::models::built_in_models())
        names += (names.empty() ? "" : ", ") + entry.name;
    return names;
}

void write_truncated(const std::string& from, const std::filesystem::path& to, std::size_t drop) {
    std::string bytes = fovea::test::read_text(from);
    std::ofstream(to, std::ios::binary) << bytes.substr(0, bytes.size() - drop);
}

}  // namespace

TEST_CASE("names that nothing has come with the nearest one") {
    check_mistake({"shw"},
                  "unknown subcommand 'shw': did you mean 'show'? fovea --help lists them");
    check_mistake({"show", "transfomer"},
                  "unknown model 'transfomer': did you mean 'transformer'? models: " +
                      names_of_models() + "; or FILE.cpp:FUNCTION");
    check_mistake(
        {"show", "transformer", "--set", "hiden=3"},
        "unknown setting 'hiden' of transformer: did you mean 'hidden'? settings: "
        "src_vocab, tgt_vocab, hidden, ffn, heads, layers, dropout, bias, dtype, weights");
    check_mistake({"show", "transformer", "--set", "dtype=f8"},
                  "setting 'dtype' takes f32|tf32|bf16|f16, not 'f8'");
    check_mistake({"show", "transformer", "--stag", "plan"},
                  "unknown option '--stag' of fovea show: did you mean '--stage'?");
    check_mistake({"show", "transformer", "--program", "forwad"},
                  "transformer has no program 'forwad': did you mean 'forward'? programs: forward, "
                  "gradient, training_step, evaluate, prefill, decode_step, attention");
}

TEST_CASE("values that do not fit") {
    check_mistake(
        {"show", "add_norm", "--diff", "fuse_atention"},
        "--diff: there is no pass 'fuse_atention': did you mean 'fuse_attention'? passes: "
        "keep_outputs, hoist_tables, guard_ids, select_mode, inline_composites, "
        "raise_contraction, raise_softmax, raise_attention, attend_in_steps, draw_ahead, "
        "fuse_attention, fuse_loss, add_gradients, join_losses, recompute_checkpoints, "
        "split_keys, merge_pads, sum_windows_into_einsum, expand_composites, normalize_reductions, "
        "fold, common_subexpressions, dead_code, hoist_from_scans, sum_into_einsum, "
        "scatter_onto_tables, rematerialise, read_halves, fuse, lower, plan");
    check_mistake({"show", "transformer", "--stage", "kernls"},
                  "--stage takes graph|grouped|gradient|optimized|fused|kernels|plan|schedule|cpp|"
                  "ptx, not 'kernls'");
    check_mistake({"show", "transformer", "--set", "hidden=abc"},
                  "setting 'hidden' takes a whole number from 1 to 16777216, not 'abc'");
    check_mistake({"show", "transformer", "--set", "hidden"},
                  "--set takes NAME=VALUE, not 'hidden'");
    check_mistake({"show", "transformer", "--set", "ffn=8", "--set", "ffn=9"},
                  "setting 'ffn' is given twice");
    check_mistake({"show"},
                  "fovea show needs a model: a name that `fovea models` lists, or "
                  "FILE.cpp:FUNCTION");
    check_mistake({"build", "transformer"}, "fovea build needs --output");
    check_mistake({"show", "missing.cpp:f"},
                  "cannot read 'missing.cpp': No such file or directory");
}

TEST_CASE("heads that do not divide hidden") {
    fovea::tool::ProcessResult result =
        run_fovea({"show", "transformer", "--set", "hidden=30", "--set", "heads=4"});
    CHECK(result.status == 2);
    CHECK(result.output.find("h=4 does not divide hidden=30 in [batch, src_len, hidden=30] (from "
                             "encoder.blks.block0.attention.W_q)") != std::string::npos);
}

TEST_CASE("no C++ compiler") {
    TemporaryFolder folder;
    const std::string output = (folder.path() / "program").string();
    check_mistake({"build", "transformer", "-o", output},
                  "no C++ compiler found: install g++ (apt install g++), or set CXX",
                  {"-u", "CXX", "PATH=" + folder.path().string()});
    check_mistake({"build", "transformer", "-o", output}, "no C++ compiler found: CXX is 'nope++'",
                  {"CXX=nope++"});
    CHECK(!std::filesystem::exists(output));
}

TEST_CASE("code of another kind of compiler is not loaded") {
#if defined(__clang__)
    const std::string macro = "nothing", kind = "not clang", own = "clang";
#else
    const std::string macro = "__clang__", kind = "clang", own = "g++";
#endif
    TemporaryFolder folder;
    const std::string other = (folder.path() / "other++").string();
    std::ofstream(other) << "#!/bin/sh\necho '#define " << macro << " 1'\n";
    std::filesystem::permissions(other, std::filesystem::perms::owner_all);
    const auto result = run_fovea({"verify", "masked_softmax"},
                                  {"CXX=" + other, "XDG_CACHE_HOME=" + folder.path().string()});
    CHECK(result.status == 2);
    CHECK(result.output.find("'" + other + "' is " + kind + ", and " + own +
                             " built this command, into which its code would be loaded: two "
                             "OpenMP libraries in one process count threads wrong") !=
          std::string::npos);
}

TEST_CASE("files that cannot be read, or hold something else") {
    TemporaryFolder folder;
    const std::string output = (folder.path() / "out").string(),
                      short_file = (folder.path() / "short").string(),
                      weights = kParity + "weights.safetensors",
                      inputs = kParity + "inputs.safetensors";
    write_truncated(weights, short_file, 10);
    auto check = [&](const std::string& w, const std::string& i, const std::string& part) {
        fovea::tool::ProcessResult result = run_fovea(encoder_run(w, i, output));
        CAPTURE(result.output);
        CHECK(result.status == 2);
        CHECK(result.output.find(part) != std::string::npos);
        CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
        CHECK(!std::filesystem::exists(output));
    };
    check("missing", inputs, "missing");
    check(short_file, inputs, short_file);
    check(inputs, inputs, "lacks parameter 'embedding.weight' of transformer_encoder");
    check(weights, weights, "lacks the input 'src'");
}

TEST_CASE("numbers beyond their range") {
    const std::string run = "takes a whole number from 0 to 9223372036854775807, not ";
    for (const std::string number : {"-1", "9223372036854775808", "1e3", ""}) {
        check_mistake({"run", "add_norm", "--seed", number}, "--seed " + run + "'" + number + "'");
        check_mistake({"run", "add_norm", "--step", number}, "--step " + run + "'" + number + "'");
    }
    check_mistake({"show", "transformer", "--stage", "plan", "--size", "batch=20000000"},
                  "--size takes DIM=N with sizes from 1 to 16777216, not 'batch=20000000'");
    check_mistake({"show", "transformer", "--set", "layers=100000"},
                  "the model has more than 200000 operations, which is the limit: take fewer "
                  "layers, or a scan over them");
    check_mistake({"show", "transformer", "--set", "layers=4294967298"},
                  "setting 'layers' takes a whole number from 0 to 1000000000, not '4294967298'");
    const auto result =
        run_fovea({"show", "transformer", "--stage", "plan", "--set", "hidden=16777216", "--set",
                   "ffn=16777216", "--size", "batch=16777216", "--size", "src_len=16777216"});
    CHECK(result.status == 2);
    CHECK(result.output.find("63 bits") != std::string::npos);
}

TEST_CASE("names that packages for Python cannot have") {
    const auto check = [](const std::string& name, const std::string& why) {
        TemporaryFolder folder;
        const std::string output = (folder.path() / "package").string();
        check_mistake({"generate", "add_norm", "--python", "--name", name, "-o", output},
                      "--python: a package '" + name + "' cannot be imported, since that is " +
                          why + ": give another --name");
        CHECK(!std::filesystem::exists(output));
    };
    for (const char* name : {"def", "None", "lambda", "import"}) check(name, "a keyword of Python");
    for (const char* name : {"ctypes", "collections", "threading", "os", "sys"})
        check(name, "a module of Python itself");
    for (const char* name : {"numpy", "torch", "jax"})
        check(name, "a package that this one imports or needs");
}

TEST_CASE("verify takes models or all of them") {
    check_mistake({"verify", "--all", "add_norm"},
                  "fovea verify takes --all, every built-in model, or models by name (add_norm): "
                  "give either");
    check_mistake({"verify", "--all", "--size", "batch=2"},
                  "--size is for models by name: those of --all have other dims each");
    check_mistake({"verify", "add_norm", "--size", "bach=2", "--target", "reference"},
                  "unknown dim 'bach': did you mean 'batch'? dims: batch, len");
}
