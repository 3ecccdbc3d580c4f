// Texts of others as they may reach a terminal or a line of output.
#pragma once

#include <string>
#include <string_view>

namespace fovea::runtime {

enum class LineFeeds { escaped, stay };

/// `text` with its control characters (U+0000 to U+001F, U+007F to U+009F) written as `\x1b`: they
/// would break a line or command a terminal. Other bytes stay as they are.
std::string printable(std::string_view text, LineFeeds line_feeds = LineFeeds::escaped);

}  // namespace fovea::runtime
