// Functions are decoded where they are called, so that a call costs nothing and every register is
// a slot of the kernel.
#include "codegen/ptx/decode.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::ptx {
namespace {

constexpr std::size_t kDeepest = 32;  // calls inside calls

/// The place of dynamic shared memory until the size of the static one is known.
constexpr std::uint64_t kDynamicShared = ~std::uint64_t(0);

const OpcodeTable& opcodes() {
    static const OpcodeTable table = [] {
        OpcodeTable made;
        for (auto add : {add_integer, add_bits, add_floating, add_convert, add_move, add_compare,
                         add_memory, add_atomic, add_control, add_warp, add_barrier, add_mbarrier,
                         add_copy, add_matrix, add_wgmma})
            add(made);
        return made;
    }();
    return table;
}

std::uint64_t rounded(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

void exit_lanes(Warp&, const Op&, Mask) {}

}  // namespace

bool Modifiers::take(std::string_view name) {
    const auto found = std::find(left_.begin(), left_.end(), name);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
}

void Modifiers::ignore(std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) take(name);
}

std::optional<std::size_t> Modifiers::take_one(std::initializer_list<std::string_view> names) {
    std::size_t i = 0;
    for (std::string_view name : names) {
        if (take(name)) return i;
        ++i;
    }
    return std::nullopt;
}

std::optional<Type> Modifiers::take_type() {
    for (auto at = left_.begin(); at != left_.end(); ++at)
        if (const auto type = type_named(*at)) {
            left_.erase(at);
            return type;
        }
    return std::nullopt;
}

Type Modifiers::type() {
    if (const auto type = take_type()) return *type;
    throw ParseError(instruction_.line, fmt::format("{} names no type", instruction_.spelling()));
}

Space Modifiers::space() {
    ignore({"cta"});
    if (take("global")) return Space::global;
    if (take("shared") || take("shared::cta") || take("shared::cluster")) return Space::shared;
    if (take("local")) return Space::local;
    if (take("param") || take("param::entry") || take("param::func")) return Space::param;
    if (take("const")) return Space::constant;
    return Space::generic;
}

std::optional<std::string> Modifiers::take_prefix(std::string_view prefix) {
    for (auto at = left_.begin(); at != left_.end(); ++at)
        if (at->starts_with(prefix)) {
            std::string rest = at->substr(prefix.size());
            left_.erase(at);
            return rest;
        }
    return std::nullopt;
}

void Modifiers::finish() const {
    if (!left_.empty())
        throw ParseError(instruction_.line, fmt::format("the interpreter does not know '.{}' of {}",
                                                        left_[0], instruction_.spelling()));
}

Program decode(const Text& text, const Function& kernel) {
    Program program;
    program.name = kernel.name;
    Decoder(text, program).kernel(kernel);
    for (Op& op : program.ops) op.slots = program.slots.data() + op.first_slot;
    set_reconvergence(program);
    return program;
}

void Decoder::kernel(const Function& function) {
    kernel_line_ = function.line;
    place_module_variables(function);
    Frame frame{&function, {}, {}, {}, {}, {}};
    for (const Variable& variable : function.variables) {
        if (variable.space != Space::param || int(frame.variables.size()) >= function.parameters)
            break;
        program_.parameter_bytes = rounded(program_.parameter_bytes, variable.alignment);
        frame.variables.push_back({Space::param, program_.parameter_bytes});
        program_.parameters.push_back({variable.name, program_.parameter_bytes, variable.bytes});
        program_.parameter_bytes += variable.bytes;
    }
    body(std::move(frame));
    program_.local_bytes = std::uint32_t(rounded(program_.local_bytes, 16));
    program_.register_bytes = std::uint32_t(rounded(program_.register_bytes, 64));
}

void Decoder::place_module_variables(const Function& kernel) {
    std::uint64_t at = kVariableWindow;
    for (const Variable& variable : text_.variables)
        if (variable.space == Space::shared && variable.bytes) {
            module_places_.push_back({Space::shared, place_shared(variable)});
        } else if (variable.space == Space::shared) {
            module_places_.push_back({Space::shared, kDynamicShared});
            dynamic_alignment_ = std::max(dynamic_alignment_, variable.alignment);
        } else {
            at = rounded(at, std::max(variable.alignment, 256u));
            module_places_.push_back({variable.space, at});
            program_.globals.push_back(
                {at, variable.bytes, variable.initial, variable.space == Space::global});
            at += variable.bytes + 256;
        }
    // Dynamic shared memory follows that of the kernel and of all the functions that it calls.
    std::set<const Function*> reached;
    place_shared_of(kernel, reached);
    program_.static_shared = std::uint32_t(rounded(program_.static_shared, dynamic_alignment_));
    for (Place& place : module_places_)
        if (place.address == kDynamicShared) place.address = program_.static_shared;
}

