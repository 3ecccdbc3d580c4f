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
    }

    void write_code() {
        const std::string name = identifier(program_.name);
        writer_.line("// Program " + program_.name + ".");
        if (!program_.prepare.empty()) write_prepare("prepare_" + name);
        write_steps("kernels_of_" + name);
        write_run(name);
    }

    void write_description() {
        const std::string name = identifier(program_.name);
        writer_.line("// Program " + program_.name + ".");
        const bool checks = write_checks("check_" + name);
        write_description(name, checks);
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
        define_dims(text);
        if (mentions(text, "replicas")) define_replicas();
        std::set<int> used;
        for (const Step& step : steps) used.insert(step.arguments.begin(), step.arguments.end());
        for (int tensor : used)
            if (has_memory(tensor)) define_tensor(tensor);
        if (mentions(text, "key")) writer_.line("const DropoutKey key{call.seed, call.step};");
    }

    std::string arguments(const kernel::Kernel& kernel, const Step& step) const {
        std::string text;
        const auto add = [&](const std::string& argument) {
            text += (text.empty() ? "" : ", ") + argument;
        };
        for (int tensor : step.arguments)
            add(has_memory(tensor) ? names_[std::size_t(tensor)] : "nullptr");
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

    void define_dims(const std::string& text) {
        for (std::size_t i = 0; i < model_.dims.size(); ++i)
            if (const std::string name = dim_name(model_.dims[i]); mentions(text, name))
                writer_.line("const i64 " + name + " = call.dims[" + std::to_string(i) + "];");
    }

    void define_replicas() {
        const plan::Replicas& replicas = program_.replicas;
        writer_.line("// Of steps that touch few numbers: each thread may have its own.");
        writer_.line("const Replicas<" + std::to_string(replicas.most) + ", " +
                     std::to_string(replicas.slots) + "> replicas(call, " +
                     spell(replicas.numbers).text + ");");
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

    static std::string check_call(const Tensor& tensor, const plan::Check& check,
                                  const std::string& address) {
        std::string shape, parts;
        for (const Dim& dim : tensor.shape) shape += (shape.empty() ? "" : ", ") + spell(dim).text;
        for (const plan::AxisPart& part : check.parts)
            parts += (parts.empty() ? ", {{" : ", {") + spell(part.first).text + ", " +
                     spell(part.count).text + "}";
        return (check.holds == plan::Holds::ids ? "check_ids(" : "check_lengths(") +
               quoted(tensor.name) + ", static_cast<const std::int32_t*>(" + address + "), {" +
               shape + "}, " + spell(check.limit).text + parts + (parts.empty() ? "" : "}") + ");";
    }

    bool write_checks(const std::string& function) {
        Writer body(1);
        for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
            const Tensor& tensor = program_.tensors[i];
            if (tensor.role != Role::input) continue;
            for (const plan::Check& check : tensor.checks)
                body.line(check_call(tensor, check, "call.tensors[" + std::to_string(i) + "]"));
        }
        for (const plan::Slice& slice : program_.slices)
            body.line("check_slice(" + quoted(slice.place) + ", " + spell(slice.first).text + ", " +
                      spell(slice.size).text + ", " + spell(slice.extent).text + ");");
        if (body.text().empty()) return false;
        writer_.open("void " + function + "(const Call& call)");
        define_dims(body.text());
        writer_.append(body);
        writer_.close();
        writer_.blank();
        return true;
    }

    void write_description(const std::string& name, bool checks) {
        const std::string inputs = write_table(name, "inputs", Role::input);
        const std::string outputs = write_table(name, "outputs", Role::output);
        const std::string buffers = write_buffers(name);
        const std::string kernels = write_kernels(name);
        const std::string needs = write_needs(name), computed = write_computed(name);
        writer_.line("constexpr ProgramRow " + name + "_program = {");
        writer_.indent();
        writer_.line(quoted(program_.name) + ",");
        for (const std::string& rows : {inputs, outputs, needs, buffers, kernels, computed})
            writer_.line(rows + ",");
        writer_.line(checks ? "check_" + name + "," : "nullptr,");
        if (program_.shards.count > 1)
            writer_.line("{" + std::to_string(program_.shards.count) + ", " +
                         std::to_string(number_of(program_.shards.sequences)) + ", " +
                         std::to_string(program_.shards.most_floats) + ", &kShardedRuns},");
        else if (program_.reads_padding) writer_.line("{},");
        if (program_.reads_padding) writer_.line("true,  // it reads padding");
        writer_.unindent();
        writer_.line("};");
        writer_.blank();
    }

    std::size_t number_of(const Dim& symbol) const {
        const auto found =
            std::find(model_.dims.begin(), model_.dims.end(), kernel::text_of(symbol));
        return std::size_t(found - model_.dims.begin());
    }

    std::string write_table(const std::string& program, const std::string& what, Role role) {
        std::vector<std::string> rows;
        for (const Tensor& tensor : program_.tensors)
            if (tensor.role == role)
                rows.push_back(beginning_of(tensor) + tensor_fields(tensor) + tensor.name);
        return write_texts(program + "_" + what, rows, writer_);
    }

    /// `state `, or the phase that writes an output first, where that is not the first of all.
    static std::string beginning_of(const Tensor& tensor) {
        if (tensor.state) return "state ";
        return tensor.first > 0 ? std::to_string(tensor.first) + " " : "";
    }

    std::int64_t number_of_buffer(int tensor) const {
        return std::count_if(
            program_.tensors.begin(), program_.tensors.begin() + tensor, [](const Tensor& before) {
                return before.role == Role::buffer || before.role == Role::prepared;
            });
    }

    std::string write_buffers(const std::string& program) {
        std::vector<std::string> rows;
        for (const Tensor& tensor : program_.tensors) {
            if (tensor.role != Role::buffer && tensor.role != Role::prepared) continue;
            std::string phases =
                std::to_string(tensor.first) + " " + std::to_string(tensor.last) + " ";
            if (tensor.over >= 0)
                phases += "over " + std::to_string(number_of_buffer(tensor.over)) + " ";
            if (tensor.shared >= 0) phases = "shared " + std::to_string(tensor.shared) + " ";
            else if (tensor.role == Role::prepared) phases = "prepared ";
            rows.push_back(phases + tensor_fields(tensor) + tensor.name);
        }
        return write_texts(program + "_buffers", rows, writer_);
    }

    /// What is checked after a run.
    std::string write_computed(const std::string& program) {
        std::vector<std::string> rows;
        int buffer = 0;
        for (const Tensor& tensor : program_.tensors) {
            if (tensor.role != Role::buffer && tensor.role != Role::prepared) continue;
            for (const plan::Check& check : tensor.checks)
                rows.push_back(std::to_string(buffer) +
                               (check.holds == plan::Holds::lengths ? " lengths " : " ids ") +
                               kernel::text_of(check.limit.without_label()) + " " + check.of);
            ++buffer;
        }
        return write_texts(program + "_computed", rows, writer_);
    }

    /// A row for each output: the inputs that it needs, and -1.
    std::string write_needs(const std::string& program) {
        std::vector<std::string> rows;
        for (const std::vector<int>& needed : program_.needs) {
            rows.emplace_back();
            for (int input : needed) rows.back() += std::to_string(input) + ", ";
            rows.back() += "-1";
        }
        return write_rows("int", program + "_needs", rows, writer_);
    }

    std::string write_kernels(const std::string& program) {
        std::vector<std::string> rows;
        for (const Step& step : program_.steps)
            rows.push_back(step.name.empty() ? model_.kernels[std::size_t(step.kernel)].name
                                             : step.name);
        return write_texts(program + "_kernels", rows, writer_);
    }

    const Model& model_;
    const Program& program_;
    Writer& writer_;
    std::vector<std::string> names_;
};

}  // namespace

