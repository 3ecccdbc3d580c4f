// Slots for operands.
#include <fmt/format.h>

#include <bit>

#include "codegen/ptx/decode.h"
#include "codegen/ptx/lanes.h"

namespace fovea::ptx {
namespace {

const std::map<std::string_view, Special>& special_names() {
    static const std::map<std::string_view, Special> names = {
        {"%tid.x", Special::tid_x},
        {"%tid.y", Special::tid_y},
        {"%tid.z", Special::tid_z},
        {"%ntid.x", Special::ntid_x},
        {"%ntid.y", Special::ntid_y},
        {"%ntid.z", Special::ntid_z},
        {"%ctaid.x", Special::ctaid_x},
        {"%ctaid.y", Special::ctaid_y},
        {"%ctaid.z", Special::ctaid_z},
        {"%nctaid.x", Special::nctaid_x},
        {"%nctaid.y", Special::nctaid_y},
        {"%nctaid.z", Special::nctaid_z},
        {"%laneid", Special::laneid},
        {"%warpid", Special::warpid},
        {"%nwarpid", Special::nwarpid},
        {"%lanemask_eq", Special::lanemask_eq},
        {"%lanemask_le", Special::lanemask_le},
        {"%lanemask_lt", Special::lanemask_lt},
        {"%lanemask_ge", Special::lanemask_ge},
        {"%lanemask_gt", Special::lanemask_gt},
        {"%dynamic_smem_size", Special::dynamic_shared},
        {"%total_smem_size", Special::total_shared},
        {"%smid", Special::zero},
        {"%nsmid", Special::one},
        {"%gridid", Special::zero},
        // Clusters of one block.
        {"%cluster_ctaid.x", Special::zero},
        {"%cluster_ctaid.y", Special::zero},
        {"%cluster_ctaid.z", Special::zero},
        {"%cluster_ctarank", Special::zero},
        {"%cluster_nctarank", Special::one},
        {"%cluster_nctaid.x", Special::one},
        {"%cluster_nctaid.y", Special::one},
        {"%cluster_nctaid.z", Special::one},
        {"%clusterid.x", Special::ctaid_x},
        {"%clusterid.y", Special::ctaid_y},
        {"%clusterid.z", Special::ctaid_z},
        {"%nclusterid.x", Special::nctaid_x},
        {"%nclusterid.y", Special::nctaid_y},
        {"%nclusterid.z", Special::nctaid_z},
    };
    return names;
}

void negate_predicate(Warp& warp, const Op& op, Mask mask) {
    Mask& to = warp.mask(op.result());
    to = (to & ~mask) | (~warp.mask(op.source()) & mask);
}

void add_offset(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        warp.set_bits(op.result(), lane,
                      warp.address(op.source(), lane) + std::uint64_t(op.immediate));
    });
}

}  // namespace

void Decoder::fail(const std::string& what) const {
    throw ParseError(current_ ? current_->line : kernel_line_, what);
}

void Decoder::require(const Instruction& instruction, std::size_t operands) const {
    if (instruction.operands.size() != operands)
        fail(fmt::format("{} takes {} operands, not {}", instruction.spelling(), operands,
                         instruction.operands.size()));
}

Op& Decoder::emit(const Instruction& instruction, Handler run, std::initializer_list<Slot> results,
                  std::initializer_list<Slot> sources) {
    return emit(instruction, run, std::vector<Slot>(results), std::vector<Slot>(sources));
}

Op& Decoder::emit(const Instruction& instruction, Handler run, const std::vector<Slot>& results,
                  const std::vector<Slot>& sources) {
    if (!run)
        fail(fmt::format("the interpreter does not know '{}' for these types",
                         instruction.spelling()));
    Op op;
    op.run = run;
    op.line = instruction.line;
    op.results = std::uint8_t(results.size());
    op.sources = std::uint16_t(sources.size());
    op.first_slot = std::uint32_t(program_.slots.size());
    program_.slots.insert(program_.slots.end(), results.begin(), results.end());
    program_.slots.insert(program_.slots.end(), sources.begin(), sources.end());
    if (instruction.guard >= 0) {
        op.guarded = true;
        op.guard_negated = instruction.guard_negated;
        op.guard = frames_.back().registers[std::size_t(instruction.guard)];
        if (op.guard.type != Type::pred) fail("a guard that is no predicate");
    }
    if (program_.ops.size() == kMostOperations)
        fail(fmt::format("a kernel has at most {} instructions, those that it calls among them",
                         kMostOperations));
    program_.ops.push_back(op);
    return program_.ops.back();
}

Slot Decoder::new_slot(Type type) {
    const std::uint32_t bytes = type == Type::pred ? 4 : bytes_of(type) * kLanes;
    const std::uint32_t alignment = type == Type::pred ? 4 : 32;
    if (program_.slot_count == kMostVirtualRegisters)
        fail(fmt::format("a kernel has at most {} registers, constants among them",
                         kMostVirtualRegisters));
    program_.register_bytes = (program_.register_bytes + alignment - 1) / alignment * alignment;
    const Slot slot{program_.register_bytes, program_.slot_count++, type};
    program_.register_bytes += bytes;
    return slot;
}

