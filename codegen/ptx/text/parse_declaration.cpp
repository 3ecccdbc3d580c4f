// Modules, functions, variables and registers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "codegen/ptx/text/parser.h"

namespace fovea::ptx {
namespace {

constexpr std::int64_t kLargestAlignment = 1 << 16;

std::optional<Space> space_named(std::string_view word) {
    if (word == ".global") return Space::global;
    if (word == ".shared") return Space::shared;
    if (word == ".local") return Space::local;
    if (word == ".param") return Space::param;
    if (word == ".const") return Space::constant;
    return std::nullopt;
}

}  // namespace

ParseError::ParseError(int at, const std::string& what)
    : UserError(fmt::format("PTX line {}: {}", at, what)), line(at) {}

Text parse_text(const std::string& text) { return Parser(text).parse(); }

Parser::Parser(const std::string& source) : tokens_(lex(source)) {
    std::istringstream stream(source);
    for (std::string line; std::getline(stream, line);) text_.lines.push_back(line);
}

Text Parser::parse() {
    while (!at_end()) module_item();
    return std::move(text_);
}

const Token& Parser::peek(int ahead) const {
    return tokens_[std::min(at_ + std::size_t(ahead), tokens_.size() - 1)];
}

Token Parser::next() {
    const Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
}

bool Parser::accept(std::string_view text) {
    if (!peek().is(text)) return false;
    next();
    return true;
}

void Parser::expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("expected '{}' before '{}'", text, peek().text));
}

std::string Parser::word() {
    if (peek().kind != Token::Kind::word)
        fail(fmt::format("expected a name, not '{}'", peek().text));
    return std::string(next().text);
}

void Parser::fail(const std::string& what) const { throw ParseError(peek().line, what); }

void Parser::skip_line() {
    for (const int line = peek().line; peek().line == line && !at_end();) next();
}

void Parser::skip_braces() {
    expect("{");
    for (int depth = 1; depth > 0;) {
        const Token token = next();
        if (token.kind == Token::Kind::end) fail("a brace that nothing closes");
        depth += token.is("{") - token.is("}");
    }
}

void Parser::module_item() {
    while (accept(".visible") || accept(".extern") || accept(".weak") || accept(".common")) {
    }
    const Token token = peek();
    if (token.is(".version") || token.is(".target") || token.is(".address_size") ||
        token.is(".file") || token.is(".pragma"))
        return skip_line();
    if (accept(".section")) {
        next();
        return skip_braces();
    }
    if (accept(".entry")) return function(true);
    if (accept(".func")) return function(false);
    const auto space = space_named(token.text);
    if (!space) fail(fmt::format("'{}' is no declaration", token.text));
    next();
    Variable declared = variable(*space);
    if (*space == Space::constant || *space == Space::global || *space == Space::shared) {
        module_variables_[declared.name] = int(text_.variables.size());
        text_.variables.push_back(std::move(declared));
    } else {
        fail(fmt::format("'{}' can't be declared outside of functions", token.text));
    }
    expect(";");
}

Variable Parser::variable(Space space) {
    Variable variable{.space = space};
    unsigned elements = 1;
    bool aligned = false;
    for (;;) {
        if (accept(".align")) {
            const std::int64_t alignment = integer();
            if (alignment < 1 || alignment > kLargestAlignment || alignment & (alignment - 1))
                fail(fmt::format("an alignment of {} is no power of 2 up to {}", alignment,
                                 kLargestAlignment));
            // The alignment after .ptr is that of what the pointer points to.
            if (!aligned) variable.alignment = unsigned(alignment);
            aligned = true;
        } else if (accept(".ptr")) {
            aligned = true;
            variable.alignment = bytes_of(variable.type);
            if (space_named(peek().text)) next();
        } else if (accept(".v2")) {
            elements = 2;
        } else if (accept(".v4")) {
            elements = 4;
        } else if (peek().kind == Token::Kind::word && peek().text[0] == '.') {
            const auto type = type_named(peek().text.substr(1));
            if (!type) fail(fmt::format("'{}' is no type", peek().text));
            variable.type = *type;
            next();
        } else {
            break;
        }
    }
    const unsigned unit = bytes_of(variable.type) * elements;
    if (!aligned) variable.alignment = unit;
    variable.name = word();
    variable.bytes = unit;
    while (accept("[")) {
        const std::int64_t count = peek().is("]") ? 0 : integer();
        if (count < 0 || std::uint64_t(count) > kLargestVariable / unit ||
            variable.bytes * std::uint64_t(count) > kLargestVariable)
            fail(fmt::format("'{}' has more than {} bytes", variable.name, kLargestVariable));
        variable.bytes *= std::uint64_t(count);
        expect("]");
    }
    if (accept("=")) initial_values(variable);
    return variable;
}

void Parser::initial_values(Variable& variable) {
    const unsigned bytes = bytes_of(variable.type);
    const auto value = [&] {
        const bool negative = accept("-");
        const Token token = next();
        if (token.kind != Token::Kind::word || !std::isdigit(token.text[0]))
            fail("addresses as initial values are not interpreted");
        const Operand parsed = number(token, negative);
        for (unsigned i = 0; i < bytes; ++i)
            variable.initial.push_back(std::byte(parsed.bits >> (8 * i)));
    };
    if (!accept("{")) return value();
    int depth = 1;
    while (depth > 0) {
        if (accept("{")) ++depth;
        else if (accept("}")) --depth;
        else if (!accept(",")) value();
    }
    if (variable.bytes == 0) variable.bytes = variable.initial.size();
    if (variable.initial.size() > variable.bytes)
        fail(fmt::format("'{}' has more initial values than elements", variable.name));
}

void Parser::function(bool kernel) {
    function_ = {};
    function_.kernel = kernel;
    scopes_.assign(1, {});
    branch_targets_.clear();
    if (peek().is("(")) {
        parameters();
        function_.results = int(function_.variables.size());
    }
    function_.line = peek().line;
    function_.name = word();
    if (peek().is("(")) parameters();
    function_.parameters = int(function_.variables.size()) - function_.results;
    function_attributes();
    if (accept(";")) return;  // only declared
    expect("{");
    block();
    close_scope();
    resolve_targets();
    text_.functions[function_.name] = std::move(function_);
}

void Parser::parameters() {
    expect("(");
    while (!accept(")")) {
        if (accept(".reg")) fail("parameters in registers are not interpreted");
        expect(".param");
        function_variable(Space::param);
        accept(",");
    }
}

void Parser::function_attributes() {
    while (!peek().is("{") && !peek().is(";")) {
        if (at_end()) fail("a function without a body");
        next();
    }
}

void Parser::function_variable(Space space) {
    Variable declared = variable(space);
    scopes_.back().variables[declared.name] = int(function_.variables.size());
    function_.variables.push_back(std::move(declared));
}

void Parser::declare_registers() {
    const std::string spelled = word();
    const auto type = type_named(std::string_view(spelled).substr(1));
    if (!type) fail(fmt::format("registers of type '{}' are not interpreted", spelled));
    const auto declare = [&](const std::string& name) {
        scopes_.back().registers[name] = int(function_.registers.size());
        function_.registers.push_back({name, *type});
    };
    do {
        const std::string name = word();
        if (accept("<")) {
            const std::int64_t count = integer();
            if (count < 0 ||
                count > std::int64_t(kMostVirtualRegisters - function_.registers.size()))
                fail(fmt::format("a function has at most {} registers", kMostVirtualRegisters));
            for (std::int64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
            expect(">");
        } else {
            declare(name);
        }
    } while (accept(","));
    expect(";");
}

}  // namespace fovea::ptx
