// The TSV format of the Tatoeba exports: source, target, and columns that are not needed here.
#include "read_pairs.h"

#include <algorithm>

#include "../error.h"
#include "../files/files.h"
#include "utf8.h"

namespace fovea::runtime {

namespace {

SentencePair parse_line(std::string_view line, const std::string& place) {
    const std::size_t invalid = find_invalid_utf8(line);
    if (invalid != line.size()) {
        throw UserError(place + ": not UTF-8 at byte " + std::to_string(invalid + 1) +
                        " of the line; convert the file to UTF-8");
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
        throw UserError(place +
                        ": one column, but a pair is a sentence, a tab and its translation");
    }
    const std::string_view rest = line.substr(tab + 1);
    return {std::string(line.substr(0, tab)), std::string(rest.substr(0, rest.find('\t')))};
}

}  // namespace

std::vector<SentencePair> parse_pairs(std::string_view text, const std::string& name,
                                      std::size_t limit) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::vector<SentencePair> pairs;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        pairs.push_back(parse_line(line, name + ":" + std::to_string(number)));
        if (pairs.size() == limit) break;
    }
    if (pairs.empty()) {
        throw UserError("'" + name +
                        "' holds no pair; a line is a sentence, a tab and its translation");
    }
    return pairs;
}

std::vector<SentencePair> read_pairs(const std::string& path, std::size_t limit) {
    const std::vector<std::byte> bytes = read_file(path);
    return parse_pairs({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, limit);
}

}  // namespace fovea::runtime
