#include "pixmap.h"

#include <string_view>

#include "../error.h"
#include "../files/mapped_file.h"

namespace fovea::runtime {

namespace {

constexpr std::int64_t kLongestSide = 65535;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads the numbers in front of the pixels.
class PixmapHeader {
  public:
    PixmapHeader(const std::string& path, std::string_view text)
        : path_(path), text_(text), at_(2) {}

    /// Behind blanks and comments; from 1 to `most`.
    std::int64_t number(const char* what, std::int64_t most) {
        skip_blanks();
        const std::size_t first = at_;
        std::int64_t value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            if (value <= most) value = value * 10 + (text_[at_] - '0');
        if (at_ == first)
            throw UserError("'{}' is no whole image: its {} is missing, behind {} bytes",
                            {path_, what, first});
        if (value < 1 || value > most)
            throw UserError("'{}' has a {} that is not from 1 to {}", {path_, what, most});
        return value;
    }
    /// The bytes after the one blank that ends the numbers.
    std::string_view rest() {
        if (at_ == text_.size() || !is_blank(text_[at_]))
            throw UserError("'{}' is no whole image: its numbers should end with one blank",
                            {path_});
        return text_.substr(at_ + 1);
    }

  private:
    void skip_blanks() {
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '#')
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
            else if (!is_blank(text_[at_])) return;
            if (at_ == text_.size()) return;
        }
    }

    const std::string& path_;
    std::string_view text_;
    std::size_t at_;
};

}  // namespace

Pixmap read_pixmap(const std::string& path) {
    const MappedFile file = map_file(path);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()),
                                file.bytes.size());
    if (!text.starts_with("P6") && !text.starts_with("P5"))
        throw UserError(
            "'{}' is no image that is read here: a binary PPM starts with P6, a binary PGM with P5 "
            "(`magick IMAGE -depth 8 IMAGE.ppm` makes one)",
            {path});
    Pixmap image;
    image.channels = text[1] == '6' ? 3 : 1;
    PixmapHeader header(path, text);
    image.width = header.number("width", kLongestSide);
    image.height = header.number("height", kLongestSide);
    if (const std::int64_t most = header.number("largest sample", 65535); most != 255)
        throw UserError("'{}' has samples from 0 to {}; those from 0 to 255 are read",
                        {path, most});
    const std::string_view pixels = header.rest();
    const auto expected = static_cast<std::uint64_t>(image.width * image.height * image.channels);
    if (pixels.size() != expected)
        throw UserError("'{}' should have {} bytes of pixels, {} x {} x {}, but has {}",
                        {path, expected, image.width, image.height, image.channels, pixels.size()});
    image.values.assign(pixels.begin(), pixels.end());
    return image;
}

}  // namespace fovea::runtime
