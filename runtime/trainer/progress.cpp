// Drawing of progress.
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace fovea::runtime {

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

Progress::Progress(std::string label, std::int64_t total)
    : Progress(std::move(label), total, stderr_is_terminal() ? Style::bar : Style::lines, stderr) {}

Progress::Progress(std::string label, std::int64_t total, Style style, std::FILE* file)
    : label_(std::move(label)),
      total_(std::max<std::int64_t>(total, 1)),
      style_(style),
      file_(file) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
    if (!drawn_) return;
    std::fputs("\r\x1b[K", file_);
    std::fflush(file_);
    drawn_ = false;
}

void Progress::update(std::int64_t done, const std::string& status) {
    done = std::clamp<std::int64_t>(done, 0, total_);
    if (style_ == Style::bar) {
        const auto now = std::chrono::steady_clock::now();
        if (drawn_ && done < total_ && now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        draw(done, status);
        return;
    }
    const std::int64_t tenths = done * 10 / total_;
    if (tenths <= tenths_) return;
    tenths_ = tenths;
    std::fprintf(file_, "%s: %lld/%lld%s%s\n", label_.c_str(), static_cast<long long>(done),
                 static_cast<long long>(total_), status.empty() ? "" : "  ", status.c_str());
    std::fflush(file_);
}

void Progress::draw(std::int64_t done, const std::string& status) {
    constexpr std::int64_t kWidth = 30;
    const std::int64_t filled = done * kWidth / total_;
    std::string bar(static_cast<std::size_t>(filled), '#');
    bar.append(static_cast<std::size_t>(kWidth - filled), '.');
    std::fprintf(file_, "\r\x1b[K%s [%s] %lld/%lld  %s", label_.c_str(), bar.c_str(),
                 static_cast<long long>(done), static_cast<long long>(total_), status.c_str());
    std::fflush(file_);
    drawn_ = true;
}

void Progress::finish(const std::string& status) {
    clear();
    std::fprintf(file_, "%s: %s\n", label_.c_str(), status.c_str());
    std::fflush(file_);
}

}  // namespace fovea::runtime
