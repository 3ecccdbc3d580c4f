// A kernel decoded for speed: every operand is a slot of a warp's register file, every instruction
// a function over the 32 lanes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/ptx/text/syntax.h"

namespace fovea::ptx {

constexpr int kLanes = 32;

/// One bit a lane.
using Mask = std::uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

class Warp;
struct Op;

/// What an instruction does to the lanes of the mask, which are never none.
using Handler = void (*)(Warp&, const Op&, Mask);

/// A register: 32 lanes side by side, or one mask for a predicate. Constants and special registers
/// are slots that nothing writes.
struct Slot {
    std::uint32_t at = 0;      // bytes from the start of the register file
    std::uint32_t number = 0;  // among the slots
    Type type = Type::b32;

    unsigned bytes() const { return bytes_of(type); }
};

enum class Flow : std::uint8_t { next, branch, branch_table, exit, may_wait };

/// What is checked of an instruction's registers before it runs.
enum class Check : std::uint8_t {
    all,      // sources must be defined; results become defined
    passing,  // it passes undefined values on: its handler keeps the books
    none,     // its handler checks everything: asynchronous products
};

struct Op {
    Handler run = nullptr;
    Flow flow = Flow::next;
    bool guard_negated = false;
    Check check = Check::all;
    std::uint8_t results = 0;  // how many of the slots
    std::uint16_t sources = 0;
    Slot guard{};             // a predicate, if it has one
    bool guarded = false;
    std::int32_t target = -1;      // of a branch
    std::int32_t reconverge = -1;  // where lanes that part here meet again
    std::uint32_t first_slot = 0;  // in Program::slots
    const Slot* slots = nullptr;   // results, then sources
    std::int64_t immediate = 0;    // an offset, a count, flags: the handler knows
    std::int64_t extra = 0;
    std::int32_t line = 0;

    const Slot& result(int i = 0) const { return slots[i]; }
    const Slot& source(int i = 0) const { return slots[results + i]; }
};

/// Special registers that depend on the block or the lane.
enum class Special : std::uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    dynamic_shared,
    total_shared,
    zero,
    one,
};

struct Program {
    struct Constant {
        Slot slot;
        std::uint64_t bits;
    };
    struct SpecialSlot {
        Slot slot;
        Special special;
    };
    struct Parameter {
        std::string name;
        std::uint64_t at, bytes;
    };
    struct Global {
        std::uint64_t address;
        std::uint64_t bytes;
        std::vector<std::byte> initial;  // zeros follow
        bool writable;
    };

    std::string name;
    std::vector<Op> ops;
    std::vector<Slot> slots;                   // of the operands
    std::vector<std::vector<std::int32_t>> tables;  // of branch_table
    std::uint32_t slot_count = 0;
    std::uint32_t register_bytes = 0;
    std::vector<Constant> constants;
    std::vector<SpecialSlot> specials;
    std::vector<Parameter> parameters;
    std::uint64_t parameter_bytes = 0;
    std::uint32_t static_shared = 0;  // bytes; dynamic shared memory follows
    std::uint32_t local_bytes = 0;    // of a thread
    std::vector<Global> globals;      // variables of the module
    bool uses_wgmma = false;
};

/// Where the generic address space shows the other spaces.
constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000;
constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000;
constexpr std::uint64_t kParamWindow = 0x0300'0000'0000'0000;
constexpr std::uint64_t kVariableWindow = 0x0400'0000'0000'0000;  // .global and .const variables
constexpr std::uint64_t kWindowMask = 0xff00'0000'0000'0000;

}  // namespace fovea::ptx
