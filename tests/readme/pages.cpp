#include "tests/readme/pages.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fovea::test {

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FOVEA_SOURCE_DIR;

/// `not run: …` of `<!-- not run: … -->`; empty for other lines.
std::string comment_of(const std::string& line) {
    if (!line.starts_with("<!-- ") || !line.ends_with(" -->")) return "";
    return line.substr(5, line.size() - 9);
}

/// What stands between `open` and `close`, again and again.
std::vector<std::string> between(const std::string& line, const std::string& open,
                                 const std::string& close) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = line.find(open, at)) != line.npos;) {
        at += open.size();
        const std::size_t end = line.find(close, at);
        if (end == line.npos) break;
        found.push_back(line.substr(at, end - at));
        at = end + close.size();
    }
    return found;
}

void read_block(Page& page, std::size_t& at) {
    CodeBlock block{page.name, int(at) + 1, page.lines[at].substr(3), "", ""};
    if (at > 0) block.mark = comment_of(page.lines[at - 1]);
    for (++at; at < page.lines.size() && page.lines[at] != "```"; ++at)
        block.text += page.lines[at] + "\n";
    page.blocks.push_back(block);
}

Page read_page(const std::string& name) {
    Page page{name, lines_of(read_file(kRoot / name)), {}, {}, {}};
    for (std::size_t i = 0; i < page.lines.size(); ++i) {
        if (page.lines[i].starts_with("```")) {
            read_block(page, i);
            continue;
        }
        std::string line = page.lines[i];
        for (const std::string& text : between(line, "`", "`")) {
            page.spans.push_back({name, int(i) + 1, text});
            line.replace(line.find("`" + text + "`"), text.size() + 2, "");
        }
        for (const std::string& text : between(line, "](", ")"))
            page.links.push_back({name, int(i) + 1, text});
    }
    return page;
}

std::vector<Page> read_pages() {
    std::vector<std::string> names = {"README.md"};
    for (const char* folder : {"codegen", "dsl", "models", "runtime", "tests", "tools"})
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
            if (entry.path().extension() == ".md")
                names.push_back(fs::relative(entry.path(), kRoot).string());
    std::sort(names.begin(), names.end());
    std::vector<Page> found;
    for (const std::string& name : names) found.push_back(read_page(name));
    return found;
}

}  // namespace

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string without_indent(const std::string& text) {
    std::string result;
    for (const std::string& line : lines_of(text))
        result += line.substr(std::min(line.find_first_not_of(' '), line.size())) + "\n";
    return result;
}

const std::vector<Page>& pages() {
    static const std::vector<Page> found = read_pages();
    return found;
}

CodeBlock marked_block(const std::string& mark) {
    for (const Page& page : pages())
        for (const CodeBlock& block : page.blocks)
            if (page.name == "README.md" && block.mark == mark) return block;
    FAIL("README.md has no code block below <!-- " << mark << " -->");
    return {};
}

}  // namespace fovea::test
