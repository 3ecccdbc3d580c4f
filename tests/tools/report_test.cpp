// The page of `fovea report`: what is on it, and that it is whole.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <vector>

#include "runtime/files/files.h"
#include "runtime/translator/attention_svg.h"
#include "runtime/translator/saved_maps.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/chart/svg.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/report/attention_picture.h"
#include "tools/fovea/report/memory_chart.h"
#include "tools/fovea/report/training_log.h"

using namespace fovea::tool;

namespace {

/// Tags that are open at the end, or closed where another one is open.
std::string wrong_tags(const std::string& page) {
    static const std::set<std::string> kAlone = {"meta", "link", "!DOCTYPE"};
    static const std::regex tag(R"(<(/?)([!A-Za-z0-9]+)[^>]*?(/?)>)");
    std::vector<std::string> open;
    for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
        const std::string name = (*at)[2];
        if (kAlone.count(name) || (*at)[3].length()) continue;
        if (!(*at)[1].length()) open.push_back(name);
        else if (open.empty() || open.back() != name) return "</" + name + ">";
        else open.pop_back();
    }
    return open.empty() ? "" : "<" + open.back() + ">";
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

/// Of a sentence with a token that HTML would take for a tag.
fovea::runtime::SavedMaps some_maps() {
    fovea::runtime::SavedMaps saved;
    saved.maps = {{.name = "encoder.attention.weights",
                   .heads = 1,
                   .queries = 2,
                   .keys = 2,
                   .weights = {0.25F, 0.75F, 0.5F, 0.5F}}};
    saved.tokens = {{"a < b", "c"}, {"<bos>"}, {"<eos>"}};
    return saved;
}

/// What reading these lines as a log says.
std::string log_message(const std::string& lines) {
    const TemporaryFolder folder;
    const std::string log = (folder.path() / "log.jsonl").string();
    fovea::runtime::write_file_atomically(log, lines);
    try {
        (void)read_training_log(log);
    } catch (const std::runtime_error& error) {
        const std::string message = error.what();
        const std::size_t at = message.find(folder.path().string());
        return at == message.npos
                   ? message
                   : message.substr(0, at) + message.substr(at + folder.path().string().size() + 1);
    }
    return "";
}

fovea::plan::Tensor buffer(const std::string& name, std::int64_t floats, int first, int last) {
    fovea::plan::Tensor tensor;
    tensor.name = name;
    tensor.shape = {floats};
    tensor.first = first;
    tensor.last = last;
    return tensor;
}

}  // namespace

