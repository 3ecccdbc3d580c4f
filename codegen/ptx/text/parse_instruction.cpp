// The statements of a function's body.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include "codegen/ptx/text/parser.h"

namespace fovea::ptx {

std::string Instruction::spelling() const {
    std::string text = opcode;
    for (const std::string& modifier : modifiers) text += "." + modifier;
    return text;
}

/// Statements up to the closing brace, which it takes.
void Parser::block() {
    while (!accept("}")) {
        if (at_end()) fail("a function's body without its end");
        statement();
    }
}

void Parser::statement() {
    if (accept(";")) return;
    if (accept("{")) {
        if (scopes_.size() > kDeepestText) fail("blocks are nested too deep");
        scopes_.emplace_back();
        block();
        return close_scope();
    }
    if (peek(1).is(":")) {
        const std::string name = word();
        expect(":");
        if (accept(".branchtargets")) return branch_targets(name);
        if (peek().is(".callprototype")) {
            while (!accept(";")) {
                if (at_end()) fail("a prototype without its end");
                next();
            }
            return;
        }
        scopes_.back().labels[name] = int(function_.body.size());
        return;
    }
    if (peek().text.starts_with('.')) return directive();
    instruction();
}

void Parser::directive() {
    if (peek().is(".loc") || peek().is(".pragma") || peek().is(".file")) return skip_line();
    if (accept(".reg")) return declare_registers();
    const std::string name = word();
    Space space;
    if (name == ".shared") space = Space::shared;
    else if (name == ".local") space = Space::local;
    else if (name == ".param") space = Space::param;
    else fail(fmt::format("'{}' is not interpreted inside a function", name));
    function_variable(space);
    expect(";");
}

void Parser::branch_targets(const std::string& name) {
    do branch_targets_[name].push_back(word());
    while (accept(","));
    expect(";");
}

void Parser::instruction() {
    Instruction made;
    made.line = peek().line;
    if (accept("@")) {
        made.guard_negated = accept("!");
        const Operand guard = named(word());
        if (guard.kind != Operand::Kind::reg) fail("a guard that is no predicate");
        made.guard = guard.index;
    }
    const std::string spelled = word();
    for (std::size_t at = 0; at <= spelled.size();) {
        const std::size_t dot = std::min(spelled.find('.', at), spelled.size());
        const std::string part = spelled.substr(at, dot - at);
        if (at == 0) made.opcode = part;
        else made.modifiers.push_back(part);
        at = dot + 1;
    }
    if (!peek().is(";")) {
        do made.operands.push_back(operand());
        while (accept(","));
    }
    expect(";");
    if (made.opcode == "bra") scopes_.back().open_branches.push_back(int(function_.body.size()));
    function_.body.push_back(std::move(made));
}

/// Binds the branches of the innermost scope to its labels; the others wait for the scope outside.
void Parser::close_scope() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    for (int branch : scope.open_branches) {
        Instruction& instruction = function_.body[std::size_t(branch)];
        if (instruction.operands.size() != 1)
            throw ParseError(instruction.line, "bra takes one label");
        Operand& target = instruction.operands[0];
        if (auto label = scope.labels.find(target.name); label != scope.labels.end()) {
            target.kind = Operand::Kind::label;
            target.index = label->second;
        } else if (!scopes_.empty()) {
            scopes_.back().open_branches.push_back(branch);
        } else {
            throw ParseError(instruction.line, fmt::format("no label '{}'", target.name));
        }
    }
    if (scopes_.empty()) outer_labels_ = std::move(scope.labels);
}

/// Turns the name of a list of labels, which brx.idx takes, into these labels.
void Parser::resolve_targets() {
    for (Instruction& instruction : function_.body) {
        if (instruction.opcode != "brx") continue;
        if (instruction.operands.size() != 2)
            throw ParseError(instruction.line, "brx takes 2 operands");
        Operand& list = instruction.operands[1];
        list.kind = Operand::Kind::targets;
        for (const std::string& name : branch_targets_[list.name]) {
            const auto label = outer_labels_.find(name);
            if (label == outer_labels_.end())
                throw ParseError(instruction.line, fmt::format("no label '{}'", name));
            list.parts.push_back({.kind = Operand::Kind::label, .index = label->second});
        }
    }
}

