// The choice of an instruction set, and what is said when there is none.
#include "runtime/isa.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

/// The environment variable FOVEA_ISA for as long as this lives.
struct Wanted {
    explicit Wanted(const char* isa) { setenv("FOVEA_ISA", isa, 1); }
    ~Wanted() { unsetenv("FOVEA_ISA"); }
};

std::string mistake(std::span<const IsaPart> parts) {
    try {
        choose_isa(parts);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string names_here() {
    std::string text;
    for (std::string_view isa : isa_names())
        if (machine_has(isa)) text += (text.empty() ? "" : ", ") + std::string(isa);
    return text;
}

constexpr IsaPart kAll[] = {
    {"amx_bf16", nullptr},  {"avx512_bf16", nullptr}, {"avx512_vnni", nullptr},
    {"avx512", nullptr},    {"avx2", nullptr},        {"baseline", nullptr},
    {"neon_bf16", nullptr}, {"neon", nullptr},        {"wasm", nullptr}};

}  // namespace

TEST_CASE("the best instruction set of the machine runs") {
    CHECK(machine_has(isas_of(this_machine()).back()));
    CHECK(!machine_has("sse9"));
    CHECK(choose_isa(kAll).isa == names_here().substr(0, names_here().find(',')));
}

TEST_CASE("instruction sets are of one kind of machine") {
    CHECK(machine_of("avx512") == "x86_64");
    CHECK(machine_of("baseline") == "x86_64");
    CHECK(machine_of("neon") == "aarch64");
    CHECK(machine_of("neon_bf16") == "aarch64");
    CHECK(machine_of("wasm") == "wasm32");
    CHECK(machine_of("sse9").empty());
    CHECK(isas_of("x86_64").back() == "baseline");
    CHECK(isas_of("aarch64").back() == "neon");
    CHECK(isas_of("wasm32").back() == "wasm");
    CHECK(isas_of("riscv64").empty());
    CHECK(isas_of("x86_64").size() + 3 == isa_names().size());
    for (std::string_view isa : isa_names())
        if (machine_has(isa)) CHECK(machine_of(isa) == this_machine());
}

TEST_CASE("portable forms of instruction sets") {
    CHECK(portable_of("avx2") == "avx2_portable");
    CHECK(portable_of("neon") == "neon_portable");
    CHECK(portable_of("baseline").empty());
    CHECK(portable_of("avx2_portable").empty());
    CHECK(machine_of("avx512_portable") == "x86_64");
    CHECK(machine_of("baseline_portable").empty());
    for (std::string_view name : isa_names()) {
        const std::string_view form = portable_of(name);
        if (form.empty()) continue;
        CHECK(machine_of(form) == machine_of(name));
        CHECK(machine_has(form) == machine_has(name));
        const std::string text(form);
        const IsaPart one[] = {{text.c_str(), nullptr}};
        if (machine_has(name)) CHECK(choose_isa(one).isa == form);
    }
}

TEST_CASE("FOVEA_ISA chooses") {
    for (const IsaPart& part : kAll) {
        Wanted wanted(part.isa);
        if (machine_has(part.isa)) CHECK(choose_isa(kAll).isa == part.isa);
        else
            CHECK(mistake(kAll) == "FOVEA_ISA is '" + std::string(part.isa) +
                                       "', which this machine does not have; on it this program "
                                       "runs " +
                                       names_here());
    }
    Wanted none("");
    CHECK(choose_isa(kAll).isa == names_here().substr(0, names_here().find(',')));
}

TEST_CASE("FOVEA_ISA names what the program has not") {
    const std::string least(isas_of(this_machine()).back());
    const IsaPart one[] = {{least.c_str(), nullptr}};
    {
        Wanted wanted("sse9");
        CHECK(mistake(kAll) ==
              "FOVEA_ISA is 'sse9', which this program does not have; on this "
              "machine it runs " +
                  names_here());
    }
    Wanted wanted("avx2");
    CHECK(mistake(one) ==
          "FOVEA_ISA is 'avx2', which this program does not have; on this machine it runs " +
              least);
}

TEST_CASE("a program without kernels for this machine") {
    const char* name = this_machine() == "aarch64" ? "baseline" : "neon";
    const IsaPart other[] = {{name, nullptr}};
    CHECK(mistake(other) == "this program is for the instruction sets " + std::string(name) +
                                ", and this machine has none of them");
}
