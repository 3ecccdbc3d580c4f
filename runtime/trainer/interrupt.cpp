// Signal handlers that store a number.
#include "interrupt.h"

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace fovea::runtime {

namespace {

volatile std::sig_atomic_t received_signal = 0;

void note_signal(int number) { received_signal = number; }

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

InterruptNotice::InterruptNotice() {
    static_assert(std::size(kSignals) == std::extent_v<decltype(previous_)>);
    received_signal = 0;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
        sigaction(kSignals[i], nullptr, &previous_[i]);
        if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
}

InterruptNotice::~InterruptNotice() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
        sigaction(kSignals[i], &previous_[i], nullptr);
}

int InterruptNotice::received() { return received_signal; }

}  // namespace fovea::runtime
