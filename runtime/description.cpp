// A model from the tables of its generated file.
#include "description.h"

#include <memory>

#include "isa.h"
#include "program.h"
#include "tables.h"

namespace fovea::runtime {

namespace {

template <class Row>
std::span<const Row> rows_of(const Table<Row>& table) {
    return {table.rows, table.count};
}

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
    program.inputs = tensor_specs(rows_of(row.inputs), dims);
    program.outputs = tensor_specs(rows_of(row.outputs), dims);
    program.needs = lists_of(row.needs);
    program.buffers = buffer_specs(rows_of(row.buffers), dims);
    program.kernels.assign(row.kernels.begin(), row.kernels.end());
    program.computed = computed_checks(rows_of(row.computed), dims);
    program.run = run;
    if (row.check_inputs) program.check_inputs = row.check_inputs;
    return program;
}

}  // namespace

const Model& new_model(const Description& description) {
    const IsaPart& part = choose_isa(rows_of(description.parts));
    auto model = std::make_unique<Model>();
    model->name = description.name;
    model->isa = part.isa;
    model->dims.assign(description.dims.begin(), description.dims.end());
    for (const SettingRow& row : description.settings)
        model->settings.push_back({row.name, row.value});
    model->parameters = tensor_specs(rows_of(description.parameters), model->dims);
    const ProgramCode* run = part.programs;
    for (const ProgramRow& row : description.programs)
        model->programs.push_back(program_of(row, model->dims, *run++));
    for (const AliasRow& row : description.aliases)
        model->aliases.push_back({row.name, row.parameter});
    return *model.release();
}

}  // namespace fovea::runtime
