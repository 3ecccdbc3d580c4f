#include "codegen/emit/cpp/tiles/tile_readers.h"

#include <algorithm>

namespace fovea::emit {

using namespace kernel;

namespace {

/// Whether the value `id` is the load, or an expression of it that no statement has computed.
bool is_made_of(const TilePlan& plan, Id id, Id load) {
    if (id == load) return true;
    if (!as<Map>(plan.kernel, id) || plan.roots.contains(id)) return false;
    const std::vector<Id> operands = operands_of(plan.kernel, id);
    return std::any_of(operands.begin(), operands.end(),
                       [&](Id operand) { return is_made_of(plan, operand, load); });
}

bool node_reads(const TilePlan& plan, Id id, Id load) {
    if (id < 0) return false;
    const std::vector<Id> operands = operands_of(plan.kernel, id);
    return id == load || std::any_of(operands.begin(), operands.end(),
                                     [&](Id operand) { return is_made_of(plan, operand, load); });
}

bool statement_reads(const TilePlan& plan, const Statement& statement, Id load) {
    if (statement.kind == Statement::Kind::loop) {
        const std::vector<Statement>& inside = plan.blocks.at(statement.source);
        return std::any_of(inside.begin(), inside.end(),
                           [&](const Statement& it) { return statement_reads(plan, it, load); });
    }
    return node_reads(plan, statement.start, load) || node_reads(plan, statement.value, load) ||
           std::any_of(statement.roots.begin(), statement.roots.end(),
                       [&](Id root) { return node_reads(plan, root, load); });
}

}  // namespace

int first_reader(const TilePlan& plan, Id loop, Id load) {
    const std::vector<Statement>& block = plan.blocks.at(loop);
    const auto first = std::find_if(block.begin(), block.end(), [&](const Statement& statement) {
        return statement_reads(plan, statement, load);
    });
    return int(first - block.begin());
}

}  // namespace fovea::emit
