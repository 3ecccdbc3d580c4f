// Numbers that all architectures share are one line.
#include "codegen/target/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::target {

namespace {

Target& target_of(Targets& targets, bool is_gpu) { return is_gpu ? targets.gpu : targets.cpu; }

void add_lowering(bool is_gpu, const std::vector<Field<Lowering>>& fields,
                  std::vector<ScheduleEntry>& entries) {
    for (const Field<Lowering>& field : fields)
        entries.push_back({(is_gpu ? "gpu." : "cpu.") + field.name, field.limits, field.about,
                           [is_gpu, set = field.set](Targets& targets, double value) {
                               set(target_of(targets, is_gpu).lowering, value);
                           }});
}

/// Without an architecture, of all.
void add_gpu(const std::string& architecture, std::vector<ScheduleEntry>& entries) {
    for (const Field<Gpu>& field : gpu_fields())
        entries.push_back({(architecture.empty() ? "gpu" : architecture) + "." + field.name,
                           field.limits, field.about,
                           [architecture, set = field.set](Targets& targets, double value) {
                               for (Gpu& gpu : targets.gpu.gpus)
                                   if (architecture.empty() || gpu.architecture == architecture)
                                       set(gpu, value);
                           }});
}

std::vector<ScheduleEntry> all_entries() {
    std::vector<ScheduleEntry> entries;
    add_lowering(false, lowering_fields(), entries);
    add_lowering(false, splitting_fields(), entries);
    for (const Field<Cpu>& field : cpu_fields())
        entries.push_back(
            {"cpu." + field.name, field.limits, field.about,
             [set = field.set](Targets& targets, double value) { set(targets.cpu.cpu, value); }});
    add_lowering(true, lowering_fields(), entries);
    add_gpu("", entries);
    for (const std::string& architecture : architectures()) add_gpu(architecture, entries);
    return entries;
}

template <class T>
std::string line_of(const std::string& start, const Field<T>& field, double value) {
    return fmt::format("{:<46} # {}: {}\n",
                       fmt::format("{}.{} = {}", start, field.name, text_of(value)), field.about,
                       text_of(field.limits));
}

template <class T>
std::string lines_of(const std::string& start, const std::vector<Field<T>>& fields,
                     const T& description) {
    std::string text;
    for (const Field<T>& field : fields) text += line_of(start, field, field.get(description));
    return text;
}

std::string lines_of_gpus(const std::vector<Gpu>& gpus) {
    std::string text;
    for (const Field<Gpu>& field : gpu_fields()) {
        const double first = field.get(gpus.front());
        const bool is_shared =
            std::ranges::all_of(gpus, [&](const Gpu& gpu) { return field.get(gpu) == first; });
        if (is_shared) text += line_of("gpu", field, first);
        else
            for (const Gpu& gpu : gpus) text += line_of(gpu.architecture, field, field.get(gpu));
    }
    return text;
}

}  // namespace

const std::vector<ScheduleEntry>& schedule_entries() {
    static const std::vector<ScheduleEntry> entries = all_entries();
    return entries;
}

std::string print(const Target& target) {
    if (!target.is_gpu())
        return lines_of("cpu", lowering_fields(), target.lowering) +
               lines_of("cpu", splitting_fields(), target.lowering) +
               lines_of("cpu", cpu_fields(), target.cpu);
    return lines_of("gpu", lowering_fields(), target.lowering) + lines_of_gpus(target.gpus);
}

}  // namespace fovea::target
