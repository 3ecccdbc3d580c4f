// What the interpreter found wrong with a kernel while running it.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fovea::ptx {

enum class FaultKind {
    bounds,         // an access outside of every buffer
    alignment,      // an address that is no multiple of the access
    read_only,      // a write to a buffer that is registered for reading
    race,           // two accesses that nothing orders
    uninitialised,  // a register or shared memory read before it was written
    divergent,      // a collective instruction reached by a part of the threads
    deadlock,       // every thread waits
    budget,         // more instructions than the launch allows
    barrier,        // a barrier misused: not initialised, too many arrivals
    in_flight,      // registers of an asynchronous product touched before its wait, or no fence
    unsupported,    // a form of an instruction that the interpreter does not know
    trap,           // the kernel's own trap
};

std::string_view name_of(FaultKind kind);

struct Fault : std::runtime_error {
    struct Place {
        std::string kernel;
        int line = 0;      // of the PTX text, from 1
        std::string text;  // that line
        std::array<std::uint32_t, 3> block{}, thread{};
    };

    Fault(FaultKind kind, Place place, const std::string& what);

    FaultKind kind;
    Place place;
};

}  // namespace fovea::ptx
