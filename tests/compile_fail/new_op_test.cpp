// Which files a new op touches: those that name what is like it. One of each kind is added to a
// copy of the sources that holds nothing but these files, and the reference runs it.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::tool;

const fs::path kTree = FOVEA_SOURCE_DIR;
const fs::path kNewOps = kTree / "tests/compile_fail/cases/new_ops";

/// A line that goes before the first line of a file that holds `anchor`, from the last one that
/// holds `after` on.
struct Edit {
    const char* file;
    const char* after;
    const char* anchor;
    const char* text;
};

std::string text_of_file(const fs::path& path) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// e^x - 1: a row, a builder and a gradient of one line, and the spellings.
const std::vector<Edit> kElementwise = {
    {"codegen/base/elementwise.h", "enum class Elementwise", "};", "    exp_minus_one,\n"},
    {"codegen/base/elementwise.h", "kElementwise[] =", "};",
     "    {Elementwise::exp_minus_one, \"exp_minus_one\", 1, false, Cost::many, Takes::floats, "
     "Works::floats,\n"
     "     [](double x, double, double) { return std::expm1(x); }},\n"},
    {"codegen/ops/elementwise.h", "", "constexpr Tensor log(",
     "constexpr Tensor exp_minus_one(Tensor x) { return unary(Elementwise::exp_minus_one, x); }\n"},
    {"codegen/ops/elementwise.cpp", "Tensor unary_gradient(",
     "default:", "        case Elementwise::exp_minus_one: return dy * (y + 1.0);\n"},
    {"codegen/emit/cpp/expression.cpp", "kSpellings[] =", "};",
     "    {Elementwise::exp_minus_one, Notation::call, Binding::primary, \"exp_minus_one\", "
     "\"exp_minus_one\", true},\n"},
    {"codegen/emit/nvptx/elementwise.cpp", "case Elementwise::exp:", "case Elementwise::log:",
     "        case Elementwise::exp_minus_one: return ir.CreateFSub(f.exp(x[0]), f.number(1));\n"},
};

/// x - log Σ e^x, in a family of its own.
const std::vector<Edit> kComposite = {
    {"codegen/graph/op.h", "enum class Op ", "    // kernels", "    log_softmax,\n"},
    {"codegen/graph/op.h", "kOps[] =", "{Op::fused_attention",
     "    {Op::log_softmax, \"log_softmax\", OpClass::composite},\n"},
    {"codegen/ops/definitions.h", "", "OpDef fused_attention_def", "OpDef log_softmax_def();\n"},
    {"codegen/ops/op_defs.cpp", "", "fused_attention_def()", "            log_softmax_def(),\n"},
    {"dsl/fovea.h", "", "#include \"codegen/ops/movement.h\"",
     "#include \"codegen/ops/log_softmax.h\"\n"},
};

/// Multiples of a number along one axis: a primitive.
const std::vector<Edit> kPrimitive = {
    {"codegen/graph/op.h", "enum class Op ", "    random,", "    ramp,\n"},
    {"codegen/graph/op.h", "kOps[] =", "{Op::random",
     "    {Op::ramp, \"ramp\", OpClass::elementwise},\n"},
    {"codegen/ops/definitions.h", "", "OpDef random_def", "OpDef ramp_def();\n"},
    {"codegen/ops/op_defs.cpp", "", "random_def()", "            ramp_def(),\n"},
    {"dsl/fovea.h", "", "#include \"codegen/ops/reduction.h\"",
     "#include \"codegen/ops/ramp.h\"\n"},
    {"codegen/lower/group_builder.cpp", "Id GroupBuilder::compute(", "case Op::random:",
     "        case Op::ramp:\n"
     "            return builder_.mul(builder_.index(aligned(1)[0]), "
     "builder_.constant(node.value));\n"},
};

/// The files that stand in the folder of the sources' copy.
void apply(const std::vector<Edit>& edits, const fs::path& copy) {
    for (const Edit& edit : edits) {
        const fs::path path = copy / edit.file;
        fs::create_directories(path.parent_path());
        if (!fs::exists(path)) fs::copy_file(kTree / edit.file, path);
        std::string text = text_of_file(path);
        const std::size_t from = text.find(edit.after);
        REQUIRE_MESSAGE(from != text.npos, edit.file << " holds no " << edit.after);
        const std::size_t at = text.find(edit.anchor, from);
        REQUIRE_MESSAGE(at != text.npos, edit.file << " holds no " << edit.anchor);
        text.insert(text.rfind('\n', at) + 1, edit.text);
        std::ofstream(path) << text;
    }
}

