// Text that is no PTX is refused with its line, whatever it asks for: no loop without end, no stack
// or memory that a few bytes take, no read past what is there.
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

struct Refused {
    std::string text;
    const char* message;
};

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

/// `f0` calls nothing, and each of the others the one before it twice.
std::string doubling_calls(int functions) {
    std::string text = ".func f0() { }\n";
    for (int i = 1; i < functions; ++i) {
        const std::string call = " call f" + std::to_string(i - 1) + ";";
        text += ".func f" + std::to_string(i) + "() { membar.gl;" + call + call + " }\n";
    }
    return text + ".entry k() { call f" + std::to_string(functions - 1) + "; }\n";
}

std::vector<Refused> refused_texts() {
    const std::string kDeep = repeated("{", 100'000);
    return {
        {".entry k() { p: .callprototype", "a prototype without its end"},
        {".entry k() { \"\" add", "expected a name"},
        {".entry k() " + kDeep, "blocks are nested too deep"},
        {".entry k() { mov " + kDeep, "lists are nested too deep"},
        {".entry k() { .reg .b32 %r<99999999999>; }", "at most 1048576 registers"},
        {".entry k() { .reg .b32 %r<-1>; }", "at most 1048576 registers"},
        {".entry k() { .reg .b32 %r<//>; }\n }", "'}' is no number"},
        {".entry k() { .reg .b32 %r<U>; }", "'U' is no number"},
        {".entry k() { .reg .b32 %r; mov.b32 %r, -U; }", "'U' is no number"},
        {".entry k() { .reg .b64 %r; mov.b64 %r, 18446744073709551616; }", "is no number"},
        {".global .align 0 .b8 x[4];", "an alignment of 0 is no power of 2"},
        {".global .align 12 .b8 x[4];", "an alignment of 12 is no power of 2"},
        {".global .b8 x[9999999999999];", "'x' has more than 268435456 bytes"},
        {".global .b64 x[65536][65536];", "'x' has more than 268435456 bytes"},
        {".global .b8 x[-1];", "'x' has more than 268435456 bytes"},
        {".global .b8 x[2] = {1, 2, 3};", "more initial values than elements"},
        {".shared .b8 x[268435456]; .shared .b8 y[1]; .entry k() { }", "variables up to 'y'"},
        {doubling_calls(30), "at most 1048576 instructions"},
        {"/*/ .entry k() { }", "a comment without its end"},
    };
}

}  // namespace

TEST_CASE("text that is no PTX is refused, whatever it asks for") {
    for (const Refused& refused : refused_texts()) {
        CAPTURE(refused.text.substr(0, 100));
        CHECK_THROWS_WITH_AS(parse(refused.text), doctest::Contains(refused.message), ParseError);
    }
}

TEST_CASE("zeros follow the values of a variable that has fewer than elements") {
    const Module module = parse(kernel_text(R"(
    mov.u64 %d1, table;
    mul.wide.u32 %d0, %t, 4;
    add.s64 %d1, %d1, %d0;
    ld.global.u32 %r1, [%d1];
    add.s64 %d1, %y, %d0;
    st.global.u32 [%d1], %r1;
)",
                                            ".global .align 4 .u32 table[32] = {7, 8};"));
    std::vector<std::uint32_t> y(32, 5);
    Memory memory;
    const auto to = memory.add(std::span<std::uint32_t>(y));
    interpret(module, "k",
              {.block = {32, 1, 1}, .arguments = {argument(to), argument(to), argument(7)}},
              memory);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i < 2 ? 7 + i : 0));
}

}  // namespace fovea::ptx::test
