// The strict parser of JSON texts.
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "../error.h"
#include "json.h"
#include "number_text.h"

namespace fovea::runtime {
namespace {

constexpr int kLargestDepth = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t point) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0 | point >> 6);
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0 | point >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | point >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Bytes of the UTF-8 character at the start of `text`, or 0 when there is none (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !is_tail(1)) return 0;
    if (first < 0xE0) return 2;
    if (!is_tail(2)) return 0;
    if (first < 0xF0) {
        const bool is_overlong = first == 0xE0 && second < 0xA0;
        const bool is_surrogate = first == 0xED && second >= 0xA0;
        return is_overlong || is_surrogate ? 0 : 3;
    }
    const bool is_outside = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    return is_outside || !is_tail(3) ? 0 : 4;
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Json document() {
        if (text_.starts_with("\xEF\xBB\xBF"))
            fail("a byte order mark stands before the text: save it as UTF-8 without one");
        Json json = value(0);
        skip_space();
        if (at_ < text_.size()) fail("expected the end of the text, found {}", {found()});
        return json;
    }

  private:
    [[noreturn]] void fail(std::string_view form, std::initializer_list<Piece> pieces = {}) const {
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            if (text_[i] != '\n') continue;
            ++line;
            start = i + 1;
        }
        throw UserError("line {}, column {}: {}", {line, at_ - start + 1, format(form, pieces)});
    }

    std::string found() const {
        if (at_ >= text_.size()) return "the end of the text";
        const char c = text_[at_];
        if (c >= 0x20 && c < 0x7F) return std::string("'") + c + "'";
        constexpr std::string_view kHex = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_space() {
        while (at_ < text_.size() &&
               (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
            ++at_;
        }
    }

    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void expect(char c) {
        if (!take(c)) fail("expected '{}', found {}", {c, found()});
    }

    Json value(int depth) {
        if (depth > kLargestDepth) {
            fail("nested deeper than {} levels", {kLargestDepth});
        }
        skip_space();
        switch (peek()) {
            case '{': return object(depth);
            case '[': return array(depth);
            case '"': return string();
            case 't': return word("true", Json(true));
            case 'f': return word("false", Json(false));
            case 'n': return word("null", Json());
            default: break;
        }
        if (peek() == '-' || is_digit(peek())) return number();
        fail("expected a value, found {}", {found()});
    }

    Json word(std::string_view text, Json json) {
        if (text_.substr(at_, text.size()) != text) fail("expected a value, found {}", {found()});
        at_ += text.size();
        return json;
    }

    Json array(int depth) {
        expect('[');
        Json::Array items;
        skip_space();
        if (take(']')) return items;
        for (;;) {
            items.push_back(value(depth + 1));
            skip_space();
            if (take(']')) return items;
            if (!take(',')) fail("expected ',' or ']', found {}", {found()});
        }
    }

    Json object(int depth) {
        expect('{');
        Json::Object members;
        std::set<std::string> keys;
        skip_space();
        if (take('}')) return members;
        for (;;) {
            skip_space();
            if (peek() != '"') fail("expected a key in quotes, found {}", {found()});
            const std::size_t start = at_;
            std::string key = string();
            if (!keys.insert(key).second) {
                at_ = start;
                fail("the key \"{}\" stands twice in one object", {key});
            }
            skip_space();
            expect(':');
            Json member = value(depth + 1);
            members.emplace_back(std::move(key), std::move(member));
            skip_space();
            if (take('}')) return members;
            if (!take(',')) fail("expected ',' or '}', found {}", {found()});
        }
    }

    void digits() {
        if (!is_digit(peek())) fail("expected a digit, found {}", {found()});
        while (is_digit(peek())) ++at_;
    }

    Json number() {
        const std::size_t start = at_;
        take('-');
        if (!take('0')) digits();
        if (is_digit(peek())) fail("a number does not start with 0");
        bool is_whole = true;
        if (take('.')) {
            is_whole = false;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            is_whole = false;
            ++at_;
            if (!take('-')) take('+');
            digits();
        }
        const char* first = text_.data() + start;
        const char* last = text_.data() + at_;
        std::int64_t integer = 0;
        if (is_whole && std::from_chars(first, last, integer).ec == std::errc()) return integer;
        std::size_t length = 0;
        const double real = read_number(text_.substr(start, at_ - start), length);
        if (length == 0) {
            at_ = start;
            fail("a number that float64 does not hold");
        }
        return real;
    }

    std::uint32_t hex4() {
        std::uint32_t word = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const char c = peek();
            word <<= 4;
            if (is_digit(c)) {
                word |= static_cast<std::uint32_t>(c - '0');
            } else if (c >= 'a' && c <= 'f') {
                word |= static_cast<std::uint32_t>(c - 'a' + 10);
            } else if (c >= 'A' && c <= 'F') {
                word |= static_cast<std::uint32_t>(c - 'A' + 10);
            } else {
                fail("expected four hexadecimal digits after \\u, found {}", {found()});
            }
        }
        return word;
    }

    std::uint32_t unicode_escape() {
        const std::size_t start = at_;
        const std::uint32_t high = hex4();
        if (high < 0xD800 || high > 0xDFFF) return high;
        if (high < 0xDC00 && take('\\') && take('u')) {
            const std::uint32_t low = hex4();
            if (low >= 0xDC00 && low <= 0xDFFF) {
                return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            }
        }
        at_ = start;
        fail("half of a surrogate pair");
    }

    void escape(std::string& out) {
        const char c = peek();
        constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        const std::size_t letter = kLetters.find(c);
        if (at_ < text_.size() && letter != std::string_view::npos) {
            ++at_;
            out += kMeanings[letter];
        } else if (take('u')) {
            append_utf8(out, unicode_escape());
        } else {
            fail("an unknown escape, \\ followed by {}", {found()});
        }
    }

    std::string string() {
        expect('"');
        std::string out;
        while (!take('"')) {
            if (at_ >= text_.size()) fail("a string that does not end");
            if (static_cast<unsigned char>(peek()) < 0x20) {
                fail("a control character in a string: {}", {found()});
            }
            if (take('\\')) {
                escape(out);
                continue;
            }
            const std::size_t length = utf8_length(text_.substr(at_));
            if (length == 0) fail("not UTF-8: {}", {found()});
            out += text_.substr(at_, length);
            at_ += length;
        }
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Json parse_json(std::string_view text) { return Parser(text).document(); }

}  // namespace fovea::runtime