std::set<std::string> files_of(const std::vector<Edit>& edits) {
    std::set<std::string> files;
    for (const Edit& edit : edits) files.insert(edit.file);
    return files;
}

/// The sources that hold a word.
std::set<std::string> files_naming(const std::string& word) {
    std::set<std::string> files;
    const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (const char* folder : {"codegen", "dsl", "tools", "runtime"})
        for (const auto& entry : fs::recursive_directory_iterator(kTree / folder)) {
            const fs::path extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp") continue;
            const std::string text = text_of_file(entry.path());
            for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size())
                if ((at == 0 || !is_part(text[at - 1])) && !is_part(text[at + word.size()]))
                    files.insert(entry.path().lexically_relative(kTree).string());
        }
    return files;
}

void must_compile(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"g++", "-std=c++20", "-O0", "-Wall", "-Wextra"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = run_process(command);
    CHECK_MESSAGE(result.status == 0, first_error(result.output));
}

}  // namespace

TEST_CASE("what is like a new op is named by its family, its spellings and the lists alone") {
    for (const char* function : {"erf", "log", "rsqrt"}) {
        CAPTURE(function);
        CHECK(files_naming(std::string("Elementwise::") + function) == files_of(kElementwise));
    }
    const std::pair<const char*, const char*> composites[]{
        {"layer_norm", "layer_norm"},
        {"batch_norm", "batch_norm"},
        {"cross_entropy", "losses/cross_entropy"},
        {"smoothed_cross_entropy", "losses/cross_entropy"},
    };
    for (const auto& [op, family] : composites) {
        CAPTURE(op);
        const std::string file = std::string("codegen/ops/") + family;
        std::set<std::string> expected = files_of(kComposite);
        expected.erase("dsl/fovea.h");  // names the header
        expected.insert({file + ".h", file + ".cpp"});
        // The pass that fuses both with the product before them.
        if (file.find("losses/") != file.npos) expected.insert("codegen/group/fuse_loss.cpp");
        std::set<std::string> found = files_naming(std::string("Op::") + op);
        found.merge(files_naming(std::string(op) + "_def"));
        CHECK(found == expected);
    }
}

TEST_CASE("a new op of each kind compiles, is verified, and runs in the reference") {
    TemporaryFolder temporary;
    const fs::path copy = temporary.path() / "copy";
    for (const std::vector<Edit>* edits : {&kElementwise, &kComposite, &kPrimitive})
        apply(*edits, copy);
    for (const char* file : {"log_softmax.h", "log_softmax.cpp", "ramp.h", "ramp.cpp"})
        fs::copy_file(kNewOps / file, copy / "codegen/ops" / file);

    std::vector<std::string> sources{(kNewOps / "run.cpp").string()};
    for (const char* folder : {"graph", "ops", "reference", "autodiff"}) {
        std::set<std::string> names;
        for (const fs::path& root : {kTree / "codegen", copy / "codegen"})
            if (fs::exists(root / folder))
                for (const auto& entry : fs::recursive_directory_iterator(root / folder))
                    if (entry.path().extension() == ".cpp")
                        names.insert(entry.path().lexically_relative(root / folder).string());
        sources.push_back((temporary.path() / folder).string() + ".cpp");
        std::ofstream batch(sources.back());
        for (const std::string& name : names)
            batch << "#include \"codegen/" << folder << "/" << name << "\"\n";
    }

    const std::vector<std::string> include = {"-I" + copy.string(), "-I" + (copy / "dsl").string(),
                                              "-I" + kTree.string(),
                                              "-I" + (kTree / "dsl").string()};
    const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), include.begin(), include.end());
        return arguments;
    };
    const fs::path program = temporary.path() / "run";
    std::vector<std::string> whole = with(sources);
    whole.insert(whole.end(), {"-o", program.string(), "-lfmt"});
    must_compile(whole);
    const ProcessResult run = run_process({program.string()});
    CHECK(run.output == "");
    CHECK(run.status == 0);

    for (const char* file : {"emit/cpp/expression.cpp", "lower/group_builder.cpp"})
        must_compile(with({"-fsyntax-only", (copy / "codegen" / file).string()}));
    const std::string llvm = "/usr/lib/llvm-19/include";
    if (fs::exists(llvm))
        must_compile(with({"-isystem", llvm, "-fsyntax-only",
                           (copy / "codegen/emit/nvptx/elementwise.cpp").string()}));
}
