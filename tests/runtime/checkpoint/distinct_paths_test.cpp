// Files that a command writes, beside those that it reads.
#include "runtime/checkpoint/distinct_paths.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;

TEST_CASE("what is written is no file of a checkpoint that is read, and not the same twice") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
    for (const char* name : {"config.json", "tokenizer.json", "model-00001-of-00002.safetensors",
                             "adapter_model.safetensors", "notes.txt"})
        std::ofstream(path + "/" + name) << "";
    const auto said = [&](const std::string& written) -> std::string {
        try {
            verify_distinct({{"--weights", written}, {"--log", path + "/log"}},
                            {{"--init", path}, {"--tokenizer", path}, {"--data", path + "/d"}});
            return "nothing";
        } catch (const UserError& error) {
            return error.what();
        }
    };
    for (const char* name : {"config.json", "tokenizer.json", "model-00001-of-00002.safetensors",
                             "adapter_model.safetensors"}) {
        const std::string file = path + "/" + name;
        CHECK(said(file) == "--init and --weights are one file, '" + file + "'");
    }
    for (const char* name : {"notes.txt", "new.safetensors"})
        CHECK(said(path + "/" + name) == "nothing");
    CHECK(said(path + "/d") == "--data and --weights are one file, '" + path + "/d'");
    CHECK(said(path + "/./log") == "--weights and --log are one file, '" + path + "/log'");
}
