#include "runtime/device/code_json.h"

#include <doctest/doctest.h>

#include "runtime/device/on_device.h"
#include "runtime/error.h"
#include "runtime/session.h"
#include "tests/device/scaled_model.h"
#include "tools/fovea/device/interpreter_device.h"

using namespace fovea;
using namespace fovea::runtime::device;

namespace {

std::map<std::string, std::string> texts_of(const Code& code) {
    std::map<std::string, std::string> texts;
    for (const Module& module : code.modules) texts[module.architecture] = module.text;
    return texts;
}

}  // namespace

TEST_CASE("launch tables come back from JSON as they were, and run") {
    const auto code = test::scaled_code();
    const std::string tables = launch_tables(*code).text();
    const auto read = std::make_shared<Code>(read_code(tables, texts_of(*code)));
    CHECK(launch_tables(*read).text() == tables);
    CHECK(tables.find(R"("grid":[["batch*in",64]])") != std::string::npos);
    test::check_scaled_model(std::make_shared<tool::InterpreterDevice>(), read);
}

TEST_CASE("tables that lack something are refused") {
    const auto code = test::scaled_code();
    const std::string tables = launch_tables(*code).text();
    CHECK_THROWS_WITH_AS(read_code(tables, {{"sm_80", ""}}),
                         "the PTX of the kernels for sm_90 is missing", runtime::UserError);
    CHECK_THROWS_WITH_AS(read_code("{\"dims\":[]}", {}), "the tables of kernels have no 'programs'",
                         runtime::UserError);
}
