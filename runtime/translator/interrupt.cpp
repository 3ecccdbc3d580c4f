// Signal handlers that store a number.
#include "interrupt.h"

namespace fovea::runtime {

namespace {

volatile std::sig_atomic_t received_signal = 0;

void note_signal(int number) { received_signal = number; }

}  // namespace

InterruptNotice::InterruptNotice() {
    received_signal = 0;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previous_interrupt_);
    sigaction(SIGTERM, &action, &previous_terminate_);
}

InterruptNotice::~InterruptNotice() {
    sigaction(SIGINT, &previous_interrupt_, nullptr);
    sigaction(SIGTERM, &previous_terminate_, nullptr);
}

int InterruptNotice::received() { return received_signal; }

}  // namespace fovea::runtime