/// Places the shared variables of a function and of those that it calls, once.
void Decoder::place_shared_of(const Function& function, std::set<const Function*>& reached) {
    if (!reached.insert(&function).second) return;
    for (const Variable& variable : function.variables)
        if (variable.space == Space::shared) shared_places_[&variable] = place_shared(variable);
    for (const Instruction& instruction : function.body)
        for (const Operand& operand : instruction.operands)
            if (operand.kind == Operand::Kind::function)
                if (const auto called = text_.functions.find(operand.name);
                    called != text_.functions.end())
                    place_shared_of(called->second, reached);
}

/// The address of a variable behind the `bytes` of those before it, which grow by it.
std::uint32_t Decoder::place(const Variable& variable, std::uint32_t& bytes) const {
    const std::uint64_t at = rounded(bytes, variable.alignment);
    if (at + variable.bytes > kLargestVariable)
        fail(fmt::format("there are more than {} bytes of variables up to '{}'", kLargestVariable,
                         variable.name));
    bytes = std::uint32_t(at + variable.bytes);
    return std::uint32_t(at);
}

std::uint32_t Decoder::place_shared(const Variable& variable) {
    return place(variable, program_.static_shared);
}

std::uint32_t Decoder::place_local(const Variable& variable) {
    return place(variable, program_.local_bytes);
}

void Decoder::place_variables(Frame& frame) {
    for (std::size_t i = frame.variables.size(); i < frame.function->variables.size(); ++i) {
        const Variable& variable = frame.function->variables[i];
        if (variable.space == Space::shared)
            frame.variables.push_back({Space::shared, shared_places_.at(&variable)});
        else frame.variables.push_back({Space::local, place_local(variable)});
    }
}

void Decoder::body(Frame made) {
    place_variables(made);
    for (const Register& declared : made.function->registers)
        made.registers.push_back(new_slot(declared.type));
    frames_.push_back(std::move(made));
    const Function& function = *frames_.back().function;
    for (const Instruction& instruction : function.body) {
        frames_.back().starts.push_back(std::int32_t(program_.ops.size()));
        current_ = &instruction;
        const auto known = opcodes().find(instruction.opcode);
        if (known == opcodes().end())
            fail(fmt::format("the interpreter does not know '{}'", instruction.spelling()));
        Modifiers modifiers(instruction);
        known->second(*this, instruction, modifiers);
        modifiers.finish();
    }
    frames_.back().starts.push_back(std::int32_t(program_.ops.size()));
    if (frames_.size() == 1) {
        Op end;
        end.run = exit_lanes;
        end.flow = Flow::exit;
        end.line = function.body.empty() ? function.line : function.body.back().line;
        program_.ops.push_back(end);
    }
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    for (auto [op, target] : frame.branches)
        program_.ops[op].target =
            target < 0 ? frame.starts.back() : frame.starts[std::size_t(target)];
    for (auto [table, target] : frame.table_entries)
        program_.tables[table].push_back(frame.starts[std::size_t(target)]);
}

void Decoder::branch(const Instruction& instruction) {
    Op& op = emit(instruction, exit_lanes, {}, {});
    op.flow = Flow::branch;
    frames_.back().branches.push_back({program_.ops.size() - 1, instruction.operands[0].index});
}

void Decoder::branch_table(const Instruction& instruction) {
    require(instruction, 2);
    Op& op = emit(instruction, exit_lanes, {}, {source(instruction.operands[0], Type::u32)});
    op.flow = Flow::branch_table;
    op.target = std::int32_t(program_.tables.size());
    for (const Operand& target : instruction.operands[1].parts)
        frames_.back().table_entries.push_back({program_.tables.size(), target.index});
    program_.tables.emplace_back();
}

void Decoder::leave(const Instruction& instruction, bool whole_kernel) {
    Op& op = emit(instruction, exit_lanes, {}, {});
    if (whole_kernel || frames_.size() == 1) {
        op.flow = Flow::exit;
        return;
    }
    op.flow = Flow::branch;
    frames_.back().branches.push_back({program_.ops.size() - 1, -1});
}

void Decoder::call(const Instruction& instruction) {
    const Operand* callee = nullptr;
    std::vector<const Operand*> passed;
    for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::function && !callee) callee = &operand;
        else if (operand.kind == Operand::Kind::list)
            for (const Operand& part : operand.parts) passed.push_back(&part);
        else fail("only calls of functions by their names are interpreted");
    }
    const auto found = callee ? text_.functions.find(callee->name) : text_.functions.end();
    if (found == text_.functions.end())
        fail(fmt::format("'{}' is no function of the module", callee ? callee->name : "call"));
    if (instruction.guard >= 0) fail("a call under a guard is not interpreted");
    if (frames_.size() > kDeepest) fail("functions that call themselves are not interpreted");
    Frame frame{&found->second, {}, {}, {}, {}, {}};
    if (int(passed.size()) != found->second.results + found->second.parameters)
        fail(fmt::format("'{}' takes {} results and parameters, not {}", callee->name,
                         found->second.results + found->second.parameters, passed.size()));
    for (const Operand* operand : passed) {
        if (operand->kind != Operand::Kind::variable)
            fail("only parameters in .param space are interpreted");
        frame.variables.push_back(place_of(*operand));
    }
    const Instruction* const outer = current_;
    body(std::move(frame));
    current_ = outer;
}

}  // namespace fovea::ptx