Slot Decoder::constant(std::uint64_t bits, Type type) {
    if (type != Type::pred) type = bits_type(bytes_of(type));
    if (type != Type::pred && bytes_of(type) < 8)
        bits &= (std::uint64_t(1) << (8 * bytes_of(type))) - 1;
    const auto [found, added] = constants_.try_emplace({bits, type});
    if (added) {
        found->second = new_slot(type);
        program_.constants.push_back({found->second, bits});
    }
    return found->second;
}

Slot Decoder::special(const std::string& name) {
    const auto known = special_names().find(name);
    if (known == special_names().end())
        fail(fmt::format("the interpreter does not know the register '{}'", name));
    const auto [found, added] = specials_.try_emplace(name);
    if (added) {
        found->second = new_slot(Type::u32);
        program_.specials.push_back({found->second, known->second});
    }
    return found->second;
}

Slot Decoder::fit(const Slot& slot, Type type, bool wider) const {
    const bool same_class = (slot.type == Type::pred) == (type == Type::pred);
    const bool width = wider ? slot.bytes() >= bytes_of(type) : slot.bytes() == bytes_of(type);
    if (!same_class || !width)
        fail(fmt::format("{} takes an operand of type {}, and the register's is {}",
                         current_->spelling(), name_of(type), name_of(slot.type)));
    return slot;
}

const Decoder::Place& Decoder::place_of(const Operand& operand) const {
    return operand.of_function ? frames_.back().variables[std::size_t(operand.index)]
                               : module_places_[std::size_t(operand.index)];
}

std::uint64_t Decoder::immediate(const Operand& operand, Type type) const {
    if (operand.kind == Operand::Kind::float32 && type == Type::f64)
        return std::bit_cast<std::uint64_t>(
            double(std::bit_cast<float>(std::uint32_t(operand.bits))));
    if (operand.kind == Operand::Kind::float64 && bytes_of(type) == 4)
        return std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(operand.bits)));
    return operand.bits;
}

Slot Decoder::source(const Operand& operand, Type type, bool wider) {
    switch (operand.kind) {
        case Operand::Kind::reg: {
            const Slot slot =
                fit(frames_.back().registers[std::size_t(operand.index)], type, wider);
            if (!operand.negated) return slot;
            if (type != Type::pred) fail("'!' stands only before predicates");
            const Slot negated = new_slot(Type::pred);
            emit(*current_, negate_predicate, {negated}, {slot});
            return negated;
        }
        case Operand::Kind::special: return fit(special(operand.name), type, wider);
        case Operand::Kind::integer:
        case Operand::Kind::float32:
        case Operand::Kind::float64: return constant(immediate(operand, type), type);
        case Operand::Kind::variable:
            return constant(place_of(operand).address + std::uint64_t(operand.offset), type);
        default: fail(fmt::format("an operand of {} is no value", current_->spelling()));
    }
}

Slot Decoder::result(const Operand& operand, Type type, bool wider) {
    if (operand.kind == Operand::Kind::sink) return new_slot(type);
    if (operand.kind != Operand::Kind::reg)
        fail(fmt::format("the result of {} is no register", current_->spelling()));
    return fit(frames_.back().registers[std::size_t(operand.index)], type, wider);
}

std::vector<Slot> Decoder::sources(const Operand& operand, Type type, bool wider) {
    if (operand.kind != Operand::Kind::list) return {source(operand, type, wider)};
    std::vector<Slot> slots;
    for (const Operand& part : operand.parts) slots.push_back(source(part, type, wider));
    return slots;
}

std::vector<Slot> Decoder::results(const Operand& operand, Type type, bool wider) {
    if (operand.kind != Operand::Kind::list) return {result(operand, type, wider)};
    std::vector<Slot> slots;
    for (const Operand& part : operand.parts) slots.push_back(result(part, type, wider));
    return slots;
}

Decoder::Address Decoder::address(const Operand& operand) {
    if (operand.kind != Operand::Kind::address)
        fail(fmt::format("an operand of {} is no address", current_->spelling()));
    const Operand& base = operand.parts[0];
    if (base.kind == Operand::Kind::variable) {
        const Place& place = place_of(base);
        return {constant(place.address, Type::b64), operand.offset, place.space};
    }
    if (base.kind == Operand::Kind::integer)
        return {constant(base.bits, Type::b64), operand.offset, Space::generic};
    if (base.kind != Operand::Kind::reg) fail("an address is a register or a variable");
    const Slot slot = frames_.back().registers[std::size_t(base.index)];
    if (slot.type == Type::pred || slot.bytes() < 4)
        fail("a register of fewer than 32 bits holds no address");
    return {slot, operand.offset, Space::generic};
}

Slot Decoder::whole_address(const Operand& operand) {
    const Address at = address(operand);
    if (!at.offset) return at.base;
    const Slot sum = new_slot(at.base.type);
    emit(*current_, add_offset, {sum}, {at.base}).immediate = at.offset;
    return sum;
}

std::int64_t Decoder::integer(const Operand& operand) const {
    if (operand.kind != Operand::Kind::integer)
        fail(fmt::format("an operand of {} must be a whole number", current_->spelling()));
    return std::int64_t(operand.bits);
}

}  // namespace fovea::ptx
