// What peers are compared with is built where they are; here it is compiled.
#include <doctest/doctest.h>

#include <filesystem>

#include "tools/fovea/process.h"

using namespace fovea;
using namespace fovea::tool;

TEST_CASE("the server of tools/peers fits the runtime") {
    namespace fs = std::filesystem;
    const fs::path sources = FOVEA_SOURCE_DIR;
    const TemporaryFolder folder;
    fs::create_directory_symlink(sources / "runtime", folder.path() / "fovea");
    write_temporary(folder.path() / "served.h",
                    "#include \"fovea/program.h\"\n"
                    "const fovea::runtime::Model& served_model();\n");
    const ProcessResult result = run_process(
        {"g++", "-std=c++20", "-fsyntax-only", "-fopenmp", "-Wall", "-Werror", "-Wno-psabi", "-I",
         folder.path().string(), "-DSERVED_HEADER=\"served.h\"", "-DSERVED_MODEL=served_model",
         (sources / "tools" / "peers" / "server" / "serve.cpp").string()});
    CHECK_MESSAGE(result.status == 0, result.output);
}
