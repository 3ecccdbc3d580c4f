// PTX text: read and decoded.
#include "codegen/ptx/access.cpp"
#include "codegen/ptx/atomic.cpp"
#include "codegen/ptx/barrier.cpp"
#include "codegen/ptx/bits.cpp"
#include "codegen/ptx/block.cpp"
#include "codegen/ptx/bulk_copy.cpp"
#include "codegen/ptx/compare.cpp"
#include "codegen/ptx/control.cpp"
#include "codegen/ptx/control_flow.cpp"
#include "codegen/ptx/convert.cpp"
#include "codegen/ptx/copy.cpp"
#include "codegen/ptx/decode.cpp"
#include "codegen/ptx/fault.cpp"
#include "codegen/ptx/floating.cpp"
#include "codegen/ptx/half.cpp"
#include "codegen/ptx/integer.cpp"
#include "codegen/ptx/interpret.cpp"
#include "codegen/ptx/lexer.cpp"
#include "codegen/ptx/matrix.cpp"
#include "codegen/ptx/mbarrier.cpp"
#include "codegen/ptx/memory.cpp"
#include "codegen/ptx/memory_access.cpp"
#include "codegen/ptx/move.cpp"
#include "codegen/ptx/operands.cpp"
#include "codegen/ptx/order.cpp"
#include "codegen/ptx/parse_declaration.cpp"
#include "codegen/ptx/parse_instruction.cpp"
#include "codegen/ptx/shadow.cpp"
#include "codegen/ptx/tensor_map.cpp"
#include "codegen/ptx/type.cpp"
#include "codegen/ptx/warp.cpp"
#include "codegen/ptx/warp_exchange.cpp"
#include "codegen/ptx/wgmma.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accepts<fovea::UserError>([&] { fovea::ptx::parse(std::string(text_of(data, size))); });
    return 0;
}
