// Lines of standard input, several at a time where they are there already.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fovea::runtime {

/// Reads a file descriptor. Whoever writes a line and waits for the answer gets it: `read` blocks
/// for one line, and takes more only when that needs no waiting.
class LineReader {
  public:
    explicit LineReader(int file) : file_(file) {}

    /// The next lines without their ends, 1 to `most`; none at the end. The last line needs no end.
    /// UserError when reading fails.
    std::vector<std::string> read(std::size_t most);

  private:
    bool take_line(std::string& line);
    bool has_input() const;
    void fill();

    int file_;
    bool is_at_end_ = false;
    std::string buffer_;
    std::size_t start_ = 0;  // of what is not taken yet
};

}  // namespace fovea::runtime
