// Writes functions over a Call: name the tensors, open one parallel region, call the kernels.
#include "codegen/emit/cpp/program_text.h"

#include <algorithm>
#include <set>

#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {

using plan::Model;
using plan::Program;
using plan::Role;
using plan::Step;
using plan::Tensor;

namespace {

class ProgramText {
  public:
    ProgramText(const Model& model, const Program& program, Writer& writer)
        : model_(model), program_(program), writer_(writer) {
        std::set<std::string> taken = names_of_programs();
        for (const std::string& dim : model.dims) taken.insert(dim_name(dim));
        for (const kernel::Kernel& kernel : model.kernels) taken.insert(kernel.name);
        for (const Tensor& tensor : program.tensors)
            names_.push_back(fresh_name(taken, tensor.name));
        for (const Tensor& tensor : program.tensors)
            if (tensor.role == Role::parameter)
                table_names_.push_back(fresh_name(taken, tensor.name + "_table"));
    }

    void write_code() {
        const std::string name = identifier(program_.name);
        writer_.line("// Program " + program_.name + ".");
        if (!program_.prepare.empty()) write_prepare("prepare_" + name);
        write_steps("kernels_of_" + name);
        write_run(name);
    }

  private:
    /// Functions that threads call inside the region: all together, or in shards each for itself.
    void write_prepare(const std::string& function) {
        write_together(function, calls(program_.prepare, 1, false), program_.prepare);
    }
    void write_steps(const std::string& function) {
        if (program_.shards.count > 1)
            writer_.line("// Of " + kernel::text_of(program_.shards.sequences) +
                         ": all, or those of a shard.");
        write_together(function, calls(program_.steps, 1, true), program_.steps);
    }
    void write_together(const std::string& function, const Writer& body,
                        const std::vector<Step>& steps) {
        const bool waits = mentions(body.text(), "team");
        writer_.open("void " + function + "(const runtime::Call& call, Team&" +
                     (waits ? " team)" : ")"));
        define_names(body.text(), steps);
        writer_.append(body);
        writer_.close();
        writer_.blank();
    }

    void write_run(const std::string& name) {
        writer_.open("void run_" + name + "(const runtime::Call& call)");
        const std::string prepare = program_.prepare.empty() ? "nullptr" : "prepare_" + name;
        const std::string batch = program_.shards.count > 1 ? "in_shards" : "whole";
        writer_.line("run_together<Batch::" + batch + ">(call, " + prepare + ", kernels_of_" +
                     name + ");");
        writer_.close();
        writer_.blank();
    }

    Writer calls(const std::vector<Step>& steps, int depth, bool observed) const {
        Writer body(depth);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const kernel::Kernel& kernel = model_.kernels[std::size_t(steps[i].kernel)];
            if (i > 0) write_wait(steps[i - 1], steps[i], body);
            if (identifier(steps[i].name) != kernel.name) body.line("// " + steps[i].name);
            write_call(steps[i], kernel.name + "(" + arguments(kernel, steps[i]) + ");", body);
            if (observed) body.line("observe(call, " + std::to_string(i) + ");");
        }
        return body;
    }

    static void write_wait(const Step& before, const Step& step, Writer& body) {
        if (step.phase != before.phase) body.line("team.wait();");
        else if (step.round != before.round) body.line("replicas.wait(team);");
    }
    void write_call(const Step& step, const std::string& call, Writer& body) const {
        if (!step.replicated) return body.line(shared_filling(step) + call);
        body.line("{");
        body.indent();
        body.line("const auto alone = replicas.alone();");
        body.line(call);
        body.close();
    }

