// Schedules: what is printed is read, what is wrong is refused with its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "codegen/base/error.h"
#include "codegen/target/schedule.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

target::Targets read(const std::string& text) {
    target::Targets targets;
    read_schedule(text, "my.schedule", targets);
    return targets;
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// One line for each number of both targets, each at the other end of its range.
std::string changed_schedule() {
    std::string text;
    for (const target::ScheduleEntry& entry : target::schedule_entries())
        text += entry.name + " = " + target::text_of(entry.limits.most) + "\n";
    return text;
}

}  // namespace

TEST_CASE("a printed schedule reads as what it prints") {
    const target::Targets usual;
    for (const target::Target* target : {&usual.cpu, &usual.gpu}) {
        const std::string text = print(*target);
        const target::Targets again = read(text);
        CHECK(print(target->is_gpu() ? again.gpu : again.cpu) == text);
    }
    const target::Targets changed = read(changed_schedule());
    CHECK(print(changed.cpu) != print(usual.cpu));
    CHECK(print(changed.gpu) != print(usual.gpu));
    const target::Targets again = read(print(changed.cpu) + print(changed.gpu));
    CHECK(print(again.cpu) == print(changed.cpu));
    CHECK(print(again.gpu) == print(changed.gpu));
}

TEST_CASE("every number has a value in its range, and is printed once") {
    const target::Targets usual;
    CHECK(read(print(usual.cpu) + print(usual.gpu)).gpu.gpus.size() == 3);
    for (const target::ScheduleEntry& entry : target::schedule_entries()) {
        CAPTURE(entry.name);
        CHECK(takes(entry.limits, entry.limits.least));
        CHECK(takes(entry.limits, entry.limits.most));
        CHECK(!entry.about.empty());
        const auto& all = target::schedule_entries();
        CHECK(std::ranges::count(all, entry.name, &target::ScheduleEntry::name) == 1);
    }
}

TEST_CASE("numbers of one architecture, of all, and of the other target") {
    const target::Targets targets = read(
        "gpu.rows.threads = 128\n"
        "sm_90.rows.threads = 64  # of this one\n"
        "\n"
        "  # nothing\n"
        "cpu.contraction.rows=4\r\n"
        "cpu.attention.patience = 2.5\n");
    CHECK(targets.gpu.gpus[0].rows.threads == 128);
    CHECK(targets.gpu.gpus[1].rows.threads == 64);
    CHECK(targets.gpu.gpus[2].rows.threads == 128);
    CHECK(targets.cpu.cpu.contraction.rows == 4);
    CHECK(targets.cpu.lowering.attention.patience == 2.5);
    CHECK(targets.gpu.lowering.attention.patience == target::Lowering().attention.patience);
    const std::string text = print(targets.gpu);
    for (const char* line : {"sm_80.rows.threads = 128", "sm_90.rows.threads = 64"})
        CHECK(text.find(line) != text.npos);
    CHECK(text.find("\ngpu.rows.threads") == text.npos);
}

TEST_CASE("a schedule with a mistake is refused, with its place") {
    CHECK(refusal("\ncpu.contraction.row = 4\n") ==
          "my.schedule:2: a schedule has no number 'cpu.contraction.row': did you mean "
          "'cpu.contraction.rows'?");
    CHECK(refusal("tile") == "my.schedule:1: 'tile' is no line `name = value`");
    CHECK(refusal("speed = 9") ==
          "my.schedule:1: a schedule has no number 'speed'; --stage schedule prints all");
    CHECK(refusal("gpu.rows.threads = 100") ==
          "my.schedule:1: gpu.rows.threads is a power of two from 32 to 512, not '100'");
    CHECK(refusal("cpu.tiles.length = 40") ==
          "my.schedule:1: cpu.tiles.length is a multiple of 16 from 16 to 256, not '40'");
    CHECK(refusal("cpu.row_blocks = 2.5") ==
          "my.schedule:1: cpu.row_blocks is a whole number from 1 to 1024, not '2.5'");
    CHECK(refusal("cpu.row_blocks = many") ==
          "my.schedule:1: cpu.row_blocks is a whole number from 1 to 1024, not 'many'");
    CHECK(refusal("cpu.row_blocks =") ==
          "my.schedule:1: cpu.row_blocks is a whole number from 1 to 1024, not ''");
    CHECK(refusal("cpu.attention.patience = nan") ==
          "my.schedule:1: cpu.attention.patience is a number from 0 to 1000, not 'nan'");
}

}  // namespace fovea::tool
