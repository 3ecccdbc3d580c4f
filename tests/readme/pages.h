// The pages (*.md) of the sources, their code blocks and what they put between backticks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea::test {

struct CodeBlock {
    std::string page;            // from the root: `dsl/README.md`
    int line = 0;                // where it begins
    std::string language, mark;  // `sh`; what the HTML comment above it says
    std::string text;

    std::string place() const { return page + ":" + std::to_string(line); }
};

/// Text between backticks, or the target of a link.
struct Span {
    std::string page;
    int line = 0;
    std::string text;

    std::string place() const { return page + ":" + std::to_string(line); }
};

struct Page {
    std::string name;
    std::vector<std::string> lines;
    std::vector<CodeBlock> blocks;
    std::vector<Span> spans, links;  // outside of code blocks
};

/// All pages of the sources, by name.
const std::vector<Page>& pages();

/// The block of the root page with this mark.
CodeBlock marked_block(const std::string& mark);

/// The text as lines.
std::vector<std::string> lines_of(const std::string& text);

/// The text without the blanks at the beginnings of lines.
std::string without_indent(const std::string& text);

/// The whole file; the test fails where there is none.
std::string read_file(const std::filesystem::path& path);

}  // namespace fovea::test
