// Files of one library or program are compiled in batches, and any file may come to stand beside
// any other: a name that is local to a file stands in no other file of its target, and in no header
// beside them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct LocalName {
    std::string name;
    bool is_alias = false;  // which may be repeated as it stands
};

/// The lines of a file without the insides of raw strings, comments and directives.
std::vector<std::string> lines_of_code(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    std::string end;  // of the raw string that a line is in
    for (std::string line; std::getline(file, line);) {
        std::string code;
        for (std::size_t at = 0; at < line.size();) {
            if (!end.empty()) {
                const std::size_t found = line.find(end, at);
                at = found == std::string::npos ? line.size() : found + end.size();
                if (found != std::string::npos) end.clear();
                continue;
            }
            const std::size_t raw = line.find("R\"", at), open = line.find('(', raw);
            code += line.substr(at, raw - at);
            if (raw == std::string::npos || open == std::string::npos) break;
            end = ")" + line.substr(raw + 2, open - raw - 2) + "\"";
            at = open + 1;
        }
        if (!code.starts_with("//") && !code.starts_with("#")) lines.push_back(code);
    }
    return lines;
}

/// What stands before the first bracket or sign of a value, without the arguments of templates.
std::string head_of(std::string text) {
    static const std::regex arguments("<[^<>();]*>");
    for (std::string before; before != text;) {
        before = text;
        text = std::regex_replace(text, arguments, "");
    }
    return text.substr(0, text.find_first_of("=({[;"));
}

/// The names that a declaration gives: `constexpr int kA = 1, kB = 2;` gives two.
std::vector<LocalName> names_in(const std::string& text) {
    static const std::regex alias(R"(^(?:using|namespace) (\w+) = )");
    static const std::regex type(R"(^(?:struct|class|union|enum class|enum) (\w+))");
    static const std::regex last(R"([ *&](\w+)\s*$)"), more(R"(, (k[A-Z]\w*)(?= =|\{))");
    std::smatch found;
    if (std::regex_search(text, found, alias)) return {{found[1], true}};
    if (std::regex_search(text, found, type)) return {{found[1]}};
    const std::string head = head_of(text);
    if (head.starts_with("using ") || head.find("operator") != std::string::npos) return {};
    if (!std::regex_search(head, found, last)) return {};
    std::vector<LocalName> names{{found[1]}};
    if (text.find("const") == std::string::npos || text.find('(') < text.find('=')) return names;
    for (std::sregex_iterator it(text.begin(), text.end(), more), end; it != end; ++it)
        names.push_back({(*it)[1]});
    return names;
}

struct Declaration {
    std::string text;
    std::string scope;  // the namespace with a name that it is in
    bool is_local = false;
};

/// The declarations of a file outside of all but namespaces; each starts a line. Those in
/// namespaces without a name and static ones are local.
std::vector<Declaration> declarations(const std::vector<std::string>& lines) {
    static const std::regex attribute(R"(^\[\[[^\]]*\]\] )"),
        opening(R"(^namespace (?:([\w:]+) )?\{)");
    std::vector<Declaration> found;
    Declaration now;  // the one that goes on
    std::size_t opened = 0;  // the line of the namespace without a name, from 1; 0: in none
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        if (std::smatch name; std::regex_search(line, name, opening) && name[1].matched)
            now.scope = name[1];
        if (line == "namespace {") opened = i + 1;
        // clang-format leaves the comment out where there is one line in a namespace.
        if (line.starts_with("}  // namespace") || (line == "}" && i == opened + 1)) opened = 0;
        if (line.empty()) continue;
        const bool starts = std::string_view(" {}()").find(line[0]) == line.npos;
        if (starts) now.text.clear();
        if (!starts && now.text.empty()) continue;
        if (line.starts_with("template") || std::regex_search(line, opening)) continue;
        now.text += starts ? std::regex_replace(line, attribute, "")
                           : " " + line.substr(std::min(line.find_first_not_of(' '), line.size()));
        if (now.text.find_first_of("({;") == now.text.npos) continue;
        now.is_local = opened != 0 || now.text.starts_with("static ");
        found.push_back(now);
        now.text.clear();
    }
    return found;
}

