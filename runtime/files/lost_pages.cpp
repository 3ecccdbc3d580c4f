#include "lost_pages.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "mapped_file.h"

namespace fovea::runtime {

namespace {

const char* g_program = "";

/// As a handler of signals may: the sentence goes where errors go, as far as it can be written.
void say(const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

void end_at_lost_page(int signal, siginfo_t* fault, void*) {
    const char* const path = path_of_mapped(fault->si_addr);
    if (!path) {
        std::signal(signal, SIG_DFL);  // the read behind this handler ends the process
        return;
    }
    for (const char* part : {g_program, ": '", path,
                             "' was cut off while it was read: run this again, and replace a file "
                             "that a program reads (mv) in place of writing into it\n"})
        say(part);
    ::_exit(2);
}

}  // namespace

void report_lost_pages(const char* program) {
    const char* const slash = std::strrchr(program, '/');
    g_program = slash ? slash + 1 : program;
    struct sigaction action{};
    action.sa_sigaction = end_at_lost_page;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace fovea::runtime
