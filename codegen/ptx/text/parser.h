// Recursive descent over the tokens of a module: declarations in parse_declaration.cpp,
// instructions and operands in parse_instruction.cpp.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/ptx/text/lexer.h"
#include "codegen/ptx/text/syntax.h"

namespace fovea::ptx {

/// Blocks in blocks, and lists in lists.
constexpr int kDeepestText = 100;

class Parser {
  public:
    explicit Parser(const std::string& source);

    Text parse();

  private:
    using Names = std::unordered_map<std::string, int>;

    /// What braces enclose: names declared there hide those outside.
    struct Scope {
        Names registers, variables, labels;
        std::vector<int> open_branches;  // instructions whose label is not known yet
    };

    // parse_declaration.cpp
    void module_item();
    void function(bool kernel);
    void parameters();
    Variable variable(Space space);
    void initial_values(Variable& variable);
    void function_attributes();
    void function_variable(Space space);
    void declare_registers();
    void skip_braces();
    void skip_line();

    // parse_instruction.cpp
    void block();
    void statement();
    void directive();
    void instruction();
    void branch_targets(const std::string& name);
    void close_scope();
    void resolve_targets();
    Operand operand();
    Operand primary();
    Operand named(const std::string& name);
    Operand address();
    Operand list(std::string_view closing);
    Operand number(const Token& token, bool negative);
    std::int64_t integer();

    const Token& peek(int ahead = 0) const;
    Token next();
    bool at_end() const { return peek().kind == Token::Kind::end; }
    bool accept(std::string_view text);
    void expect(std::string_view text);
    std::string word();
    [[noreturn]] void fail(const std::string& what) const;

    Text text_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    Names module_variables_;
    Function function_;
    std::vector<Scope> scopes_;
    std::unordered_map<std::string, std::vector<std::string>> branch_targets_;
    Names outer_labels_;  // of the function, once its scope is closed
    int depth_ = 0;       // of the lists of operands
};

}  // namespace fovea::ptx
