#include "threads_option.h"

#include "../threads.h"

namespace fovea::runtime {

OptionSpec threads_option() {
    return {.name = "threads",
            .kind = OptionKind::positive_whole,
            .value_name = "N",
            .help = "number of threads (default OMP_NUM_THREADS, else one per core)",
            .most = 1024};
}

void use_threads(const Options& options) {
    set_threads(options.has("threads") ? options.integer("threads") : thread_count());
}

}  // namespace fovea::runtime
