// Blanks and '#' are escaped by a backslash, as are backslashes before them; '$' is doubled.
#include "tools/fovea/files/depfile.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/files/files.h"

namespace fovea::tool {

namespace {

std::string escaped_for_make(const std::string& name) {
    std::string text;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == ' ' || name[i] == '#') {
            for (std::size_t j = i; j > 0 && name[j - 1] == '\\'; --j) text += '\\';
            text += '\\';
        }
        if (name[i] == '$') text += '$';
        text += name[i];
    }
    return text;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::vector<std::string> read_depfile(const std::filesystem::path& depfile) {
    std::ifstream stream(depfile, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::vector<std::string> names;
    std::string name;
    for (std::size_t i = std::min(text.find(": "), text.size()) + 1; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : '\n';
        if (c == '\\') {
            const std::size_t end = std::min(text.find_first_not_of('\\', i), text.size());
            const char next = end < text.size() ? text[end] : '\n';
            const bool escapes = next == ' ' || next == '#';
            const bool goes_on = next == '\n' && end == i + 1;
            name.append(escapes ? (end - i) / 2 : goes_on ? 0 : end - i, '\\');
            if (escapes) name += next;
            i = escapes || goes_on ? end : end - 1;
        } else if (!is_blank(c)) {
            name += c;
            if (c == '$' && text.compare(i, 2, "$$") == 0) ++i;
        } else if (!name.empty()) {
            names.push_back(std::move(name));
            name.clear();
        }
    }
    return names;
}

void write_depfile(const std::filesystem::path& depfile, const std::filesystem::path& target,
                   const std::vector<std::string>& files) {
    std::string text = escaped_for_make(target.string()) + ":";
    for (const std::string& file : files) text += " \\\n  " + escaped_for_make(file);
    runtime::write_file_atomically(depfile.string(), text + "\n");
}

}  // namespace fovea::tool
