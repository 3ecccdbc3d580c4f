// The sums of a register tile stay in registers: one in memory would be waited for at each step.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/emit/compiled_model.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

using namespace fovea;

namespace {

struct Instruction {
    std::string address, text;
};
using Function = std::vector<Instruction>;

std::string disassembly_of(const std::string& source) {
    tool::TemporaryFolder folder;
    const std::string object = folder.path() / "object.o";
    std::vector<std::string> command = tool::find_compiler();
    for (const std::string& flag : tool::generated_code_flags("avx2")) command.push_back(flag);
    for (const std::string& part :
         {std::string("-O3"), std::string("-c"), std::string("-I" FOVEA_SOURCE_DIR),
          std::string("-o"), object, FOVEA_SOURCE_DIR "/tests/emit/" + source})
        command.push_back(part);
    tool::compile_generated(command);
    const tool::ProcessResult printed =
        tool::run_process({"objdump", "-d", "--no-show-raw-insn", object});
    REQUIRE(printed.status == 0);
    return printed.output;
}

std::vector<Function> instructions_of(const std::string& disassembly) {
    std::vector<Function> functions;
    const std::regex instruction("^\\s*([0-9a-f]+):\\s+(.*)$");
    std::istringstream lines(disassembly);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with(">:")) functions.emplace_back();
        else if (!functions.empty() && std::regex_match(line, match, instruction))
            functions.back().push_back({match[1], match[2]});
    }
    return functions;
}

/// Innermost loops: from where a jump leads back, without another such jump inside.
std::vector<Function> loops_of(const Function& function) {
    std::map<std::string, std::size_t> at;
    std::vector<Function> loops;
    const std::regex jump("^j\\w+\\s+([0-9a-f]+).*$");
    std::size_t last_jump = 0;
    std::smatch match;
    for (std::size_t i = 0; i < function.size(); ++i) {
        at[function[i].address] = i;
        if (!std::regex_match(function[i].text, match, jump)) continue;
        const auto target = at.find(match[1]);
        if (target == at.end()) continue;
        if (target->second > last_jump)
            loops.emplace_back(function.begin() + long(target->second),
                               function.begin() + long(i) + 1);
        last_jump = i;
    }
    return loops;
}

long count(const Function& loop, const std::string& pattern) {
    const std::regex expression(pattern);
    return std::ranges::count_if(loop, [&](const Instruction& instruction) {
        return std::regex_search(instruction.text, expression);
    });
}

}  // namespace

#if defined(__x86_64__)
TEST_CASE("sums of products stay in registers") {
    constexpr int kTile = 12;  // registers of sums
    int tiles = 0;
    for (const Function& function : instructions_of(disassembly_of("register_tiles.cpp")))
        for (const Function& loop : loops_of(function)) {
            if (count(loop, "^vfmadd.*ymm") < kTile) continue;
            ++tiles;
            std::string text;
            for (const Instruction& instruction : loop) text += instruction.text + "\n";
            CHECK_MESSAGE(count(loop, "^vmov\\w+\\s+%ymm\\d+,.*\\(%r[sb]p") == 0, text);
        }
    CHECK(tiles >= 8);
}
#endif
