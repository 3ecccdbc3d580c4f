// A model from the tables of its generated file.
#include "description.h"

#include <memory>

#include "isa.h"
#include "program.h"
#include "tables.h"

namespace fovea::runtime {

namespace {

std::vector<std::vector<int>> lists_of(const Table<int>& needs) {
    std::vector<std::vector<int>> lists;
    bool begins = true;
    for (int input : needs) {
        if (begins) lists.emplace_back();
        begins = input < 0;
        if (!begins) lists.back().push_back(input);
    }
    return lists;
}

Program program_of(const ProgramRow& row, std::span<const std::string> dims, ProgramCode run) {
    Program program;
    program.name = row.name;
    program.inputs = tensor_specs(row.inputs, dims);
    program.outputs = tensor_specs(row.outputs, dims);
    program.needs = lists_of(row.needs);
    program.buffers = buffer_specs(row.buffers, dims);
    program.kernels = names_of(row.kernels);
    program.computed = computed_checks(row.computed, dims);
    program.run = run;
    program.shards = row.shards;
    program.reads_padding = row.reads_padding;
    if (row.check_inputs) program.check_inputs = row.check_inputs;
    return program;
}

}  // namespace

const Model& new_model(const Description& description) {
    const IsaPart& part = choose_isa({description.parts.rows, description.parts.count});
    auto model = std::make_unique<Model>();
    model->name = description.name;
    model->isa = part.isa;
    model->dims = names_of(description.dims);
    model->settings = settings_of(description.settings);
    model->parameters = parameter_specs(description.parameters, model->dims);
    const ProgramCode* run = part.programs;
    for (const ProgramRow& row : description.programs)
        model->programs.push_back(program_of(row, model->dims, *run++));
    const std::vector<std::string> aliases = names_of(description.aliases);
    for (std::size_t i = 0; i + 1 < aliases.size(); i += 2)
        model->aliases.push_back({aliases[i], aliases[i + 1]});
    return *model.release();
}

}  // namespace fovea::runtime
