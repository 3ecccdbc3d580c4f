#include "program_profile.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "../description.h"
#include "../parallel/region.h"
#include "../parallel/shards.h"
#include "../threads.h"

namespace fovea::runtime {
namespace {

int thread_number() {
    thread_local const int number = ::gettid();
    return number;
}

}  // namespace

/// One run: where its threads are, and what they did.
class ProgramProfile::Watch {
  public:
    Watch(const ProgramProfile& self, const Call& call)
        : self_(self),
          profile_(self.profile_),
          marks_(call.shards ? static_cast<std::size_t>(call.shards->count) : 1),
          is_sharded_(call.shards) {
        if (profile_.counters_of_thread().why_not().empty()) find_counters();
        for (Mark& mark : marks_) mark.track.spans.reserve(self.kernels_.size() + 2);
        begin_ = profile_.now();
    }

    static void observe(void* state, int kernel) { static_cast<Watch*>(state)->observe(kernel); }

    void end() {
        const std::int64_t end = profile_.now();
        std::int64_t first = end, last = begin_;
        run_.threads = threads_;
        run_.has_counts = !counters_.empty();
        const std::size_t used = is_sharded_ ? next_.load() : 1;
        for (std::size_t i = 0; i < used; ++i) {
            Mark& mark = marks_[i];
            if (mark.track.spans.empty()) continue;
            first = std::min(first, mark.track.spans.front().begin);
            last = std::max(last, mark.track.spans.back().end);
            if (!is_sharded_) mark.track.thread = thread_number();
            run_.tracks.push_back(std::move(mark.track));
        }
        run_.whole = {thread_number(), {{self_.whole_, -1, begin_, end, {}}}};
        if (!run_.tracks.empty())
            run_.tracks.push_back(
                {thread_number(),
                 {{self_.before_, -1, begin_, first, {}}, {self_.after_, -1, last, end, {}}}});
        self_.profile_.add(run_);
    }

  private:
    /// A track, and when its next kernel began.
    struct Mark {
        Track track;
        std::int64_t time = 0;
        Counts counts = {};
    };

    /// Those of the threads that a region of this thread's has.
    void find_counters() {
        counters_.resize(static_cast<std::size_t>(thread_count()));
        counters_[0] = &profile_.counters_of_thread();
        if (counters_.size() == 1) return;
        Team team;
        run_region(team, [&] {
            const auto index = static_cast<std::size_t>(Team::part().index);
            if (index < counters_.size()) counters_[index] = &profile_.counters_of_thread();
        });
    }

    Counts counts() const {
        Counts sum = {};
        if (counters_.empty()) return sum;
        if (is_sharded_) return profile_.counters_of_thread().read();
        for (const ThreadCounters* counters : counters_) {
            if (!counters) continue;
            const Counts own = counters->read();
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
        }
        return sum;
    }

    /// Of the shard that the calling thread runs; a shard begins with the kernel -1.
    Mark& mark(int kernel) {
        thread_local std::size_t own = 0;
        if (!is_sharded_) return marks_[0];
        if (kernel < 0) {
            own = next_++;
            marks_[own].track.thread = thread_number();
        }
        return marks_[own];
    }

    /// Called by all threads of the region.
    void observe(int kernel) {
        if (is_sharded_) return record(kernel);
        team_.wait();
        if (Team::part().index == 0) record(kernel);
        team_.wait();
    }

    void record(int kernel) {
        const std::int64_t now = profile_.now();
        Mark& last = mark(kernel);
        if (kernel >= 0) {
            Span span{self_.kernels_[static_cast<std::size_t>(kernel)], kernel, last.time, now, {}};
            const Counts after = counts();
            for (std::size_t i = 0; i < after.size(); ++i)
                span.counts[i] = after[i] - last.counts[i];
            last.track.spans.push_back(span);
        }
        if (!is_sharded_) threads_ = Team::part().count;
        last.counts = counts();
        last.time = profile_.now();
    }

    const ProgramProfile& self_;
    Profile& profile_;
    Team team_ = Team::alone();  // it takes no part in measuring regions
    std::vector<const ThreadCounters*> counters_;  // null: not of this region
    std::vector<Mark> marks_;  // of the shards, in the order in which they begin
    std::atomic<std::size_t> next_ = 0;
    const bool is_sharded_;
    int threads_ = thread_count();
    std::int64_t begin_ = 0;
    ProfiledRun run_;
};

ProgramProfile::ProgramProfile(Profile& profile, const Model& model, const Program& program)
    : profile_(profile) {
    const std::string name = model.name + "." + program.name;
    whole_ = profile.row(name, program.name);
    before_ = profile.row(name, "(before the first kernel)");
    after_ = profile.row(name, "(after the last kernel)");
    for (const std::string& kernel : program.kernels) kernels_.push_back(profile.row(name, kernel));
}

void ProgramProfile::run(Call call, const std::function<void(const Call&)>& work) {
    Watch watch(*this, call);
    call.observe = Watch::observe;
    call.observe_state = &watch;
    call.observe_time = true;
    work(call);
    watch.end();
}

const ProfiledRuns kProfiledRuns = {
    [](const Model& model, const Program& program) {
        Profile* const profile = Profile::wanted();
        return profile ? std::make_shared<ProgramProfile>(*profile, model, program) : nullptr;
    },
    [](ProgramProfile& profile, const Call& call, const std::function<void(const Call&)>& work) {
        profile.run(call, work);
    }};

}  // namespace fovea::runtime
