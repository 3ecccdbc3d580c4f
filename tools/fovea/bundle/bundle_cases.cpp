#include "tools/fovea/bundle/bundle_cases.h"

#include <fmt/format.h>

#include "dsl/fovea.h"
#include "models/registry.h"
#include "tools/fovea/device/gpu_graphs.h"
#include "tools/fovea/device/verify_layouts.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

struct Precision {
    DType dtype;
    bool tf32;
    const char* name;
    Tolerances bounds;
};
constexpr Precision kBf16 = {bf16, false, "bf16", tolerances_of(bf16)},
                    kF16 = {f16, false, "f16", tolerances_of(f16)},
                    kTf32 = {f32, true, "tf32", kTf32Tolerances},
                    kF32 = {f32, false, "f32", {2e-5, 1e-4}};

Sample sample_of(SampleDims dims) {
    return {.dims = std::move(dims), .lengths = Sample::Lengths::positive, .seed = 7};
}

/// A program without and with gradients, and what they are called with.
struct Pair {
    std::string stage, name;
    Graph graph;
    Precision precision;
    SampleDims dims;
    bool training = false;
    AttentionForm form = AttentionForm::faster;
    std::vector<std::int64_t> lengths = {};
};

class Catalog {
  public:
    Catalog(BundleWriter& writer, bool quick) : writer_(writer), quick_(quick) {}

    void layouts() {
        for (const bundle::Probe& probe : layout_probes()) writer_.add(probe);
    }

    void rows() {
        for (const Precision& precision : precisions({kF32, kBf16})) {
            add(of_model("rows", "add_norm", {{"hidden", "100"}}, precision,
                         {{"batch", 3}, {"len", 37}}));
            if (quick_) continue;
            add(of_model("rows", "add_norm", {{"hidden", "1024"}}, precision,
                         {{"batch", 2}, {"len", 9}}));
            add(of_model("rows", "masked_softmax", {}, precision,
                         {{"batch", 3}, {"queries", 19}, {"keys", 301}}));
            add({"rows", "softmax of 4100", softmax_graph(), precision, {{"rows", 5}}});
            add({"rows", "cross entropy", loss_graph(), precision, {{"batch", 3}, {"len", 29}}});
            add({"rows", "embedding", embedding_graph(), precision, {{"batch", 3}, {"len", 41}}});
        }
    }

    void contractions() {
        struct Sizes {
            std::int64_t rows, k, columns;
            bool as_many = true;  // their tiles are those of many rows
        };
        std::vector<Sizes> all = {{256, 128, 256},     {200, 136, 264},     {131, 67, 77},
                                  {40, 4096, 48},      {300, 72, 2052},     {9, 136, 264, false},
                                  {70, 67, 77, false}, {70, 72, 520, false}};
        if (quick_) all = {{200, 136, 72}};
        for (const Precision& precision : precisions({kBf16, kF16, kTf32, kF32}))
            for (const auto& [rows, k, columns, as_many] : all)
                if (columns < 1024 || precision.dtype == bf16)
                    add_products(precision, rows, k, columns, as_many);
        if (quick_) return;
        for (const Precision& precision : {kTf32, kF32})
            add(of_model("contractions", "position_wise_ffn",
                         {{"input", "128"}, {"ffn", "264"}, {"output", "72"}}, precision,
                         {{"batch", 2}, {"len", 67}}));
    }

    /// Both passes: the second is the stage `gradients`.
    void attention() {
        for (const Precision& precision : precisions({kBf16, kF16, kTf32})) {
            for (const char* heads : {"2", "1"}) {
                add(of_model(
                    "attention", "multi_head_attention",
                    {{"hidden", "128"},
                     {"heads", heads},
                     {"query_size", "128"},
                     {"key_size", "128"},
                     {"value_size", "128"}},
                    precision,
                    {{"batch", 2}, {"queries", quick_ ? 70 : 200}, {"keys", quick_ ? 90 : 300}},
                    {quick_ ? 90 : 300, quick_ ? 31 : 137}));
                if (quick_ || precision.dtype == f32) break;
            }
        }
        if (quick_) return;
        for (std::int64_t width : {64, 128}) {
            attend(width, "plain", AttentionMask::none, kBf16, 200, 300);
            attend(width, "causal", AttentionMask::causal, kBf16, 300, 300);
            attend(width, "lengths", AttentionMask::lengths, kBf16, 200, 300);
            attend(width, "dropout", AttentionMask::lengths, kBf16, 200, 300, 0.1);
            attend(width, "causal", AttentionMask::causal, kF32, 70, 90);
        }
        add(of_model("attention", "decoder_block",
                     {{"hidden", "128"}, {"heads", "2"}, {"ffn", "192"}}, kTf32,
                     {{"batch", 2}, {"len", 70}, {"memory_len", 90}}, {90, 31}));
    }

