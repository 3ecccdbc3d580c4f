// Progress of a long loop on standard error: a bar on a terminal, plain lines in a pipe.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace fovea::runtime {

/// Whether standard error is a terminal.
bool stderr_is_terminal();

/// One loop of `total` units. On a terminal a line is redrawn, at most ten times a second; in a
/// pipe a line is printed whenever another tenth is done.
class Progress {
  public:
    enum class Style { bar, lines };

    /// `label` stands before the bar ("epoch 3/30").
    Progress(std::string label, std::int64_t total);
    /// The same with a chosen style and file.
    Progress(std::string label, std::int64_t total, Style style, std::FILE* file);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Clears an unfinished bar, so that what is printed next starts on an empty line.
    ~Progress();

    /// `done` units are done (of `total`); `status` stands behind the bar ("loss 2.31").
    void update(std::int64_t done, const std::string& status = {});
    /// The last line: `label: status`. Replaces the bar.
    void finish(const std::string& status);

  private:
    void draw(std::int64_t done, const std::string& status);
    void clear();

    std::string label_;
    std::int64_t total_;
    Style style_;
    std::FILE* file_;
    std::int64_t tenths_ = 0;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace fovea::runtime
