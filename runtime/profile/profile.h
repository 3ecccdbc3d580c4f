// What FOVEA_PROFILE=trace.json asks for: when each kernel ran, in a trace and in a table.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "hardware_counters.h"
#include "trace_file.h"

namespace fovea::runtime {

/// One call of a kernel, or the time of a run before or behind all kernels.
struct Span {
    std::size_t row = 0;  // of the table
    int kernel = -1;  // its number in the program
    std::int64_t begin = 0, end = 0;  // nanoseconds since the profile began
    Counts counts = {};  // of all threads that ran it
};

/// The spans of one thread's track, in the order of time.
struct Track {
    int thread = 0;  // the system's number of the thread
    std::vector<Span> spans;
};

/// A run of a program.
struct ProfiledRun {
    Track whole;  // one span around all others; `thread` is the caller
    std::vector<Track> tracks;
    std::size_t number = 0;  // runs of this program before it, and one
    int threads = 1;
    bool has_counts = false;
};

/// The profile of a process: one file and one table for all programs, sessions and threads.
class Profile {
  public:
    /// Null where the variable FOVEA_PROFILE names no file. UserError when it cannot be written.
    static Profile* wanted();
    /// The trace has the first `most_spans`, which viewers can take; the table has all. UserError
    /// when the file cannot be written.
    explicit Profile(const std::string& path, std::size_t most_spans = 1'000'000);

    /// The row of a program's kernel: that of before for names of before.
    std::size_t row(const std::string& program, const std::string& kernel);
    std::int64_t now() const;
    void add(ProfiledRun& run);
    /// Ends the file. The table, and a sentence when the file could not be written; nothing in a
    /// process that was forked.
    std::string finish();
    /// Of the calling thread, for as long as it lives.
    const ThreadCounters& counters_of_thread();

  private:
    struct Row {
        std::string program, kernel;
        std::string event;  // what its events begin with
        std::int64_t calls = 0, nanoseconds = 0;
        Counts counts = {};
        bool has_counts = false;
    };

    void add_track(const ProfiledRun& run, const Track& track);
    std::string table() const;

    const CountedEvents events_ = hardware_events();
    const std::size_t most_spans_;
    const int process_;
    const std::int64_t started_;
    std::mutex mutex_;  // of what follows
    TraceFile file_;
    std::vector<Row> rows_;
    std::size_t runs_ = 0, spans_ = 0;
    std::int64_t nanoseconds_of_runs_ = 0;
    std::string why_no_counters_;
    bool is_finished_ = false;
};

}  // namespace fovea::runtime
