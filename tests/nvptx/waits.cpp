#include "tests/nvptx/waits.h"

#include <sstream>

#include "codegen/ptx/fault.h"

namespace fovea::test {

namespace {

bool is_wait(const std::string& line) {
    for (const char* word : {"bar.sync", "fence", "wait_", "mbarrier."})
        if (line.find(word) != line.npos) return true;
    return false;
}

/// What stands in the place of a wait: nothing, or for one that has a result that it is over.
std::string without_waiting(const std::string& line) {
    const std::size_t result = line.find(" done, ");
    return result == line.npos ? "" : "setp.eq.u32 done, 0, 0;";
}

bool is_noticed(const Emitted& emitted, const kernel::DimValues& dims,
                const std::function<Arrays()>& start, const Arrays& right) {
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        Arrays arrays = start();
        try {
            run_ptx(emitted, 0, dims, arrays, schedule);
        } catch (const ptx::Fault&) {
            return true;
        }
        if (!same_bits(arrays, right)) return true;
    }
    return false;
}

}  // namespace

Waits waits_of(Emitted emitted, const kernel::DimValues& dims,
               const std::function<Arrays()>& arrays) {
    Arrays right = arrays();
    run_ptx(emitted, 0, dims, right);
    Waits waits;
    const std::string& text = emitted.ptx.text;
    std::istringstream lines(text);
    std::string line;
    for (std::size_t begin = 0; std::getline(lines, line); begin += line.size() + 1) {
        if (!is_wait(line)) continue;
        ++waits.all;
        std::string without = text;
        emitted.module = ptx::parse(without.replace(begin, line.size(), without_waiting(line)));
        if (!is_noticed(emitted, dims, arrays, right)) waits.unneeded.push_back(line);
    }
    return waits;
}

}  // namespace fovea::test
