#include "tests/nvptx/mutations.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace fovea::test {

namespace {

using Lines = std::vector<std::string>;

class Draw {
  public:
    Draw(const Lines& lines, std::mt19937& generator) : lines_(lines), generator_(generator) {}

    std::optional<Mutation> mutation() {
        const int line = below(int(lines_.size()));
        const std::string& before = lines_[std::size_t(line)];
        static const std::regex instruction(R"(^\t(@!?%p\d+ )?[a-z][\w.:]*\s.*;$)");
        if (!std::regex_match(before, instruction)) return std::nullopt;
        if (before.find("ld.param") != before.npos || before.find("cvta") != before.npos)
            return std::nullopt;  // the host's part
        static const std::regex copy(R"(^\tmov\.f32\s+%f\d+, %f\d+;$)");
        if (std::regex_match(before, copy)) return std::nullopt;
        std::string after = before;
        switch (below(6)) {
            case 0: after = dropped(before); break;
            case 1: after = related(before); break;
            case 2: after = negated(before); break;
            case 3: after = exchanged(before); break;
            case 4: after = shifted(before); break;
            default: after = other_register(before); break;
        }
        if (after == before) return std::nullopt;
        return Mutation{line, before, after};
    }

  private:
    int below(int count) { return int(generator_() % unsigned(count)); }

    /// Control flow needs its last instruction.
    static std::string dropped(const std::string& line) {
        const bool ends = line.find("bra") != line.npos || line.find("\tret") != line.npos;
        return ends ? line : std::string();
    }

    std::string related(const std::string& line) {
        static const std::vector<std::pair<std::string, std::string>> pairs = {
            {"\tadd.", "\tsub."}, {"\tmul.rn.", "\tadd.rn."}, {"\tmax.", "\tmin."},
            {".lt.", ".le."},     {".gt.", ".ge."},           {".eq.", ".ne."},
            {"\tand.", "\tor."},  {"\tshl.", "\tshr."},       {"bfly", "idx"},
            {".neu.", ".equ."},   {".ltu.", ".leu."}};
        for (const auto& [one, two] : pairs)
            for (const auto& [from, to] : {std::pair(one, two), std::pair(two, one)})
                if (const std::size_t at = line.find(from); at != line.npos) {
                    std::string result = line;
                    result.replace(at, from.size(), to);
                    // Shifts to the right say of which type.
                    if (to == "\tshr.")
                        result = std::regex_replace(result, std::regex("r\\.b"), "r.u");
                    if (from == "\tshr.")
                        result = std::regex_replace(result, std::regex("l\\.[us]"), "l.b");
                    return result;
                }
        return line;
    }

    static std::string negated(const std::string& line) {
        if (line.starts_with("\t@!")) return "\t@" + line.substr(3);
        if (line.starts_with("\t@")) return "\t@!" + line.substr(2);
        return line;
    }

    /// The last two operands of three or more, where their order matters.
    static std::string exchanged(const std::string& line) {
        static const std::regex last_two(R"(^(.*, )(%\w+), (%\w+);$)");
        static const std::regex any_order(R"(^\t(add|mul|max|min|and|or|xor)\..*)");
        std::smatch parts;
        if (!std::regex_match(line, parts, last_two) || std::regex_match(line, any_order))
            return line;
        if (type_of(parts[2]) != type_of(parts[3])) return line;
        return parts[1].str() + parts[3].str() + ", " + parts[2].str() + ";";
    }

    std::string shifted(const std::string& line) {
        static const std::regex address(R"(^(.*\[%\w+)(\+\d+)?(\].*)$)"),
            number(R"(^(.*, )(-?\d+);$)");
        std::smatch parts;
        if (std::regex_match(line, parts, address)) {
            const int offset = parts[2].matched ? std::stoi(parts[2].str().substr(1)) : 0;
            return parts[1].str() + "+" + std::to_string(offset + 4) + parts[3].str();
        }
        if (std::regex_match(line, parts, number) && parts[2].str().size() < 9)
            return parts[1].str() + std::to_string(std::stoi(parts[2]) + (below(2) ? 1 : -1)) + ";";
        return line;
    }

    /// One behind the first operand, which is the result or an address.
    std::string other_register(const std::string& line) {
        static const std::regex name(R"(%[a-z]+\d+)");
        const std::size_t first = line.find(", ");
        if (first == line.npos) return line;
        const std::sregex_iterator begin(line.begin() + std::ptrdiff_t(first), line.end(), name),
            end;
        const auto count = int(std::distance(begin, end));
        if (count == 0) return line;
        const std::smatch chosen = *std::next(begin, below(count));
        const std::string before = chosen.str(), type = type_of(before);
        const int number = std::stoi(before.substr(type.size()));
        const int other = number > 1 && below(2) ? number - 1 : number + 1;
        std::string result = line;
        result.replace(first + std::size_t(chosen.position()), before.size(),
                       type + std::to_string(other));
        return result;
    }

    /// `%rd` of `%rd12`.
    static std::string type_of(const std::string& name) {
        return name.substr(0, name.find_first_of("0123456789"));
    }

    const Lines& lines_;
    std::mt19937& generator_;
};

}  // namespace

std::optional<Mutation> draw_mutation(const Lines& lines, std::mt19937& generator) {
    return Draw(lines, generator).mutation();
}

/// An instruction that goes on in the next line.
static bool is_begun(const std::string& line) {
    static const std::regex begun(R"(^\t[a-z][\w.:]*[^;]*$)");
    return std::regex_match(line, begun) && line.back() != ':';
}

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream stream(text);
    bool continues = false;
    for (std::string line; std::getline(stream, line); continues = is_begun(line)) {
        if (continues) lines.back() += " " + line.substr(line.find_first_not_of('\t'));
        else lines.push_back(line);
        line = lines.back();
    }
    return lines;
}

std::string mutated(Lines lines, const Mutation& mutation) {
    lines[std::size_t(mutation.line)] = mutation.after;
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace fovea::test
