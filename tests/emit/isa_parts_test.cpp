// What the compilation for a newer machine may give to the linker: names of its own alone. A
// template of the library, or an inline function of the runtime, compiled there could be the copy
// that the linker keeps, and would crash an older machine.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "runtime/isa.h"
#include "tests/emit/compiled_model.h"
#include "tests/emit/sample_kernels.h"
#include "tests/random_seed.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/process.h"

using namespace fovea;

namespace {

namespace fs = std::filesystem;

/// Kernels of every form, all random and elementary functions among them.
plan::Model all_forms() {
    std::vector<kernel::Kernel> kernels = test::sample_row_kernels();
    const std::vector<kernel::Kernel> contractions = test::sample_contractions();
    kernels.insert(kernels.end(), contractions.begin(), contractions.begin() + 4);
    const std::vector<kernel::Kernel> halves = test::sample_bfloat16_contractions();
    kernels.insert(kernels.end(), halves.begin(), halves.begin() + 2);
    return test::model_of_kernels("all_forms", kernels);
}

/// The mangled names that an object defines for others.
std::vector<std::string> defined_names(const std::string& object) {
    const tool::ProcessResult result =
        tool::run_process({"nm", "--extern-only", "--defined-only", "--format=posix", object});
    REQUIRE_MESSAGE(result.status == 0, result.output);
    std::vector<std::string> names;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);)
        names.push_back(line.substr(0, line.find(' ')));
    return names;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the kernels of an instruction set define names of theirs alone") {
    if (!fovea::test::has_turn(0, 2)) return;
    const plan::Model model = all_forms();
    tool::TemporaryFolder folder;
    const std::vector<std::string> isas = {"amx_bf16", "avx512_bf16", "avx512_vnni",
                                           "avx512",   "avx2",        "baseline"};
    tool::write_generated(model, folder.path(), isas);
    fs::create_directory_symlink(FOVEA_SOURCE_DIR "/runtime", folder.path() / "fovea");
    const std::vector<std::string> objects = tool::compile_objects(model, folder.path(), isas, {});
    // Parts for each instruction set, of which one has the table of programs; a description.
    REQUIRE(objects.size() % isas.size() == 1);
    const std::string sources = (folder.path() / "all_forms_part").string();
    for (const std::string& isa : isas) {
        const std::string part = std::to_string(isa.size()) + isa;
        std::size_t parts = 0, tables = 0;
        for (const std::string& object : objects) {
            if (!object.starts_with(sources) || !object.ends_with("." + isa + ".o")) continue;
            ++parts;
            for (const std::string& name : defined_names(object)) {
                CAPTURE(name);
                if (has(name, "5fovea9generated" + part)) ++tables;
                else if (name != "DW.ref.__gxx_personality_v0" && name != "__clang_call_terminate")
                    CHECK(has(name, "5fovea3cpu" + part));
            }
        }
        CHECK(parts == objects.size() / isas.size());
        CHECK(tables == 1);
    }
    // The description, which does define names of the library, has no kernels.
    for (const std::string& name : defined_names((folder.path() / "description.o").string()))
        for (std::string_view isa : runtime::isa_names()) {
            CAPTURE(name);
            CHECK(!has(name, "5fovea3cpu" + std::to_string(isa.size()) + std::string(isa)));
        }
}
