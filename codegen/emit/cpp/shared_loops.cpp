#include "codegen/emit/cpp/shared_loops.h"

namespace fovea::emit {

namespace {

std::string count_of(const SharedLoop& loop) {
    if (loop.step.empty()) return loop.extent.text;
    return "tiles_of(" + loop.extent.text + ", " + loop.step + ")";
}

/// The variable at a point, whose number along the loop is `number`.
std::string value_at(const SharedLoop& loop, const std::string& number) {
    if (loop.step.empty()) return number;
    std::string steps = number + " * " + loop.step;
    if (!loop.last_first) return steps;
    return "last_tile(" + loop.extent.text + ", " + loop.step + ") - " + steps;
}

}  // namespace

void open_shared_loops(const std::vector<SharedLoop>& loops, Signature& signature, Writer& writer,
                       std::string points) {
    if (loops.empty()) return writer.open("if (is_first_thread())");
    for (const SharedLoop& loop : loops)
        points += (points.back() == '(' ? "" : ", ") + count_of(loop);
    points += ")";
    if (loops.size() == 1) {
        const SharedLoop& loop = loops[0];
        const bool is_number = loop.step.empty();
        const std::string number = is_number ? loop.variable : signature.fresh("tile");
        writer.open("for (const i64 " + number + " : " + points + ")");
        if (!is_number)
            writer.line("const i64 " + loop.variable + " = " + value_at(loop, number) + ";");
        return;
    }
    const std::string at = signature.fresh("at");
    writer.open("for (const auto " + at + " : " + points + ")");
    std::string values;
    for (std::size_t i = 0; i < loops.size(); ++i)
        values += (i ? ", " : "") + loops[i].variable + " = " +
                  value_at(loops[i], at + "[" + std::to_string(i) + "]");
    writer.line("const i64 " + values + ";");
}

}  // namespace fovea::emit
