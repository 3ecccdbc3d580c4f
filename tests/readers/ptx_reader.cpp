// PTX text: read, decoded, and run by a block of 32 threads for a few instructions, which faults or
// ends.
#include "codegen/ptx/block.cpp"
#include "codegen/ptx/control_flow.cpp"
#include "codegen/ptx/decode.cpp"
#include "codegen/ptx/fault.cpp"
#include "codegen/ptx/instructions/access.cpp"
#include "codegen/ptx/instructions/atomic.cpp"
#include "codegen/ptx/instructions/barrier.cpp"
#include "codegen/ptx/instructions/bits.cpp"
#include "codegen/ptx/instructions/bulk_copy.cpp"
#include "codegen/ptx/instructions/compare.cpp"
#include "codegen/ptx/instructions/control.cpp"
#include "codegen/ptx/instructions/convert.cpp"
#include "codegen/ptx/instructions/copy.cpp"
#include "codegen/ptx/instructions/floating.cpp"
#include "codegen/ptx/instructions/half.cpp"
#include "codegen/ptx/instructions/integer.cpp"
#include "codegen/ptx/instructions/matrix.cpp"
#include "codegen/ptx/instructions/mbarrier.cpp"
#include "codegen/ptx/instructions/memory_access.cpp"
#include "codegen/ptx/instructions/move.cpp"
#include "codegen/ptx/instructions/warp_exchange.cpp"
#include "codegen/ptx/instructions/wgmma.cpp"
#include "codegen/ptx/interpret.cpp"
#include "codegen/ptx/memory.cpp"
#include "codegen/ptx/operands.cpp"
#include "codegen/ptx/order.cpp"
#include "codegen/ptx/shadow.cpp"
#include "codegen/ptx/tensor_map.cpp"
#include "codegen/ptx/text/lexer.cpp"
#include "codegen/ptx/text/parse_declaration.cpp"
#include "codegen/ptx/text/parse_instruction.cpp"
#include "codegen/ptx/text/type.cpp"
#include "codegen/ptx/warp.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::ptx;

namespace {

/// Whether a launch takes little memory and time.
bool is_small(const Program& program) {
    std::uint64_t bytes = program.parameter_bytes + program.static_shared + program.register_bytes +
                          std::uint64_t(program.local_bytes) * kLanes;
    for (const Program::Global& global : program.globals) bytes += global.bytes;
    return bytes < 1 << 20;
}

/// Its arguments of 8 bytes are the address of a buffer, the others zeros.
void run(const Module& module, const Program& program) {
    std::vector<float> values(64, 1.5F);
    Memory memory;
    const std::uint64_t address = memory.add(std::span<float>(values));
    Launch launch{.block = {32, 1, 1}, .dynamic_shared_bytes = 256, .max_instructions = 500};
    for (const Program::Parameter& parameter : program.parameters)
        launch.arguments.push_back(parameter.bytes == 8 ? argument(address)
                                                        : Argument(parameter.bytes));
    accepts<Fault>([&] { interpret(module, program.name, launch, memory); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accepts<fovea::UserError>([&] {
        const Module module = parse(std::string(text_of(data, size)));
        for (const auto& [name, program] : module.kernels)
            if (is_small(*program)) accepts<fovea::UserError>([&] { run(module, *program); });
    });
    return 0;
}
