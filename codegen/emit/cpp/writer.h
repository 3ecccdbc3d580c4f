// Text of generated files: indented lines that are wrapped at 100 columns.
#pragma once

#include <string>
#include <string_view>

namespace fovea::emit {

class Writer {
  public:
    explicit Writer(int depth = 0) : depth_(depth) {}
    /// One line at the current indentation; long ones are broken after commas and operators.
    void line(std::string_view text);
    void blank() { text_ += "\n"; }
    /// A preprocessor line: never wrapped, indented like the code.
    void pragma(std::string_view text);
    /// `head {`, then everything until `close` one level deeper.
    void open(std::string_view head);
    void close(std::string_view tail = "}");
    void indent() { ++depth_; }
    void unindent() { --depth_; }
    /// Lines that another writer has written.
    void append(const Writer& other) { text_ += other.text_; }
    int depth() const { return depth_; }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    int depth_ = 0;
};

}  // namespace fovea::emit
