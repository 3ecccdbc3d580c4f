// Writing roff.
#include "tools/fovea/help/man_page.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <sstream>

#include "tools/fovea/help/environment.h"
#include "tools/fovea/help/options_list.h"
#include "tools/fovea/version.h"

namespace fovea::tool {

namespace {

/// The code point that starts at `text[i]`, which moves to its last byte; texts are UTF-8.
std::uint32_t code_point(const std::string& text, std::size_t& i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    std::uint32_t code = byte & (0x3FU >> more);
    for (; more > 0 && i + 1 < text.size(); --more)
        code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3FU);
    return code;
}

constexpr std::uint32_t kEllipsis = 0x2026;  // as terminals of ASCII lack it

/// `text` as roff has it: what it would take for its own, and what is not ASCII, escaped.
std::string roff_text(const std::string& text) {
    std::string roff;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (static_cast<unsigned char>(c) >= 0x80) {
            const std::uint32_t code = code_point(text, i);
            roff += code == kEllipsis ? "\\&..." : fmt::format("\\[u{:04X}]", code);
        } else if (c == '\\') roff += "\\(rs";
        else if (c == '-') roff += "\\-";
        else if (c == '`') roff += "\\(ga";
        else if (c == '\'') roff += "\\(aq";
        else if (c == '^') roff += "\\(ha";
        else if (c == '~') roff += "\\(ti";
        else if (c == '"') roff += "\\(dq";
        else if (c == '.' && (i == 0 || text[i - 1] == '\n')) roff += "\\&.";
        else roff += c;
    }
    return roff;
}

/// Lines of a paragraph as they are; one that is indented stands by itself.
std::string paragraph(const std::string& text) {
    std::string roff;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find_first_not_of(' ');
        if (first == line.npos) continue;
        if (first > 0) roff += ".PP\n";
        roff += roff_text(line.substr(first)) + "\n";
    }
    return roff;
}

std::string upper(std::string text) {
    for (char& c : text) c = char(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string title(const std::string& name, const std::string& brief) {
    return fmt::format(".TH {} 1 \"\" \"{}\" \"fovea\"\n.SH NAME\n{} \\- {}\n",
                       roff_text(upper(name)), roff_text(name_and_version()), roff_text(name),
                       roff_text(brief));
}

std::string exit_status() {
    const std::string text = kExitStatus;
    return ".SH EXIT STATUS\n" + paragraph(text.substr(text.find(": ") + 2));
}

std::string environment() {
    std::string roff = ".SH ENVIRONMENT\n";
    for (const bool of_programs : {false, true}) {
        if (of_programs) roff += ".PP\nBuilt programs read these too:\n";
        for (const EnvironmentVariable& variable : environment_variables())
            if (variable.of_programs == of_programs)
                roff += fmt::format(".TP\n.B {}\n{}", roff_text(variable.name),
                                    paragraph(variable.what));
    }
    return roff;
}

std::string option_item(const OptionText& option) {
    std::string names = roff_text("--" + option.name);
    if (option.short_name) names = roff_text(fmt::format("-{}", option.short_name)) + ", " + names;
    return fmt::format(".TP\n\\fB{}\\fR{}\n{}", names,
                       option.value.empty() ? "" : " \\fI" + roff_text(option.value) + "\\fR",
                       paragraph(option.help));
}

}  // namespace

std::string man_page() {
    std::string roff = title("fovea", "models as C++ functions, written out as fused C++ and PTX") +
                       ".SH SYNOPSIS\n.B fovea\n.I SUBCOMMAND\n\\&...\n.SH DESCRIPTION\n" +
                       paragraph(kWhatItDoes) + ".SH SUBCOMMANDS\n";
    for (const auto make : commands()) {
        const Usage usage = make().usage;
        roff += fmt::format(".TP\n.BR fovea\\-{} (1)\n{}\n", roff_text(usage.command),
                            roff_text(usage.brief));
    }
    return roff + ".PP\n" + paragraph(kOverviewEnd) + environment() + exit_status();
}

std::string man_page(const Command& command) {
    const Usage& usage = command.usage;
    std::string roff = title("fovea-" + usage.command, usage.brief) +
                       fmt::format(".SH SYNOPSIS\n.B fovea {}\n", roff_text(usage.command));
    if (!usage.positional.empty()) roff += fmt::format(".I {}\n", roff_text(usage.positional));
    roff += "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" + paragraph(usage.summary) + ".SH OPTIONS\n";
    for (const OptionText& option : options_of(command)) roff += option_item(option);
    roff += ".SH EXAMPLES\n";
    for (const Example& example : usage.examples)
        roff += fmt::format("{}{}:\n.PP\n.in +4\n.nf\n{}\n.fi\n.in\n",
                            &example == usage.examples.data() ? "" : ".PP\n",
                            roff_text(example.what), roff_text(example.command));
    return roff + exit_status() + ".SH SEE ALSO\n.BR fovea (1)\n";
}

}  // namespace fovea::tool
