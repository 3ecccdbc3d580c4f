// The state of a running kernel: the launch, the block that runs, its warps.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ptx/interpret.h"
#include "codegen/ptx/order.h"
#include "codegen/ptx/program.h"
#include "codegen/ptx/shadow.h"

namespace fovea::ptx {

class Block;

/// What all blocks of a launch share.
struct Machine {
    const Text& text;
    const Program& program;
    const Launch& launch;
    const Schedule& schedule;
    Memory memory;                                   // the caller's, and the module's variables
    std::vector<std::vector<std::byte>> variables;   // of the module
    std::vector<std::unique_ptr<Shadow>> shadows;    // of the writable buffers
    std::vector<std::byte> parameters;
    Tick tick = 1;  // of the block that runs
};

/// Strong loads (`peek`) race with nothing.
enum class Intent : std::uint8_t { read, peek, write, atomic };

/// The state of a warp that the scheduler sees.
enum class State : std::uint8_t {
    ready,
    waiting,  // a failed try_wait: others first
    at_barrier,
    at_products,  // until its whole warpgroup waits for asynchronous products
    done,
};

/// Lanes that run together; those below on the stack wait for them at `reconverge`.
struct Path {
    std::int32_t reconverge;
    Mask mask;
    std::int32_t pc;
};

/// A cp.async that was not waited for.
struct Copy {
    int lane;
    std::uint32_t group;  // number among the lane's groups
    std::uint32_t to, bytes;
    std::uint64_t from;
    std::uint32_t from_bytes;  // the rest is zero
    bool landed;               // the bytes are there, though the kernel may not know
};

/// Bytes of a bulk copy that lie together on both sides.
struct Piece {
    std::uint32_t shared;
    std::uint64_t global;  // 0: outside of the tensor
    std::uint32_t bytes;
    bool rounds_to_tf32 = false;  // floats
};

/// A bulk store of shared memory that was not waited for.
struct BulkStore {
    int lane;
    std::uint32_t group;
    std::vector<Piece> pieces;
    std::vector<std::byte> data;  // once shared memory was read
    bool read = false;
};

/// A wgmma.mma_async that was not waited for.
struct Product {
    const Op* op;
    std::uint32_t group;
    std::array<std::uint64_t, 2> descriptors;  // of A, if it is in shared memory, and of B
    bool accumulates;
    bool executed;
};

/// How a register takes part in an asynchronous product.
enum class Busy : std::uint8_t { no, read, written };

class Warp {
  public:
    Warp(Block& block, int number, int agents);

    /// Starts a block.
    void start(Mask live);

    /// Executes until the warp is no longer ready, or its slice is over.
    void run(std::uint64_t slice);

    template <class T>
    T* lanes(const Slot& slot) {
        return reinterpret_cast<T*>(registers.data() + slot.at);
    }
    Mask& mask(const Slot& slot) { return *lanes<Mask>(slot); }

    /// The bits of one lane of a register of any width.
    std::uint64_t bits(const Slot& slot, int lane);
    void set_bits(const Slot& slot, int lane, std::uint64_t bits);

    /// The address that a source holds.
    std::uint64_t address(const Slot& slot, int lane) {
        return slot.bytes() == 8 ? lanes<std::uint64_t>(slot)[lane]
                                 : lanes<std::uint32_t>(slot)[lane];
    }

    [[noreturn]] void fail(FaultKind kind, int lane, const std::string& what) const;

    /// Faults unless every live lane of the warp is in the mask.
    void require_whole(Mask mask) const;

    /// Faults where a source of the lanes is not defined.
    void require_defined(const Slot& slot, Mask mask) const;

    Block& block;
    const int number;
    Agent agent;
    std::vector<std::byte> registers;
    std::vector<Mask> defined;               // by slot
    std::vector<Busy> busy;                  // by slot, where the program has wgmma
    std::vector<std::uint64_t> written_at;   // by slot: the instruction
    std::uint64_t fenced_at = 0;             // the last wgmma.fence
    Clock fenced;                            // what was known at the last fence.proxy.async
    std::vector<Path> stack;
    Mask live = 0;
    State state = State::ready;
    std::uint64_t executed = 0;
    const Op* op = nullptr;  // the one that runs, or ran last

