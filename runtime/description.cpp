// A model from the tables of its generated file.
#include "description.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "isa.h"
#include "program.h"
#include "tables.h"

namespace fovea::runtime {

namespace {

std::vector<std::vector<int>> lists_of(const Table<int>& needs) {
    std::vector<std::vector<int>> lists(
        static_cast<std::size_t>(std::count(needs.begin(), needs.end(), -1)));
    const int* at = needs.begin();
    for (std::vector<int>& list : lists) {
        while (*at >= 0) list.push_back(*at++);
        ++at;
    }
    return lists;
}

void read_program(const ProgramRow& row, std::span<const std::string> dims, Program& program) {
    program.name = row.name;
    program.inputs = tensor_specs(row.inputs, dims);
    program.outputs = tensor_specs(row.outputs, dims);
    program.needs = lists_of(row.needs);
    program.buffers = buffer_specs(row.buffers, dims);
    program.kernels = names_of(row.kernels);
    program.computed = computed_checks(row.computed, dims);
    program.shards = row.shards;
    program.reads_padding = row.reads_padding;
    program.whole = {row.whole.rows, row.whole.count};
    if (row.check_inputs) program.check_inputs = row.check_inputs;
}

}  // namespace

const Model& new_model(const Description& description) {
    if (!description.profiled_runs && std::getenv("FOVEA_PROFILE"))
        std::fprintf(stderr, "FOVEA_PROFILE: model '%s' was built with FOVEA_SMALL, without it\n",
                     description.name);
    const IsaPart& part = choose_isa({description.parts.rows, description.parts.count});
    auto model = std::make_unique<Model>();
    model->name = description.name;
    model->isa = part.isa;
    model->profiled_runs = description.profiled_runs;
    model->open_sizes = description.open_sizes;
    model->stored_weights = description.stored_weights;
    model->verified_configs = description.verified_configs;
    model->shared_buffers = description.shared_buffers;
    model->file_weights = description.file_weights;
    model->dims = names_of(description.dims);
    model->settings = settings_of(description.settings);
    model->parameters = parameter_specs(description.parameters, model->dims);
    model->programs = std::vector<Program>(description.programs.count);
    for (std::size_t i = 0; i < description.programs.count; ++i) {
        model->programs[i].run = part.programs[i];
        read_program(description.programs.rows[i], model->dims, model->programs[i]);
    }
    model->config_fields = names_of(description.config_fields);
    const std::vector<std::string> aliases = names_of(description.aliases);
    model->aliases = std::vector<Alias>(aliases.size() / 2);
    for (std::size_t i = 0; i < model->aliases.size(); ++i)
        model->aliases[i] = {aliases[2 * i], aliases[2 * i + 1]};
    return *model.release();
}

}  // namespace fovea::runtime