    /// `if (fills(call, team, 217, 3)) `, before a step that prepares what is shared of a
    /// parameter.
    std::string shared_filling(const Step& step) const {
        const kernel::Kernel& kernel = model_.kernels[std::size_t(step.kernel)];
        int shared = -1, parameter = -1;
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            const int tensor = step.arguments[i];
            const bool is_shared = program_.tensors[std::size_t(tensor)].shared >= 0;
            (is_shared && kernel.buffers[i].written ? shared : parameter) = tensor;
        }
        if (shared < 0) return "";
        return "if (fills(call, team, " + std::to_string(shared) + ", " +
               std::to_string(parameter) + ")) ";
    }

    /// Dims, tensors and the key of dropout, as far as `text` mentions them.
    void define_names(const std::string& text, const std::vector<Step>& steps) {
        define_dims(model_, text, writer_);
        if (mentions(text, "replicas")) define_replicas();
        std::set<int> used, tables;
        for (const Step& step : steps)
            for (std::size_t i = 0; i < step.arguments.size(); ++i)
                (is_table(step, i) ? tables : used).insert(step.arguments[i]);
        for (int tensor : tables) define_table(tensor);
        for (int tensor : used)
            if (has_memory(tensor)) define_tensor(tensor);
        if (mentions(text, "key")) writer_.line("const DropoutKey key{call.seed, call.step};");
    }

    std::string arguments(const kernel::Kernel& kernel, const Step& step) const {
        std::string text;
        const auto add = [&](const std::string& argument) {
            text += (text.empty() ? "" : ", ") + argument;
        };
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            const int tensor = step.arguments[i];
            const auto& names = is_table(step, i) ? table_names_ : names_;
            add(has_memory(tensor) ? names[std::size_t(tensor)] : "nullptr");
        }
        for (const std::string& symbol : symbols_of(kernel)) add(dim_name(symbol));
        if (draws(kernel)) add("key");
        for (std::size_t i = 0; i < step.sites.size(); ++i) add(site_of(step, i));
        return text;
    }

    /// `3`; of a shard `{3, call.first * (4 * src_len)}`, the first of its rows.
    static std::string site_of(const Step& step, std::size_t i) {
        std::string site = std::to_string(step.sites[i]);
        if (step.site_rows.empty()) return site;
        const Expression rows = Expression{"call.first"} * spell(step.site_rows[i]);
        return "{" + site + ", " + rows.text + "}";
    }

    void define_replicas() {
        const plan::Replicas& replicas = program_.replicas;
        writer_.line("// Of steps that touch few numbers: each thread may have its own.");
        writer_.line("const Replicas<" + std::to_string(model_.target.lowering.replicated_numbers) +
                     ", " + std::to_string(replicas.slots) + "> replicas(call, " +
                     spell(replicas.numbers).text + ");");
    }

    /// Whether a step looks rows of a parameter up, which come first among the tensors.
    bool is_table(const Step& step, std::size_t argument) const {
        const auto tensor = std::size_t(step.arguments[argument]);
        const auto& buffers = model_.kernels[std::size_t(step.kernel)].buffers;
        return tensor < table_names_.size() && buffers[argument].looked_up;
    }

    void define_table(int number) {
        writer_.line("const TableFloats " + table_names_[std::size_t(number)] +
                     " = table_floats(call, " + std::to_string(number) + ");  // " +
                     kernel::shape_text(program_.tensors[std::size_t(number)].shape));
    }

    bool has_memory(int tensor) const {
        return program_.tensors[std::size_t(tensor)].role != Role::none;
    }

    void define_tensor(int number) {
        const Tensor& tensor = program_.tensors[std::size_t(number)];
        const bool read_only = tensor.role == Role::parameter || tensor.role == Role::input;
        if (tensor.storage) return define_weight(number);
        const std::string type = (read_only ? "const " : "") + element_type(tensor.dtype);
        const std::string at = std::to_string(number);
        const std::string address = tensor.replicated
                                        ? "replicas.tensor<" + type + ">(call, " + at + ", " +
                                              std::to_string(tensor.slot) + ")"
                                        : "tensor<" + type + ">(call, " + at + ")";
        writer_.line(type + "* const " + names_[std::size_t(number)] + " = " + address + ";  // " +
                     kernel::shape_text(tensor.shape));
    }

    void define_weight(int number) {
        const Tensor& tensor = program_.tensors[std::size_t(number)];
        const std::string type = pointer_type(
            {.name = {}, .dtype = tensor.dtype, .shape = tensor.shape, .storage = tensor.storage});
        writer_.line("const " + type + " " + names_[std::size_t(number)] +
                     "{tensor<const std::uint32_t>(call, " + std::to_string(number) + ")};  // " +
                     kernel::shape_text(tensor.shape));
    }

    const Model& model_;
    const Program& program_;
    Writer& writer_;
    std::vector<std::string> names_;
    std::vector<std::string> table_names_;  // of parameters, where rows of them are looked up
};

}  // namespace

void define_dims(const Model& model, const std::string& text, Writer& writer) {
    for (std::size_t i = 0; i < model.dims.size(); ++i)
        if (const std::string name = dim_name(model.dims[i]); mentions(text, name))
            writer.line("const i64 " + name + " = call.dims[" + std::to_string(i) + "];");
}

void write_program_code(const Model& model, const Program& program, Writer& writer) {
    ProgramText(model, program, writer).write_code();
}

}  // namespace fovea::emit