    /// Every program of every built-in model, small: scans and decoding among them.
    void models() {
        if (quick_) return;
        for (const ModelEntry& entry : fovea::models::built_in_models()) {
            const LoadedModel loaded = load_model(entry.name, entry.small_settings);
            std::vector<ProgramRequest> requests = runner_programs(loaded, {});
            if (entry.driver == Driver::translator)
                for (ProgramRequest& program : text_programs(loaded, {}))
                    requests.push_back(std::move(program));
            const CompiledModel model = compile(loaded, requests, Kernels::of_gpu);
            writer_.begin_model(model, "f32 small " + entry.name);
            for (std::size_t i = 0; i < requests.size(); ++i)
                writer_.add({.stage = "models",
                             .name = fmt::format("f32 small {}, {}", entry.name, requests[i].name),
                             .program = i,
                             .training = requests[i].training,
                             .sample = samples_for(model, {})[1],
                             .bounds = kF32.bounds});
        }
    }

    void training() {
        for (const char* optimizer : {"sgd", "adam", "adamw"}) {
            train("transformer", {}, kF32, optimizer, 5, 4);
            if (quick_) return;
        }
        const SettingValues production = {{"d_model", "128"}, {"d_inner", "192"}, {"layers", "1"},
                                          {"heads", "2"},     {"d_k", "64"},      {"d_v", "64"}};
        train("attention_is_all_you_need", production, kBf16, "sgd", 37, 30);
    }

  private:
    std::vector<Precision> precisions(std::vector<Precision> all) const {
        if (quick_) all.resize(1);
        return all;
    }

    Pair of_model(const std::string& stage, const std::string& model, const SettingValues& settings,
                  const Precision& precision, SampleDims dims,
                  std::vector<std::int64_t> lengths = {}) {
        std::string name = model;
        for (const auto& [setting, value] : settings)
            if (!setting.ends_with("_size")) name += fmt::format(" {}={}", setting, value);
        return {stage,
                name,
                load_model(model, settings).graph,
                precision,
                std::move(dims),
                false,
                AttentionForm::faster,
                std::move(lengths)};
    }

    static Graph softmax_graph() {
        Graph graph;
        Scope s{&graph};
        s.output("y", softmax(s.input("x", {"rows", 4100})));
        return graph;
    }
    static Graph embedding_graph() {
        Graph graph;
        Scope s{&graph};
        s.output("y", embedding(s, s.input("ids", {"batch", "len"}, i32), 23, 72));
        return graph;
    }
    static Graph loss_graph() {
        Graph graph;
        Scope s{&graph};
        s.output("loss", cross_entropy(s.input("logits", {"batch", "len", 203}),
                                       s.input("labels", {"batch", "len"}, i32),
                                       s.input("lens", {"batch"}, i32)));
        return graph;
    }

    void attend(std::int64_t width, const std::string& name, AttentionMask mask,
                const Precision& precision, std::int64_t queries, std::int64_t keys,
                double dropout = 0) {
        add({"attention",
             fmt::format("attention of width {}, {}", width, name),
             attention_graph(1, width, mask, precision.dtype, dropout),
             precision,
             {{"batch", 2}, {"queries", queries}, {"keys", keys}},
             dropout > 0,
             AttentionForm::fused,
             {keys, keys * 46 / 100}});
    }

    /// The gradient of an attention is a stage of its own.
    void add(const Pair& pair) {
        std::vector<ProgramRequest> requests;
        for (bool gradient : {false, true})
            requests.push_back(
                {.name = gradient ? "gradient" : "forward",
                 .graph = pair.graph,
                 .training = pair.training,
                 .gradients = gradient ? Gradients::of_parameters_and_inputs : Gradients::none,
                 .fusion = Fusion(true, pair.form),
                 .dtype = pair.precision.dtype,
                 .tf32 = pair.precision.tf32});
        const std::string name = fmt::format("{} {}", pair.precision.name, pair.name);
        const CompiledModel model =
            compile_model("bundle", "", {}, std::move(requests), target::gpu_target());
        writer_.begin_model(model, name);
        for (std::size_t program : {0, 1}) {
            const bool is_gradient = program == 1;
            const bool apart = is_gradient && pair.stage == "attention";
            writer_.add({.stage = apart ? "gradients" : pair.stage,
                         .name = name + (is_gradient ? ", gradient" : ""),
                         .program = program,
                         .training = pair.training,
                         .sample = sample_of(pair.dims),
                         .lengths = pair.lengths,
                         .bounds = pair.precision.bounds});
        }
    }