Operand Parser::operand() {
    if (accept("{")) return list("}");
    if (accept("(")) return list(")");
    if (accept("[")) return address();
    if (accept("!")) {
        Operand inner = primary();
        inner.negated = true;
        return inner;
    }
    Operand first = primary();
    if (!accept("|")) return first;
    Operand both{.kind = Operand::Kind::pair};
    both.parts = {std::move(first), primary()};
    return both;
}

Operand Parser::list(std::string_view closing) {
    Operand made{.kind = Operand::Kind::list};
    if (++depth_ > kDeepestText) fail("lists are nested too deep");
    while (!accept(closing)) {
        made.parts.push_back(operand());
        accept(",");
    }
    --depth_;
    return made;
}

Operand Parser::address() {
    Operand made{.kind = Operand::Kind::address};
    made.parts.push_back(primary());
    std::swap(made.offset, made.parts[0].offset);
    if (accept(",")) {
        expect("{");
        for (Operand& coordinate : list("}").parts) made.parts.push_back(std::move(coordinate));
    }
    expect("]");
    return made;
}

/// A name or a number, and what is added to it.
Operand Parser::primary() {
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::word)
        fail(fmt::format("expected an operand, not '{}'", peek().text));
    const Token token = next();
    if (negative || std::isdigit(static_cast<unsigned char>(token.text[0])))
        return number(token, negative);
    Operand made = named(std::string(token.text));
    if (accept("+")) made.offset = integer();
    return made;
}

Operand Parser::named(const std::string& name) {
    Operand made{.name = name};
    if (name == "_") return made;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (auto found = scope->registers.find(name); found != scope->registers.end()) {
            made.kind = Operand::Kind::reg;
            made.index = found->second;
            return made;
        }
        if (auto found = scope->variables.find(name); found != scope->variables.end()) {
            made.kind = Operand::Kind::variable;
            made.of_function = true;
            made.index = found->second;
            return made;
        }
    }
    if (auto found = module_variables_.find(name); found != module_variables_.end()) {
        made.kind = Operand::Kind::variable;
        made.index = found->second;
    } else if (name == "WARP_SZ") {
        made.kind = Operand::Kind::integer;
        made.bits = 32;
    } else if (name[0] == '%') {
        made.kind = Operand::Kind::special;
    } else {
        made.kind = Operand::Kind::function;  // or a label, which the end of the scope binds
    }
    return made;
}

Operand Parser::number(const Token& token, bool negative) {
    std::string digits(token.text);
    const auto fail_at_token = [&] {
        throw ParseError(token.line, fmt::format("'{}' is no number", token.text));
    };
    if (token.kind != Token::Kind::word || !std::isdigit(static_cast<unsigned char>(digits[0])))
        fail_at_token();
    errno = 0;
    Operand made{.kind = Operand::Kind::integer};
    const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] | 32) == 'x';
    char* end = nullptr;
    if (digits.size() > 2 && digits[0] == '0' &&
        ((digits[1] | 32) == 'f' || (digits[1] | 32) == 'd')) {
        const bool single = (digits[1] | 32) == 'f';
        made.kind = single ? Operand::Kind::float32 : Operand::Kind::float64;
        made.bits = std::strtoull(digits.c_str() + 2, &end, 16);
    } else if (!hexadecimal && digits.find('.') != digits.npos) {
        made.kind = Operand::Kind::float64;
        made.bits = std::bit_cast<std::uint64_t>(std::strtod(digits.c_str(), &end));
    } else {
        if (digits.back() == 'U') digits.pop_back();
        const bool binary = digits.size() > 2 && digits[0] == '0' && (digits[1] | 32) == 'b';
        made.bits = binary ? std::strtoull(digits.c_str() + 2, &end, 2)
                           : std::strtoull(digits.c_str(), &end, 0);
    }
    // Of the float numbers the nearest will do; a whole one has 64 bits.
    if (*end || (errno == ERANGE && digits.find('.') == digits.npos)) fail_at_token();
    if (!negative) return made;
    if (made.kind == Operand::Kind::integer) made.bits = 0 - made.bits;
    else made.bits ^= std::uint64_t(1) << (made.kind == Operand::Kind::float32 ? 31 : 63);
    return made;
}

std::int64_t Parser::integer() {
    const bool negative = accept("-");
    const Operand parsed = number(next(), negative);
    if (parsed.kind != Operand::Kind::integer) fail("expected a whole number");
    return std::int64_t(parsed.bits);
}

}  // namespace fovea::ptx