TEST_CASE("a report is one page with graph, fusion, kernels and memory") {
    if (!fovea::test::has_turn(0, 2)) return;
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "report.html";
    const std::string log = (folder.path() / "log.jsonl").string();
    fovea::runtime::write_file_atomically(log, R"({"epoch":1,"loss":2.5,"grad_norm":3.0})"
                                               "\n"
                                               R"({"epoch":2,"loss":1.5,"grad_norm":2.0})"
                                               "\n");
    const std::string maps = (folder.path() / "maps.safetensors").string();
    fovea::runtime::save_attention_maps(maps, some_maps());
    const auto result =
        fovea::test::run_fovea({"report", "encoder_block", "--set", "hidden=16", "--set", "ffn=8",
                                "--size", "batch=2", "--size", "len=5", "--threads", "1", "--log",
                                log, "--attention", maps, "-o", file.string()});
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    const std::string page = fovea::test::read_text(file);
    CHECK(wrong_tags(page) == "");
    for (const char* part :
         {"<title>encoder_block: report</title>", "at batch=2 len=5", ">Graph<",
          ">Fused and unfused<", ">Fusion<", ">Kernels<", ">Memory over time<", ">attention<",
          "prefers-color-scheme: dark", "const float* ln_weight", "not fused: ", ">Training<",
          "<title>log.jsonl, epoch 2: 1.5</title>", ">Attention<", ">maps.safetensors<",
          "a &lt; b → c: 0.75", ">output weight.grad<"})
        CHECK_MESSAGE(page.find(part) != page.npos, std::string(part));
    // Nothing from elsewhere, no scripts, and code is text.
    CHECK(page.find("<script") == page.npos);
    CHECK(count_of(page, "http") == count_of(page, "xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(page.find("src=") == page.npos);
    CHECK(page.find("&lt;") != page.npos);

    const LoadedModel model = load_model("encoder_block", {{"hidden", "16"}, {"ffn", "8"}});
    const auto compiled = compile(model, {runner_program(model, true, true, true)});
    CHECK(count_of(page, "<details class=\"kernel\">") == compiled.plan.programs[0].steps.size());
    std::size_t boxes = 0;
    for (const fovea::plan::Tensor& tensor : compiled.plan.programs[0].tensors)
        boxes += tensor.role == fovea::plan::Role::buffer;
    CHECK(count_of(page, ", phases ") == boxes);
}

TEST_CASE("a model with weights of 8 bits has a report without gradients") {
    if (!fovea::test::has_turn(1, 2)) return;
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "report.html").string();
    const auto result = fovea::test::run_fovea({"report", "position_wise_ffn", "--set", "input=40",
                                                "--set", "ffn=48", "--set", "weights=int8",
                                                "--size", "batch=5", "--threads", "1", "-o", file});
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    const std::string page = fovea::test::read_text(file);
    CHECK(wrong_tags(page) == "");
    CHECK(page.find("Weights&lt;8, 32, 40&gt;") != page.npos);
}

TEST_CASE("the operations of a program's kernels are those of its graph") {
    const LoadedModel model = load_model("encoder_block", {{"hidden", "16"}, {"ffn", "8"}});
    const auto compiled = compile(model, {runner_program(model, true, true, true)});
    const auto& program = compiled.programs[0];
    const SampleDims dims = {{"batch", 3}, {"len", 7}};
    double of_kernels = 0;
    for (const fovea::fuse::Group& group : program.fused.groups)
        of_kernels += kernel_flops(program.optimized, group, dims);
    const double of_products = product_flops(program.graph, true, dims);
    const double of_rows =
        row_flops(program.optimized, false, dims) + row_flops(program.optimized, true, dims);
    CHECK(of_kernels >= of_products);
    CHECK(of_kernels <= of_products + of_rows);
}

TEST_CASE("buffers are drawn where they lie, for as long as they live") {
    fovea::plan::Program program;
    CHECK(memory_chart(program, {}) == "");
    program.tensors = {buffer("a < b", 1000, 0, 1), buffer("c", 500, 1, 2), buffer("d", 500, 3, 3)};
    const std::string chart = memory_chart(program, {});
    CHECK(wrong_tags(chart) == "");
    for (const char* part : {"<title>a &lt; b: 4 kB, phases 0 to 1</title>",
                             "<title>c: 2 kB, phases 1 to 2</title>", ">kB<", ">6<"})
        CHECK_MESSAGE(chart.find(part) != chart.npos, std::string(part));
}

TEST_CASE("a log is read line by line, without one that is being written") {
    const TemporaryFolder folder;
    const std::string log = (folder.path() / "log.jsonl").string();
    fovea::runtime::write_file_atomically(log, R"({"epoch":1,"loss":2.5,"validation_loss":2.75})"
                                               "\n\n"
                                               R"({"epoch":2,"loss":null,"learning_rate":0.5})"
                                               "\n"
                                               R"({"epoch":3,"lo)");
    const LoggedTraining training = read_training_log(log);
    CHECK(training.name == "log.jsonl");
    REQUIRE(training.epochs.size() == 2);
    CHECK(training.epochs[0].loss == 2.5);
    CHECK(training.epochs[0].validation_loss == 2.75);
    CHECK(!training.epochs[0].learning_rate);
    CHECK(training.epochs[1].epoch == 2);
    CHECK(!training.epochs[1].loss);
    CHECK(training.epochs[1].learning_rate == 0.5);

    CHECK(log_message("") == "'log.jsonl' has no epochs");
    CHECK(log_message("{\"epoch\":1}\n") ==
          "log.jsonl:1: expected {\"epoch\": …, \"loss\": …}, as `train --log` writes it");
    const std::string broken = log_message("{\"epoch\":1,\"loss\":2}\nloss 3\n");
    CHECK_MESSAGE(broken.starts_with("log.jsonl:2: "), broken);
}

TEST_CASE("a chart of losses has a line for each training, broken where one is missing") {
    LoggedTraining one{.name = "one < two", .epochs = {}}, two{.name = "two", .epochs = {}};
    for (int epoch = 1; epoch <= 6; ++epoch) {
        one.epochs.push_back({.epoch = double(epoch),
                              .loss = 10.0 / epoch,
                              .validation_loss = {},
                              .grad_norm = 1.0 + epoch,
                              .learning_rate = 0.5,
                              .tokens_per_second = {}});
        two.epochs.push_back(one.epochs.back());
        two.epochs.back().grad_norm.reset();
    }
    const std::string whole = training_chart({one, two});
    CHECK(wrong_tags(whole) == "");
    CHECK(count_of(whole, "<polyline") == 3);  // two losses, one norm; the rate stays the same
    CHECK(whole.find(">one &lt; two<") != whole.npos);
    CHECK(whole.find("learning rate") == whole.npos);
    CHECK(whole.find("held out") == whole.npos);
    CHECK(whole.find("<title>two, epoch 4: 2.5</title>") != whole.npos);
    one.epochs[2].loss.reset();
    one.epochs[4].learning_rate = 0.25;
    one.epochs[0].validation_loss = one.epochs[1].validation_loss = 12;
    const std::string broken = training_chart({one, two});
    CHECK(count_of(broken, "<polyline") == 7);  // one more loss, a held-out one, two rates
    CHECK(count_of(broken, "stroke-dasharray") == 2);
    CHECK(broken.find("learning rate") != broken.npos);
    // One epoch is a point, and what diverged at once is nothing.
    one.epochs.resize(1);
    CHECK(wrong_tags(training_chart({one})) == "");
    one.epochs[0].loss.reset();
    CHECK(training_chart({one}).find("loss per") == std::string::npos);
    CHECK(training_chart({one}).find("nan") == std::string::npos);
}

TEST_CASE("pictures of attention need nothing from elsewhere") {
    const TemporaryFolder folder;
    const auto picture_of = [&](const std::string& name, const std::string& text) {
        const std::string path = (folder.path() / name).string();
        fovea::runtime::write_file_atomically(path, text);
        try {
            return read_attention_picture(path).svg;
        } catch (const std::runtime_error& error) {
            const std::string message = error.what();
            const std::size_t at = message.rfind(": ");
            return at == message.npos ? message : message.substr(at + 2);
        }
    };
    const auto saved = some_maps();
    const std::string drawn = fovea::runtime::attention_svg(saved.maps, saved.tokens);
    CHECK(picture_of("maps.svg", drawn) == drawn);
    CHECK(picture_of("maps.svg", "words") == "it does not begin with <svg");
    CHECK(picture_of("maps.svg", "<svg x=\"\"><SCRIPT>alert(1)</SCRIPT></svg>") ==
          "it has <script");
    CHECK(picture_of("maps.svg", "<svg x=\"\"><a href=\"b\"/></svg>") == "it has href");
    CHECK(picture_of("maps.svg", "<svg onLoad=\"f()\"></svg>") == "it has onload=");
    CHECK(picture_of("maps.png", "words").find("--attention takes files") == 0);
}