    /// In the four layouts of the operands; those with their rows first have any number of them.
    void add_products(const Precision& precision, std::int64_t rows, std::int64_t k,
                      std::int64_t columns, bool as_many) {
        struct Layout {
            const char* name;
            bool a_by_rows, b_by_rows;
        };
        constexpr Layout kLayouts[] = {{"rows by rows", true, true},
                                       {"rows by columns", true, false},
                                       {"columns by rows", false, true},
                                       {"columns by columns", false, false}};
        std::vector<ProgramRequest> requests;
        for (const Layout& layout : kLayouts) {
            Graph graph;
            Scope s{&graph};
            const Dim m = layout.a_by_rows ? Dim("rows") : Dim(rows);
            Tensor a = s.input("a", layout.a_by_rows ? Shape{m, k} : Shape{k, m}, precision.dtype);
            Tensor b = s.input("b", layout.b_by_rows ? Shape{k, columns} : Shape{columns, k},
                               precision.dtype);
            s.output("c", layout.a_by_rows   ? layout.b_by_rows ? einsum("m k, k n -> m n", a, b)
                                                                : einsum("m k, n k -> m n", a, b)
                            : layout.b_by_rows ? einsum("k m, k n -> m n", a, b)
                                             : einsum("k m, n k -> m n", a, b));
            requests.push_back({.name = fmt::format("product{}", requests.size()),
                                .graph = graph,
                                .dtype = precision.dtype,
                                .tf32 = precision.tf32});
        }
        const std::string name =
            fmt::format("{} product {}x{}x{}", precision.name, rows, k, columns);
        target::Target target = target::gpu_target();
        for (target::Gpu& gpu : target.gpus)
            if (as_many) gpu.blocks = 1;
        const CompiledModel model =
            compile_model("bundle", "", {}, std::move(requests), std::move(target));
        emit::PtxOptions options{.wait_seconds = BundleWriter::kWaitSeconds};
        writer_.begin_model(model, name, options);
        for (std::size_t i = 0; i < std::size(kLayouts); ++i)
            writer_.add({.stage = "contractions",
                         .name = fmt::format("{}, {}", name, kLayouts[i].name),
                         .program = i,
                         .sample = sample_of({{"rows", rows}}),
                         .bounds = precision.bounds});
    }

    void train(const std::string& name, SettingValues settings, const Precision& precision,
               const std::string& optimizer, std::int64_t src_len, std::int64_t tgt_len) {
        if (settings.empty()) settings = fovea::models::find_model(name)->small_settings;
        LoadedModel loaded = load_model(name, settings);
        loaded.dtype = precision.dtype;
        const CompiledModel model =
            compile(loaded, {translator_programs(loaded, {})[0]}, Kernels::of_gpu);
        const std::string title =
            fmt::format("{} ten steps of {}, {}", precision.name, name, optimizer);
        writer_.begin_model(model, title);
        writer_.add({.name = title,
                     .sample = sample_of({{"batch", 3},
                                          {"src_len", src_len},
                                          {"tgt_len", tgt_len},
                                          {"src_vocab", 13},
                                          {"tgt_vocab", 11}}),
                     .optimizer = optimizer,
                     .steps = quick_ ? 4 : 10,
                     .in_halves = is_half(precision.dtype)});
    }

    BundleWriter& writer_;
    bool quick_;
};

}  // namespace

void add_cases(BundleWriter& writer, const std::string& suite) {
    const bool quick = suite == "quick";
    const auto wants = [&](const std::string& stage) {
        return suite == "all" || quick || suite == stage;
    };
    Catalog catalog(writer, quick);
    if (wants("layouts")) catalog.layouts();
    if (wants("rows")) catalog.rows();
    if (wants("contractions")) catalog.contractions();
    if (wants("attention")) catalog.attention();
    if (wants("models")) catalog.models();
    if (wants("training")) catalog.training();
    if (wants("bench")) add_measurements(writer, quick);
}

}  // namespace fovea::tool
