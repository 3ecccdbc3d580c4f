#include "tools/fovea/report/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codegen/kernel/print.h"
#include "tools/fovea/chart/svg.h"

namespace fovea::tool {

namespace {

constexpr double kMemoryWidth = 760, kMemoryHeight = 380;
constexpr Box kBox{64, 20, kMemoryWidth - 16, kMemoryHeight - 40};
constexpr std::string_view kBufferColours[] = {"#dfeef9", "#fdf3c5", "#e6f2d9", "#f9e0e0",
                                               "#e8e3f5", "#d8f0ee", "#f5e6d3"};

struct Buffer {
    std::string name;
    runtime::BufferLife life;
};

std::vector<Buffer> live_buffers(const plan::Program& program, const SampleDims& dims) {
    std::vector<Buffer> buffers;
    const std::vector<runtime::BufferLife> lives = lives_of(program, dims);
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::buffer)
            buffers.push_back({tensor.name, lives[buffers.size()]});
    return buffers;
}

class Chart {
  public:
    explicit Chart(std::vector<Buffer> buffers) : buffers_(std::move(buffers)) {
        std::vector<runtime::BufferLife> lives;
        for (const Buffer& buffer : buffers_) lives.push_back(buffer.life);
        placed_ = runtime::plan_workspace(lives);
        for (const Buffer& buffer : buffers_) last_ = std::max(last_, buffer.life.last);
        x_ = {0, double(last_ + 1), kBox.left, kBox.right};
        y_ = {0, 1.05 * double(placed_.peak_bytes) / unit_bytes(), kBox.bottom, kBox.top};
    }

    std::string draw() {
        draw_axes();
        for (std::size_t i = 0; i < buffers_.size(); ++i) draw_buffer(i);
        draw_sum();
        svg_.rectangle(kBox, R"(fill="none" stroke="#999")");
        return svg_.finish();
    }

  private:
    double unit_bytes() const { return placed_.peak_bytes >= 1'000'000 ? 1e6 : 1e3; }
    const char* unit() const { return placed_.peak_bytes >= 1'000'000 ? "MB" : "kB"; }

    void draw_axes() {
        for (const double value : y_.ticks(5)) {
            svg_.line({kBox.left, y_.at(value)}, {kBox.right, y_.at(value)}, R"(stroke="#e4e4e4")");
            svg_.text({kBox.left - 6, y_.at(value) + 4}, tick_text(value),
                      {.size = 11, .anchor = Anchor::end});
        }
        const int step = std::max(1, (last_ + 1) / 16);
        for (int phase = 0; phase <= last_; phase += step)
            svg_.text({x_.at(phase + 0.5), kBox.bottom + 16}, std::to_string(phase),
                      {.size = 11, .anchor = Anchor::middle});
        svg_.text({kBox.left, 14}, unit(), {.size = 12, .anchor = Anchor::end, .bold = true});
        svg_.text({(kBox.left + kBox.right) / 2, kMemoryHeight - 8}, "phase of the program",
                  {.size = 12, .anchor = Anchor::middle});
    }
    void draw_buffer(std::size_t i) {
        const Buffer& buffer = buffers_[i];
        if (buffer.life.bytes == 0) return;
        const double low = double(placed_.offsets[i]) / unit_bytes();
        const double high = low + double(buffer.life.bytes) / unit_bytes();
        const Box box{x_.at(buffer.life.first), y_.at(high), x_.at(buffer.life.last + 1),
                      y_.at(low)};
        svg_.begin_group(fmt::format("{}: {:.4g} {}, phases {} to {}", buffer.name,
                                     double(buffer.life.bytes) / unit_bytes(), unit(),
                                     buffer.life.first, buffer.life.last));
        svg_.rectangle(box, fmt::format(R"(fill="{}" stroke="#777" stroke-width="0.6")",
                                        kBufferColours[i % std::size(kBufferColours)]));
        if (box.bottom - box.top >= 12 && box.right - box.left >= text_width(buffer.name, 10) + 8)
            svg_.text({box.left + 4, (box.top + box.bottom) / 2 + 3.5}, buffer.name, {.size = 10});
        svg_.end_group();
    }
    /// What lives in each phase.
    void draw_sum() {
        std::vector<Point> points;
        for (int phase = 0; phase <= last_; ++phase) {
            double bytes = 0;
            for (const Buffer& buffer : buffers_)  // what lies over another counts behind it
                if (buffer.life.first + (buffer.life.over >= 0) <= phase &&
                    phase <= buffer.life.last)
                    bytes += double(buffer.life.bytes);
            const double y = y_.at(bytes / unit_bytes());
            points.push_back({x_.at(phase), y});
            points.push_back({x_.at(phase + 1), y});
        }
        svg_.polyline(points, R"(fill="none" stroke="#D55E00" stroke-width="2")");
    }

    std::vector<Buffer> buffers_;
    runtime::WorkspacePlan placed_;
    int last_ = 0;
    Scale x_, y_;
    Svg svg_{kMemoryWidth, kMemoryHeight};
};

}  // namespace

std::string memory_chart(const plan::Program& program, const SampleDims& dims) {
    std::vector<Buffer> buffers = live_buffers(program, dims);
    const bool any =
        std::ranges::any_of(buffers, [](const Buffer& buffer) { return buffer.life.bytes > 0; });
    return !any ? "" : Chart(std::move(buffers)).draw();
}

}  // namespace fovea::tool
