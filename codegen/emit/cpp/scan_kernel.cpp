// A scan: the kernels of its step, and the function that calls them step by step.
#include <algorithm>
#include <set>

#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"

namespace fovea::emit {

using namespace kernel;

namespace {

constexpr const char* kWait = "Team::wait_for_all();";

class ScanKernel {
  public:
    ScanKernel(const Kernel& kernel, const target::Target& target)
        : kernel_(kernel),
          target_(target),
          steps_(*kernel.steps),
          signature_(kernel),
          space_(identifier(kernel.name) + "_step"),
          step_(signature_.fresh("step")),
          mine_(signature_.fresh("mine")),
          rows_(signature_.fresh("rows")) {
        if (steps_.chunk) {
            own_ = name_of(steps_.positions);
            positions_ = signature_.fresh(own_);
        }
        if (steps_.rows) shared_ = name_of(steps_.rows);
        std::set<std::string> taken;
        for (Kernel own : steps_.kernels) {
            own.name = fresh_name(taken, own.name);
            kernels_.push_back(std::move(own));
        }
    }

    std::string run() {
        Writer body;
        body.indent();
        shared_.empty() ? write_together(body) : write_apart(body);
        Writer head;
        signature_.write_head(head, body.text());
        std::string text = "namespace " + space_ + " {\n\n";
        for (const Kernel& own : kernels_) text += cpp_kernel(own, target_) + "\n";
        return text + "}  // namespace " + space_ + "\n\n" + head.text() + body.text() + "}\n";
    }

  private:
    static std::string name_of(const Symbol& symbol) {
        Text text;
        text << symbol;
        return dim_name(std::string(text.view()));
    }
    /// Each thread takes its own rows through all steps.
    void write_apart(Writer& writer) {
        writer.line("const Range " + mine_ + " = my_share(" + shared_ + ");");
        writer.line("const i64 " + rows_ + " = " + mine_ + ".end - " + mine_ + ".begin;");
        writer.line("if (" + rows_ + " == 0) return;");
        writer.line("// A thread is alone with its " + shared_ + ", and waits for no other.");
        writer.line("const TeamMember alone;");
        for (const StepStart& start : steps_.starts)
            write_start(start, rows_ + " * " + spell(start.size).in(Binding::product), writer);
        open_loop(writer);
        for (const StepCall& call : steps_.calls) write_call(call, writer);
        writer.close();
    }
    /// All threads share the work of each kernel.
    void write_together(Writer& writer) {
        for (const StepStart& start : steps_.starts) {
            if (start.from.buffer < 0) {
                write_zeros(start, writer);
                continue;
            }
            open_shared_loops({}, signature_, writer);
            write_start(start, spell(start.size).text, writer);
            writer.close();
        }
        if (!steps_.starts.empty()) writer.line(kWait);
        open_loop(writer);
        for (const StepCall& call : steps_.calls) {
            if (call.waits) writer.line(kWait);
            write_call(call, writer);
        }
        writer.line(kWait);
        writer.close();
    }
    /// Each thread clears its share.
    void write_zeros(const StepStart& start, Writer& writer) const {
        writer.open("");
        writer.line("const Range " + mine_ + " = my_share(" + spell(start.size).text + ");");
        const DType type = kernel_.buffers[std::size_t(start.to.buffer)].dtype;
        writer.line("std::memset(" + place(start.to) + " + " + mine_ + ".begin, 0, sizeof(" +
                    element_type(type) + ") * std::size_t(" + mine_ + ".end - " + mine_ +
                    ".begin));");
        writer.close();
    }
    void write_start(const StepStart& start, const std::string& count, Writer& writer) const {
        const DType type = kernel_.buffers[std::size_t(start.to.buffer)].dtype;
        writer.line("std::memcpy(" + place(start.to) + ", " + place(start.from) + ", sizeof(" +
                    element_type(type) + ") * std::size_t(" + count + "));");
    }
    void open_loop(Writer& writer) const {
        const std::string count = spell(steps_.count).text;
        if (steps_.chunk) {
            const std::string chunk = std::to_string(steps_.chunk);
            const std::string left =
                spell(steps_.count).in(Binding::sum) + " - " + step_ + " * " + chunk;
            writer.open("for (i64 " + step_ + " = 0; " + step_ + " * " + chunk + " < " + count +
                        "; ++" + step_ + ")");
            writer.line("const i64 " + positions_ + " = " + left + " < " + chunk + " ? " + left +
                        " : " + chunk + ";");
            return;
        }
        writer.open(steps_.reverse ? "for (i64 " + step_ + " = " + count + "; " + step_ + "-- > 0;)"
                                   : "for (i64 " + step_ + " = 0; " + step_ + " < " + count +
                                         "; ++" + step_ + ")");
    }
    void write_call(const StepCall& call, Writer& writer) const {
        const Kernel& called = kernels_[std::size_t(call.kernel)];
        std::string text;
        const auto add = [&](const std::string& argument) {
            text += (text.empty() ? "" : ", ") + argument;
        };
        for (const StepArgument& argument : call.arguments) add(place(argument));
        for (const std::string& symbol : symbols_of(called)) add(given(dim_name(symbol)));
        writer.line(space_ + "::" + called.name + "(" + text + ");");
    }
    /// What a kernel of the step is given for a dim.
    std::string given(const std::string& dim) const {
        if (!shared_.empty() && dim == shared_) return rows_;
        return steps_.chunk && dim == own_ ? positions_ : dim;
    }
    std::string place(const StepArgument& argument) const {
        std::string text = signature_.buffer(argument.buffer);
        const auto add = [&](const Expression& offset) { text = at_offset(text, offset).text; };
        if (!(argument.offset == Dim(0))) add(spell(argument.offset));
        if (!(argument.step == Dim(0))) add(Expression{step_} * spell(argument.step));
        if (!(argument.row == Dim(0))) add(Expression{mine_ + ".begin"} * spell(argument.row));
        return text;
    }

    const Kernel& kernel_;
    const target::Target& target_;
    const Steps& steps_;
    Signature signature_;
    std::string space_, step_, mine_, rows_, shared_;
    std::string own_, positions_;  // of chunks: the dim of their size, and its variable
    std::vector<Kernel> kernels_;
};

}  // namespace

std::string cpp_scan_kernel(const Kernel& kernel, const target::Target& target) {
    return ScanKernel(kernel, target).run();
}

}  // namespace fovea::emit
