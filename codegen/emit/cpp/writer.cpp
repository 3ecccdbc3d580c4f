// Breaks lines where a reader would: at the last comma or operator that fits.
#include "codegen/emit/cpp/writer.h"

namespace fovea::emit {
namespace {

constexpr std::size_t kColumns = 100;

/// How well a line ends with `c` where a space follows, 0 best; -1: not at all.
int ending_rank(char c) {
    if (c == ',' || c == ';' || c == '=') return 0;
    if (c == '*' || c == '/') return 2;
    return std::string_view("+-?:&|").find(c) != std::string_view::npos ? 1 : -1;
}

/// Where to break `text`: behind the outermost comma or operator of which the first part still has
/// at most `room` characters; else behind the first parenthesis or comma. npos: nowhere.
std::size_t break_point(std::string_view text, std::size_t room) {
    std::size_t best = std::string_view::npos, last_resort = best;
    int depth = 0, best_rank = 1 << 20;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size() && (i < room || last_resort == best); ++i) {
        const char c = text[i];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '(' && i + 1 < text.size() && last_resort > i && i + 1 <= room)
            last_resort = i + 1;
        if (c == '(' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '}' || c == ']') --depth;
        if (c != ' ' || i == 0 || ending_rank(text[i - 1]) < 0) continue;
        const int rank = 3 * depth + ending_rank(text[i - 1]);
        if (i >= room) return best != std::string_view::npos ? best : i;
        if (i >= room / 3 && rank <= best_rank) best = i, best_rank = rank;
    }
    return best != std::string_view::npos ? best : last_resort;
}

/// A comment that neither ends early nor goes on in the next line.
std::string comment_of_one_line(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c == '\n' || c == '\r') c = ' ';
    if (result.back() == '\\') result.back() = '/';
    return result;
}

}  // namespace

void Writer::line(std::string_view given) {
    // Names of files may hold anything; a comment ends with its line.
    std::string kept;
    std::string_view text = given;
    if (text.starts_with("//") && text.find_first_of("\n\r\\") != text.npos) {
        kept = comment_of_one_line(text);
        text = kept;
    }
    std::string indentation(std::size_t(4 * depth_), ' ');
    const std::size_t remark = text.find("  // ");
    if (remark != std::string_view::npos && indentation.size() + text.size() > kColumns) {
        line(text.substr(remark + 2));  // a remark that does not fit goes above its line
        text = text.substr(0, remark);
    }
    const bool comment = text.starts_with("//");
    while (indentation.size() + text.size() > kColumns) {
        const std::size_t room = kColumns - indentation.size();
        std::size_t at = comment ? text.rfind(' ', room - 1) : break_point(text, room);
        if (at == std::string_view::npos || (comment && at <= 3)) break;
        text_ += indentation + std::string(text.substr(0, at)) + "\n";
        text.remove_prefix(text[at] == ' ' ? at + 1 : at);
        if (comment) {
            indentation = std::string(std::size_t(4 * depth_), ' ') + "//   ";
        } else {
            indentation = std::string(std::size_t(4 * depth_ + 8), ' ');
        }
    }
    text_ += indentation + std::string(text) + "\n";
}

void Writer::pragma(std::string_view text) {
    text_ += std::string(std::size_t(4 * depth_), ' ') + std::string(text) + "\n";
}

void Writer::open(std::string_view head) {
    line(head.empty() ? "{" : std::string(head) + " {");
    ++depth_;
}

void Writer::close(std::string_view tail) {
    --depth_;
    line(tail);
}

}  // namespace fovea::emit