    std::vector<Copy> copies;
    std::array<std::uint32_t, kLanes> copy_groups{};  // committed, by lane
    std::vector<BulkStore> stores;
    std::array<std::uint32_t, kLanes> store_groups{};
    std::vector<Product> products;
    std::uint32_t product_groups = 0;
    std::uint32_t register_count = 0;  // of a thread, where the kernel uses setmaxnreg

  private:
    void branch(const Op& op, Mask mask, Mask taken);
    void branch_table(const Op& op, Mask mask);
    void leave(Mask mask);
    void execute(const Op& op, Mask mask);
    void check_busy(const Op& op, Mask mask) const;
};

/// A barrier of bar.sync, or of the cluster.
struct Barrier {
    std::uint32_t expected = 0, arrived = 0;  // threads
    Clock clock;
    struct Waiting {
        Warp* warp;
        const Op* reduction;  // a bar.red, or null
        Mask mask;
    };
    std::vector<Waiting> waiting;
    std::uint32_t holds = 0;  // threads of a bar.red whose predicate is true
};

/// A barrier object in shared memory.
struct MBarrier {
    std::uint32_t expected = 0;
    std::int64_t pending = 0, bytes = 0;
    std::uint32_t phase = 0;
    int maker = 0;           // the warp that initialised it
    bool published = false;  // to copies, by a fence of that warp
    Clock arriving, completed;
};

/// An asynchronous event that has not happened yet.
struct Landing {
    enum class Kind { bulk_copy, copies_done } kind;
    std::uint32_t barrier = 0;  // its address
    std::vector<Piece> pieces = {};
    Warp* warp = nullptr;  // of copies_done
    int lane = 0;
};

class Block {
  public:
    explicit Block(Machine& machine);

    /// Runs one block; returns the instructions that its warps executed.
    std::uint64_t run(std::array<std::uint32_t, 3> index);

    /// Where an access goes: the host's bytes, after every check. `value` is what a write will
    /// store: bytes that stay what they are may be written by several lanes of a warp.
    std::byte* access(Warp& warp, int lane, Space space, std::uint64_t address, std::uint32_t bytes,
                      Intent intent, const void* value = nullptr);
    std::byte* shared(Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
                      Intent intent, const void* value = nullptr);
    std::byte* global(Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
                      Intent intent, const void* value = nullptr, std::uint32_t alignment = 0);

    /// Asynchronous reads of shared memory, which see what a fence.proxy.async has made visible.
    void begin_reads(Warp& warp, int lane, std::uint32_t address, std::uint32_t bytes);
    void end_reads(const Agent& reader, int lane, std::uint32_t address, std::uint32_t bytes);
    void begin_writes(Warp& warp, int lane, std::uint32_t address, std::uint32_t bytes);
    void end_writes(const Agent& writer, int lane, std::uint32_t address, std::uint32_t bytes);

    /// Shared memory without a look at races: the bytes of asynchronous instructions.
    std::byte* shared_bytes(const Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes);
    void check(const Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
               Conflict conflict, bool in_shared) const;

    std::array<std::uint32_t, 3> thread_of(int warp, int lane) const;

    /// Whether asynchronous instructions take effect at once.
    bool at_once() const { return machine.schedule.copies == Schedule::Copies::at_once; }

    /// Something happened that may let a waiting warp go on.
    void progress() { ++events; }

    Machine& machine;
    std::array<std::uint32_t, 3> index{};
    std::uint32_t threads;
    std::vector<std::unique_ptr<Warp>> warps;
    std::vector<std::byte> shared_memory;
    std::vector<std::uint8_t> shared_defined;  // by byte
    Shadow shared_shadow{false};
    std::vector<std::byte> local_memory;  // by thread
    std::array<Barrier, 18> barriers;  // 16 of the block, 16: the cluster's
    std::map<std::uint32_t, MBarrier> mbarriers;
    std::deque<Landing> landings;
    std::vector<Tick> proxy_fences;  // by warp: its last fence.proxy.async of all lanes
    Agent copy_engine;
    std::vector<Agent> tensor_cores;  // by warpgroup
    std::uint32_t free_registers = 0;  // that setmaxnreg.dec gave back, each 32 of a warp as one
    std::uint64_t events = 0;
    std::uint64_t idle_nanoseconds = 0;  // in which all warps only polled

  private:
    void start();
    void finish();
    void check_finished() const;
    bool land_one();
    void release_products();
    void set_specials(Warp& warp);
    const Memory::Buffer& buffer(Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes);

    std::size_t last_buffer_ = 0;
};

}  // namespace fovea::ptx
