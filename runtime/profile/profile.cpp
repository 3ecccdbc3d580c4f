#include "profile.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../error.h"
#include "../files/json.h"

namespace fovea::runtime {
namespace {

std::int64_t ticks() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What fills a form of numbers and short words.
template <class... Pieces>
std::string printed(const char* form, Pieces... pieces) {
    char text[240];
    std::snprintf(text, sizeof text, form, pieces...);
    return text;
}

double milliseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }
double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }
double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

void append_padded(std::string& line, const std::string& text, std::size_t width) {
    line += text;
    line.append(width - text.size() + 2, ' ');
}

}  // namespace

Profile* Profile::wanted() {
    // Never destroyed: threads may run programs while the process ends.
    static Profile* const profile = []() -> Profile* {
        const char* path = std::getenv("FOVEA_PROFILE");
        if (!path || !*path) return nullptr;
        static Profile* made = nullptr;
        made = new Profile(path);
        std::atexit([] { std::fputs(made->finish().c_str(), stderr); });
        return made;
    }();
    return profile;
}

Profile::Profile(const std::string& path, std::size_t most_spans)
    : most_spans_(most_spans), process_(::getpid()), started_(ticks()), file_(path) {}

std::size_t Profile::row(const std::string& program, const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    std::size_t number = 0;
    while (number < rows_.size() &&
           (rows_[number].program != program || rows_[number].kernel != kernel))
        ++number;
    if (number == rows_.size()) {
        rows_.push_back({program, kernel, {}});
        rows_.back().event = R"({"ph":"X","name":)" + Json(kernel).text() +
                             R"(,"args":{"program":)" + Json(program).text();
    }
    return number;
}

std::int64_t Profile::now() const { return ticks() - started_; }

const ThreadCounters& Profile::counters_of_thread() {
    thread_local const ThreadCounters counters(events_);
    return counters;
}

void Profile::add(ProfiledRun& run) {
    if (::getpid() != process_) return;  // the file is of the process that this one was forked from
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    ++runs_;
    const Span& whole = run.whole.spans.front();
    nanoseconds_of_runs_ += whole.end - whole.begin;
    run.number = static_cast<std::size_t>(++rows_[whole.row].calls);
    // Of a program without kernels, all of a run.
    if (run.tracks.empty()) rows_[whole.row].nanoseconds += whole.end - whole.begin;
    if (!run.has_counts) why_no_counters_ = counters_of_thread().why_not();
    add_track(run, run.whole);
    for (const Track& track : run.tracks) {
        add_track(run, track);
        for (const Span& span : track.spans) {
            Row& row = rows_[span.row];
            ++row.calls;
            row.nanoseconds += span.end - span.begin;
            row.has_counts = run.has_counts;
            for (std::size_t i = 0; i < kCountedEvents; ++i) row.counts[i] += span.counts[i];
        }
    }
}

void Profile::add_track(const ProfiledRun& run, const Track& track) {
    for (const Span& span : track.spans) {
        if (++spans_ > most_spans_) continue;
        std::string event = rows_[span.row].event;
        if (span.kernel >= 0) event += printed(R"(,"step":%d)", span.kernel);
        for (std::size_t i = 0; run.has_counts && span.kernel >= 0 && i < kCountedEvents; ++i)
            event +=
                printed(R"(,"%s":%lld)", events_[i].name, static_cast<long long>(span.counts[i]));
        event += printed(R"(,"run":%zu,"threads":%d},"cat":"%s",)"
                         R"("ts":%.3f,"dur":%.3f,"pid":%d,"tid":%d})",
                         run.number, run.threads, span.kernel < 0 ? "run" : "kernel",
                         microseconds(span.begin), microseconds(span.end - span.begin), process_,
                         track.thread);
        file_.add(event);
    }
}

std::string Profile::finish() {
    if (::getpid() != process_) return {};
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    if (file_.close()) return table();
    const int error = errno;
    return table() +
           format("FOVEA_PROFILE: cannot write '{}': {}\n", {file_.path(), std::strerror(error)});
}

/// A line for each kernel, that with the most time first.
std::string Profile::table() const {
    std::vector<const Row*> sorted;
    std::int64_t total = 0;
    bool has_counts = false;
    std::size_t program = std::strlen("program"), kernel = std::strlen("kernel");
    for (const Row& row : rows_) {
        if (row.nanoseconds == 0) continue;  // whole runs among them
        sorted.push_back(&row);
        total += row.nanoseconds;
        has_counts = has_counts || row.has_counts;
        program = std::max(program, row.program.size());
        kernel = std::max(kernel, row.kernel.size());
    }
    std::sort(sorted.begin(), sorted.end(), [](const Row* one, const Row* other) {
        return one->nanoseconds > other->nanoseconds;
    });
    std::string text;
    append_padded(text, "program", program);
    append_padded(text, "kernel", kernel);
    text += "    calls    total ms   share     mean us";
    text += has_counts ? " instr./cycle  misses/call\n" : "\n";
    for (const Row* row : sorted) {
        append_padded(text, row->program, program);
        append_padded(text, row->kernel, kernel);
        const auto calls = static_cast<double>(row->calls);
        text += printed("%9lld %11.3f %6.1f%% %11.2f", static_cast<long long>(row->calls),
                        milliseconds(row->nanoseconds),
                        100 * milliseconds(row->nanoseconds) / milliseconds(total),
                        microseconds(row->nanoseconds) / calls);
        const auto count = [&](std::size_t i) { return static_cast<double>(row->counts[i]); };
        if (row->has_counts)
            text += printed(" %12.2f %12.1f", ratio(count(1), count(0)), count(2) / calls);
        text += '\n';
    }
    text += printed("%zu runs in %.3f ms; ui.perfetto.dev opens ", runs_,
                    milliseconds(nanoseconds_of_runs_)) +
            file_.path() + "\n";
    if (spans_ > most_spans_) text += format("it has the first {} spans\n", {most_spans_});
    if (!why_no_counters_.empty())
        text += "without cycles, instructions and cache misses: " + why_no_counters_ + "\n";
    return text;
}

}  // namespace fovea::runtime
