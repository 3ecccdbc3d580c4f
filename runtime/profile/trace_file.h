// The file of FOVEA_PROFILE: events in the Chrome trace event format, one a line.
#pragma once

#include <string>
#include <string_view>

#include "../files/locked_file.h"

namespace fovea::runtime {

/// A JSON array of trace events, which ui.perfetto.dev and chrome://tracing open. It is written in
/// pieces, so that of a process that was killed the first events are there; readers take an array
/// without its end. Not for several threads at once.
class TraceFile {
  public:
    /// Replaces the file. Where another writer holds it, `trace.json` becomes `trace-2.json`, and
    /// so on. UserError when it cannot be written.
    explicit TraceFile(const std::string& path);
    const std::string& path() const { return path_; }
    /// One event: a JSON object.
    void add(std::string_view event);
    /// Writes what is there. False, with errno, from the first write on that failed.
    bool flush();
    /// Ends the array.
    bool close();

  private:
    std::string path_;
    Descriptor file_;
    std::string text_;
    bool is_first_ = true;
    int error_ = 0;
};

}  // namespace fovea::runtime
