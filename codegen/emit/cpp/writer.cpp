// Breaks lines where a reader would: at the last comma or operator that fits.
#include "codegen/emit/cpp/writer.h"

namespace fovea::emit {
namespace {

constexpr std::size_t kColumns = 100;

/// Where to break `text` so that the first part has at most `room` characters; npos: nowhere.
std::size_t break_point(std::string_view text, std::size_t room) {
    std::size_t best = std::string_view::npos;
    int depth = 0, best_depth = 1 << 20;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size() && i < room; ++i) {
        const char c = text[i];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '(' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '}' || c == ']') --depth;
        if (c != ' ' || i == 0 || i < room / 3) continue;
        const char before = text[i - 1];
        const bool good = before == ',' || before == ';' || before == '=' || before == '+' ||
                          before == '*' || before == '-' || before == '?' || before == ':' ||
                          before == '&' || before == '|';
        if (good && depth <= best_depth) best = i, best_depth = depth;
    }
    return best;
}

}  // namespace

void Writer::line(std::string_view text) {
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
        text.remove_prefix(at + 1);
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