void write_program_code(const Model& model, const Program& program, Writer& writer) {
    ProgramText(model, program, writer).write_code();
}

void write_program_description(const Model& model, const Program& program, Writer& writer) {
    ProgramText(model, program, writer).write_description();
}

std::string write_rows(const std::string& type, const std::string& name,
                       const std::vector<std::string>& rows, Writer& writer) {
    if (rows.empty()) return "{}";
    writer.line("constexpr " + type + " " + name + "[] = {");
    writer.indent();
    for (const std::string& row : rows) writer.line(row + ",");
    writer.unindent();
    writer.line("};");
    writer.blank();
    return name;
}

std::string write_texts(const std::string& name, const std::vector<std::string>& rows,
                        Writer& writer) {
    if (rows.empty()) return "\"\"";
    writer.line("constexpr char " + name + "[] =");
    writer.indent();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::string literal = quoted(rows[i]);
        literal.insert(literal.size() - 1, "\\0");
        writer.line(literal + (i + 1 == rows.size() ? ";" : ""));
    }
    writer.unindent();
    writer.blank();
    return name;
}

std::string tensor_fields(const Tensor& tensor) {
    return (tensor.storage ? text_of(tensor.storage) : std::string(name_of(tensor.dtype))) + " " +
           kernel::shape_text(tensor.shape) + " ";
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 32 || code == 127) {
            for (int shift : {6, 3, 0}) {
                if (shift == 6) result += '\\';
                result += char('0' + (code >> shift) % 8);
            }
            continue;
        }
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

}  // namespace fovea::emit
