// The sentence of a fault.
#include "codegen/ptx/fault.h"

#include <fmt/format.h>

namespace fovea::ptx {

std::string_view name_of(FaultKind kind) {
    switch (kind) {
        case FaultKind::bounds: return "out of bounds";
        case FaultKind::alignment: return "misaligned";
        case FaultKind::read_only: return "read-only";
        case FaultKind::race: return "race";
        case FaultKind::uninitialised: return "uninitialised";
        case FaultKind::divergent: return "divergent";
        case FaultKind::deadlock: return "deadlock";
        case FaultKind::budget: return "budget";
        case FaultKind::barrier: return "barrier";
        case FaultKind::in_flight: return "in flight";
        case FaultKind::unsupported: return "unsupported";
        case FaultKind::trap: return "trap";
    }
    return "";
}

Fault::Fault(FaultKind of, Place at, const std::string& what)
    : std::runtime_error(
          fmt::format("{}: {} (kernel {}, PTX line {}: {}; block {},{},{} thread {},{},{})",
                      name_of(of), what, at.kernel, at.line, at.text, at.block[0], at.block[1],
                      at.block[2], at.thread[0], at.thread[1], at.thread[2])),
      kind(of),
      place(std::move(at)) {}

}  // namespace fovea::ptx
