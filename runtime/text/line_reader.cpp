// A buffer over read(2), and poll(2) to see whether more is there.
#include "line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include <cerrno>
#include <cstring>

#include "../error.h"

namespace fovea::runtime {

std::vector<std::string> LineReader::read(std::size_t most) {
    std::vector<std::string> lines;
    std::string line;
    while (lines.size() < most) {
        if (take_line(line)) {
            lines.push_back(line);
        } else if (is_at_end_ || (!lines.empty() && !has_input())) {
            break;
        } else {
            fill();
        }
    }
    return lines;
}

bool LineReader::take_line(std::string& line) {
    std::size_t end = buffer_.find('\n', start_);
    if (end == std::string::npos) {
        if (!is_at_end_ || start_ == buffer_.size()) return false;
        end = buffer_.size();
    }
    line.assign(buffer_, start_, end - start_);
    start_ = std::min(end + 1, buffer_.size());
    return true;
}

bool LineReader::has_input() const {
    pollfd input = {file_, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;
}

void LineReader::fill() {
    constexpr std::size_t kChunk = 1 << 16;
    buffer_.erase(0, start_);
    start_ = 0;
    const std::size_t size = buffer_.size();
    buffer_.resize(size + kChunk);
    ssize_t count = 0;
    do {
        count = ::read(file_, buffer_.data() + size, kChunk);
    } while (count < 0 && errno == EINTR);
    buffer_.resize(size + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count < 0)
        throw UserError(std::string("cannot read standard input: ") + std::strerror(errno));
    is_at_end_ = count == 0;
}

}  // namespace fovea::runtime
