// From PTX text to a Program. Each family of opcodes has a file of its own with the functions over
// lanes and, at its end, a table from opcodes to the functions that decode them.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/ptx/program.h"

namespace fovea::ptx {

Program decode(const Text& text, const Function& kernel);

/// The parts of an opcode after its first dot, taken one after the other; those that nobody takes
/// are forms that the interpreter does not know.
class Modifiers {
  public:
    explicit Modifiers(const Instruction& instruction)
        : instruction_(instruction), left_(instruction.modifiers) {}

    bool take(std::string_view name);
    /// Takes any of the names, whatever they mean: they change nothing here.
    void ignore(std::initializer_list<std::string_view> names);
    /// The index of the name that stands there.
    std::optional<std::size_t> take_one(std::initializer_list<std::string_view> names);
    std::optional<Type> take_type();
    Type type();
    Space space();
    /// Takes a modifier that starts like that and returns the rest.
    std::optional<std::string> take_prefix(std::string_view prefix);
    /// Throws ParseError where something is left.
    void finish() const;

  private:
    const Instruction& instruction_;
    std::vector<std::string> left_;
};

class Decoder {
  public:
    Decoder(const Text& text, Program& program) : text_(text), program_(program) {}

    void kernel(const Function& function);

    /// Appends an operation with the guard of the instruction.
    Op& emit(const Instruction& instruction, Handler run, std::initializer_list<Slot> results,
             std::initializer_list<Slot> sources);
    Op& emit(const Instruction& instruction, Handler run, const std::vector<Slot>& results,
             const std::vector<Slot>& sources);

    /// The slot of an operand of that type; registers must have its width, or, if `wider`, at
    /// least its width.
    Slot source(const Operand& operand, Type type, bool wider = false);
    Slot result(const Operand& operand, Type type, bool wider = false);
    /// The slots of {a, b, c}, or of a single operand.
    std::vector<Slot> sources(const Operand& operand, Type type, bool wider = false);
    std::vector<Slot> results(const Operand& operand, Type type, bool wider = false);
    Slot predicate(const Operand& operand) { return source(operand, Type::pred); }
    Slot constant(std::uint64_t bits, Type type);

    struct Address {
        Slot base;
        std::int64_t offset;
        Space space;  // that of the variable, if the base is one, or else generic
    };
    Address address(const Operand& operand);
    /// The address with its offset added.
    Slot whole_address(const Operand& operand);

    /// The whole number that the operand must be.
    std::int64_t integer(const Operand& operand) const;

    /// Faults unless there are that many operands.
    void require(const Instruction& instruction, std::size_t operands) const;
    [[noreturn]] void fail(const std::string& what) const;

    /// What a parameter's address means here: in the kernel, or in a function called by it.
    Space parameter_space() const { return frames_.size() > 1 ? Space::local : Space::param; }

    const Instruction& current() const { return *current_; }

    /// The kernel works in warpgroups: registers that products use are watched.
    void use_wgmma() { program_.uses_wgmma = true; }

    void branch(const Instruction& instruction);
    void branch_table(const Instruction& instruction);
    void leave(const Instruction& instruction, bool whole_kernel);
    void call(const Instruction& instruction);

  private:
    struct Place {
        Space space;
        std::uint64_t address;
    };
    struct Frame {
        const Function* function;
        std::vector<Slot> registers;
        std::vector<Place> variables;
        std::vector<std::int32_t> starts;  // by instruction: its first operation
        std::vector<std::pair<std::size_t, int>> branches;  // operation, instruction; -1: the end
        std::vector<std::pair<std::size_t, int>> table_entries;  // table, instruction
    };

    void body(Frame frame);
    void place_variables(Frame& frame);
    void place_module_variables(const Function& kernel);
    void place_shared_of(const Function& function, std::set<const Function*>& reached);
    std::uint32_t place(const Variable& variable, std::uint32_t& bytes) const;
    std::uint32_t place_shared(const Variable& variable);
    std::uint32_t place_local(const Variable& variable);
    Slot new_slot(Type type);
    Slot special(const std::string& name);
    Slot fit(const Slot& slot, Type type, bool wider) const;
    std::uint64_t immediate(const Operand& operand, Type type) const;
    const Place& place_of(const Operand& operand) const;

    const Text& text_;
    Program& program_;
    std::vector<Frame> frames_;
    std::vector<Place> module_places_;
    std::map<const Variable*, std::uint32_t> shared_places_;  // of functions
    std::map<std::pair<std::uint64_t, Type>, Slot> constants_;
    std::map<std::string, Slot> specials_;
    std::uint32_t dynamic_alignment_ = 16;
    const Instruction* current_ = nullptr;
    int kernel_line_ = 0;
};

using DecodeFunction = void (*)(Decoder&, const Instruction&, Modifiers&);
using OpcodeTable = std::map<std::string_view, DecodeFunction>;

/// The families.
void add_integer(OpcodeTable& table);
void add_bits(OpcodeTable& table);
void add_floating(OpcodeTable& table);
void add_convert(OpcodeTable& table);
void add_move(OpcodeTable& table);
void add_compare(OpcodeTable& table);
void add_memory(OpcodeTable& table);
void add_atomic(OpcodeTable& table);
void add_control(OpcodeTable& table);
void add_warp(OpcodeTable& table);
void add_barrier(OpcodeTable& table);
void add_mbarrier(OpcodeTable& table);
void add_copy(OpcodeTable& table);
void add_matrix(OpcodeTable& table);
void add_wgmma(OpcodeTable& table);

/// cp.async.bulk, a part of the family of cp.async.
void decode_bulk(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers);

/// Sets where the lanes that part at each branch meet again.
void set_reconvergence(Program& program);

}  // namespace fovea::ptx
