// PTX text as it stands: functions of instructions with their operands, names resolved. What the
// instructions mean is for decode.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "codegen/ptx/text/type.h"

namespace fovea::ptx {

/// Text that is no PTX, or PTX that the interpreter does not know; the sentence names the line.
struct ParseError : UserError {
    ParseError(int line, const std::string& what);
    int line;  // from 1
};

/// Limits, so that no text takes all memory: bytes of a variable and of all that share a space;
/// registers and instructions of a function, or of a kernel with all that it calls.
constexpr std::uint64_t kLargestVariable = std::uint64_t(1) << 28;
constexpr std::uint32_t kMostVirtualRegisters = 1u << 20;
constexpr std::size_t kMostOperations = std::size_t(1) << 20;

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

struct Variable {
    std::string name = {};
    Space space = Space::global;
    Type type = Type::b8;
    std::uint64_t bytes = 0;  // 0: as much shared memory as the launch says
    unsigned alignment = 1;
    std::vector<std::byte> initial = {};  // empty: zeros
};

struct Register {
    std::string name;
    Type type = Type::b32;
};

struct Operand {
    enum class Kind : std::uint8_t {
        sink,      // _
        reg,       // `index` in the function's registers
        special,   // %tid.x, by `name`
        integer,   // `bits`
        float32,   // `bits`
        float64,   // `bits`
        variable,  // the address of a variable, plus `offset`
        label,     // `index`: an instruction of the body
        targets,   // a list of labels in `parts`
        function,  // by `name`
        address,   // [base + offset] with the base in parts[0]; then coordinates, if any
        list,      // {a, b} in `parts`
        pair,      // a|b in `parts`
    };
    Kind kind = Kind::sink;
    bool negated = false;  // !%p
    bool of_function = false;  // a variable: declared in the function, not in the module
    int index = -1;
    std::uint64_t bits = 0;
    std::int64_t offset = 0;
    std::string name = {};
    std::vector<Operand> parts = {};
};

struct Instruction {
    std::string opcode;                  // the part before the first dot
    std::vector<std::string> modifiers;  // the parts after it, without dots
    int guard = -1;                      // a predicate register
    bool guard_negated = false;
    std::vector<Operand> operands;
    int line = 0;

    /// "add.s32".
    std::string spelling() const;
};

struct Function {
    std::string name;
    bool kernel = false;
    std::vector<Register> registers;
    std::vector<Variable> variables;  // results first, then parameters, then what the body declares
    int results = 0, parameters = 0;
    std::vector<Instruction> body;
    int line = 0;
};

struct Text {
    std::vector<Variable> variables;
    std::map<std::string, Function> functions;
    std::vector<std::string> lines;  // of the text, for messages
};

/// Reads a module's text; throws ParseError.
Text parse_text(const std::string& text);

}  // namespace fovea::ptx