std::vector<fs::path> files_of(const fs::path& list) {
    std::vector<fs::path> files;
    std::ifstream lines(list);
    for (std::string line; std::getline(lines, line);) files.emplace_back(line);
    return files;
}

std::string from_root(const fs::path& path) {
    return path.lexically_relative(FOVEA_SOURCE_DIR).string();
}

/// Names by their namespaces, `fovea::ptx::Row`, of the headers beside the files, to the headers.
std::map<std::string, std::string> names_of_headers(const std::vector<fs::path>& files) {
    std::map<std::string, std::string> names;
    std::set<fs::path> folders;
    for (const fs::path& file : files) folders.insert(file.parent_path());
    for (const fs::path& folder : folders)
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".h")
                for (const Declaration& given : declarations(lines_of_code(entry.path())))
                    for (const LocalName& name : names_in(given.text))
                        names[given.scope + "::" + name.name] = from_root(entry.path());
    return names;
}

void check_batch(const std::vector<fs::path>& files) {
    const std::map<std::string, std::string> headers = names_of_headers(files);
    std::map<std::string, std::pair<std::string, std::string>> known;  // file, declaration
    for (const fs::path& path : files) {
        const std::string file = from_root(path);
        for (const Declaration& given : declarations(lines_of_code(path))) {
            if (!given.is_local) continue;
            for (const LocalName& name : names_in(given.text)) {
                const auto [at, is_new] = known.insert({name.name, {file, given.text}});
                const auto& [other, text] = at->second;
                const bool may_stand =
                    is_new || other == file || (name.is_alias && text == given.text);
                CHECK_MESSAGE(may_stand, name.name << " of " << file << " stands in " << other);
                const auto header = headers.find(given.scope + "::" + name.name);
                CHECK_MESSAGE(header == headers.end(),
                              name.name << " of " << file << " stands in " << header->second);
            }
        }
    }
}

}  // namespace

TEST_CASE("a name that is local to a file stands nowhere else in its library") {
    int lists = 0;
    for (const fs::directory_entry& list : fs::directory_iterator(FOVEA_BINARY_DIR "/batches")) {
        check_batch(files_of(list.path()));
        ++lists;
    }
    CHECK(lists > 20);
}

TEST_CASE("names that are local to a file are found") {
    const std::vector<std::string> lines = {"namespace {",
                                            "int g_one = 0;",
                                            "}",
                                            "namespace fovea::ptx {",
                                            "void shared() {",
                                            "static int counter(int x) {",
                                            "namespace {",
                                            "using Words = std::vector<std::string>;",
                                            "struct Row {",
                                            "    int inner;",
                                            "};",
                                            "constexpr int kFirst = 1, kSecond = 2;",
                                            "[[noreturn]] void fail() {",
                                            "}",
                                            "template <class T>",
                                            "std::map<std::string, T> table_of(",
                                            "    const T& x) {",
                                            "}",
                                            "Row::Row(int x) {",
                                            "bool operator==(Row a, Row b) {",
                                            "}  // namespace",
                                            "int after = 3;"};
    std::string local, others;
    for (const Declaration& given : declarations(lines))
        for (const LocalName& name : names_in(given.text))
            (given.is_local ? local : others) += given.scope + "::" + name.name + " ";
    CHECK(local ==
          "::g_one fovea::ptx::counter fovea::ptx::Words fovea::ptx::Row fovea::ptx::kFirst "
          "fovea::ptx::kSecond fovea::ptx::fail fovea::ptx::table_of ");
    CHECK(others == "fovea::ptx::shared fovea::ptx::after ");
}
