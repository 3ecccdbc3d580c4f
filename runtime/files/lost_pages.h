// Mapped files that are cut off while a program reads them.
#pragma once

namespace fovea::runtime {

/// From now on, a page of a mapped file (map_file) that the file no longer has ends the process
/// with a sentence and status 2 where it is read, not by a bare SIGBUS. For programs, whose name it
/// takes and keeps: applications have signals of their own.
void report_lost_pages(const char* program);

}  // namespace fovea::runtime
