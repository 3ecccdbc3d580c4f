#include "c_threads.h"

#include "../parallel/callers_threads.h"

namespace fovea::runtime {

std::unique_ptr<RegionThreads> threads_of(const fovea_threads* threads) {
    if (!threads) return nullptr;
    ParallelFor parallel_for;
    if (threads->run)
        parallel_for = [run = threads->run, context = threads->context](
                           int count, const std::function<void(int)>& task) {
            const auto call = [](void* work, int index) {
                (*static_cast<const std::function<void(int)>*>(work))(index);
            };
            run(context, count, call, const_cast<std::function<void(int)>*>(&task));
        };
    return std::make_unique<CallersThreads>(threads->count, std::move(parallel_for));
}

}  // namespace fovea::runtime
