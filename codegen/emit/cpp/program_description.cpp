// The checks of a program and its description, for the part of a model that is compiled once.
#include "codegen/emit/cpp/program_description.h"

#include <algorithm>

#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/program_text.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {

using plan::Model;
using plan::Program;
using plan::Role;
using plan::Step;
using plan::Tensor;

namespace {

class ProgramDescription {
  public:
    ProgramDescription(const Model& model, const Program& program, Writer& writer)
        : model_(model), program_(program), writer_(writer) {}

    void write() {
        const std::string name = identifier(program_.name);
        writer_.line("// Program " + program_.name + ".");
        const bool checks = write_checks("check_" + name);
        write_description(name, checks);
    }

  private:
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
        define_dims(model_, body.text(), writer_);
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
        const std::string whole = write_whole(name);
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
        else if (program_.reads_padding || !whole.empty()) writer_.line("{},");
        if (program_.reads_padding) writer_.line("true,  // it reads padding");
        else if (!whole.empty()) writer_.line("false,");
        if (!whole.empty()) writer_.line(whole + ",");
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

    /// The parameters that are to be there as floats.
    std::string write_whole(const std::string& program) {
        std::vector<std::string> rows;
        for (const int parameter : program_.whole) rows.push_back(std::to_string(parameter));
        return rows.empty() ? "" : write_rows("int", program + "_whole", rows, writer_);
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
};

}  // namespace

void write_program_description(const Model& model, const Program& program, Writer& writer) {
    ProgramDescription(model, program, writer).write();
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
