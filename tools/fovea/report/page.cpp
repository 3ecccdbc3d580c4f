#include "tools/fovea/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "codegen/emit/emitter.h"
#include "tools/fovea/chart/graph_picture.h"
#include "tools/fovea/chart/svg.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/report/memory_chart.h"
#include "tools/fovea/report/style.h"
#include "tools/fovea/version.h"

namespace fovea::tool {

namespace {

std::string bytes_text(double bytes) {
    if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
    if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
    if (bytes >= 1e3) return fmt::format("{:.3g} kB", bytes / 1e3);
    return fmt::format("{:.0f} bytes", bytes);
}

std::string time_text(double ms) {
    if (ms >= 1000) return fmt::format("{:.3g} s", ms / 1000);
    if (ms >= 1) return fmt::format("{:.3g} ms", ms);
    return fmt::format("{:.3g} µs", ms * 1000);
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string fact(const std::string& value, const std::string& words) {
    return fmt::format("<li><b>{}</b>{}</li>\n", escaped(value), escaped(words));
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The functions of generated C++ by name, each with the comments above it.
std::map<std::string, std::string> functions_of(const plan::Model& model) {
    std::map<std::string, std::string> functions;
    std::string text, name;
    for (const emit::File& file : emit::make_cpp_emitter()->emit_model(model)) {
        if (file.name != model.name + ".cpp") continue;
        for (const std::string& line : lines_of(file.text)) {
            if (name.empty() && !line.starts_with("// ") && !line.starts_with("void "))
                text.clear();
            if (line.starts_with("void ")) name = line.substr(5, line.find('(') - 5);
            text += line + "\n";
            if (line != "}") continue;
            functions[name] = text;
            text.clear();
            name.clear();
        }
    }
    return functions;
}

class Page {
  public:
    explicit Page(const Report& report) : report_(report), program_(report.compiled->programs[0]) {
        for (const MeasuredStep& step : report.measured.steps) total_ms_ += step.ms;
        read_fusion();
    }

    std::string text() {
        html_ = fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>{0}: report</title>\n"
            "<style>{1}</style>\n</head>\n<body>\n",
            escaped(report_.model), kReportStyle);
        write_head();
        write_graphs();
        write_forms();
        write_fusion();
        write_kernels();
        write_memory();
        write_training();
        write_attention();
        return html_ + "</body>\n</html>\n";
    }

  private:
    template <class... Pieces>
    void add(fmt::format_string<Pieces...> form, Pieces&&... pieces) {
        fmt::format_to(std::back_inserter(html_), form, std::forward<Pieces>(pieces)...);
    }

    void write_head() {
        add("<h1>{}</h1>\n", escaped(report_.model));
        add("<p class=\"dim\">Program {} of {} at {}, by {}.</p>\n", escaped(report_.program),
            escaped(report_.source), escaped(text_of(report_.dims)), escaped(name_and_version()));
        html_ += "<ul class=\"facts\">\n";
        html_ += fact(time_text(report_.measured.ms), "a run");
        html_ += fact(std::to_string(report_.measured.steps.size()), "kernel calls a run");
        html_ += fact(bytes_text(report_.forms.on.peak_bytes), "memory at most");
        html_ += fact(tick_text(double(report_.parameters)), "parameters");
        html_ += "</ul>\n";
        const Machine& machine = report_.machine;
        add("<p class=\"dim\">{}, {}, {} thread{}: measured {:.4g} GFLOP/s of float32, {:.3g} GB/s "
            "from memory, and {:.3g} GB/s from as many bytes as the program has.</p>\n",
            escaped(machine.cpu), machine.isa, machine.threads, machine.threads == 1 ? "" : "s",
            machine.peak_gflops, machine.read_gb_s, report_.gb_s);
    }

    void write_picture(const std::string& words, const std::string& svg, bool open) {
        add("<details{}><summary>{}</summary>\n<div class=\"scroll\">{}</div></details>\n",
            open ? " open" : "", escaped(words), svg);
    }
    void write_graphs() {
        html_ += "<h2>Graph</h2>\n";
        write_picture("The model as it is written", graph_picture(report_.graph, report_.model),
                      true);
        write_picture(
            fmt::format(
                "The program {} after all passes, gradients beside forward: what is one kernel has "
                "one colour",
                report_.program),
            graph_picture(program_.optimized, report_.program, program_.fused.group_of), false);
    }

    void write_form_row(const char* what, const std::string& off, const std::string& on,
                        double ratio) {
        add("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2f}</td></tr>\n", what, off, on, ratio);
    }
    void write_forms() {
        const FormCost &off = report_.forms.off, &on = report_.forms.on;
        html_ +=
            "<h2>Fused and unfused</h2>\n<div class=\"scroll\"><table>\n"
            "<tr><th></th><th>unfused</th><th>fused</th><th>unfused / fused</th></tr>\n";
        write_form_row("time", time_text(off.ms), time_text(on.ms), off.ms / on.ms);
        write_form_row("bytes moved (counted)", bytes_text(off.bytes), bytes_text(on.bytes),
                       off.bytes / on.bytes);
        write_form_row("memory at most", bytes_text(off.peak_bytes), bytes_text(on.peak_bytes),
                       off.peak_bytes / on.peak_bytes);
        write_form_row("kernel calls", std::to_string(off.kernels), std::to_string(on.kernels),
                       double(off.kernels) / on.kernels);
        add("</table></div>\n<p class=\"dim\">Both give the same values, to {:.1e} of the largest "
            "one, and gradients to {:.1e}.</p>\n",
            report_.forms.value_error, report_.forms.gradient_error);
    }

    /// What `show --stage fused` says: the nodes of each group, and why others are none.
    void read_fusion() {
        bool in_group = false;
        for (const std::string& line : lines_of(fusion_text(program_))) {
            if (line.starts_with("group ")) groups_.emplace_back();
            else if (!line.starts_with(" ")) in_group = false, reasons_.push_back(line);
            if (line.starts_with("group ")) in_group = true;
            if (in_group) groups_.back() += line + "\n";
        }
    }
    void write_fusion() {
        std::size_t nodes = 0;
        for (const fuse::Group& group : program_.fused.groups) nodes += group.nodes.size();
        add("<h2>Fusion</h2>\n<p>{} operations are {} kernels.</p>\n", nodes,
            program_.fused.groups.size());
        if (reasons_.empty()) return;
        add("<details open><summary>Choices and reasons ({})</summary>\n<ul class=\"reasons\">\n",
            reasons_.size());
        for (const std::string& reason : reasons_) add("<li>{}</li>\n", escaped(reason));
        html_ += "</ul></details>\n";
    }

    void write_kernels() {
        html_ +=
            "<h2>Kernels</h2>\n<p>Each call in the order in which the program makes it: its "
            "time, its share of the run, and how near it comes to what the machine can do: its "
            "operations at the peak, or its bytes at the bandwidth of so much memory as the "
            "program has, whichever takes longer. What the kernel before left in a nearer cache "
            "can be faster than that.</p>\n";
        const auto functions = functions_of(report_.compiled->plan);
        for (const MeasuredStep& step : report_.measured.steps) write_kernel(step, functions);
    }
    void write_kernel(const MeasuredStep& step,
                      const std::map<std::string, std::string>& functions) {
        const double share = total_ms_ > 0 ? step.ms / total_ms_ : 0;
        const bool memory = step.is_bound_by_memory;
        add("<details class=\"kernel\"><summary><span>{}</span><span>{}</span><span>{}</span>"
            "<div class=\"bar\"><i style=\"width:{:.1f}%\"></i></div><span>{} of {}</span>"
            "</summary>\n",
            escaped(step.name), time_text(step.ms), percent_text(share), 100 * share,
            percent_text(step.share_of_limit()), memory ? "bandwidth" : "peak");
        add("<p class=\"dim\">Phase {}; {} read and written, {:.3g} MFLOP: {:.3g} GB/s, {:.3g} "
            "GFLOP/s; {} would be the machine's limit.",
            step.phase, bytes_text(step.bytes), step.flops / 1e6, step.bytes / step.ms / 1e6,
            step.flops / step.ms / 1e6, time_text(step.floor_ms));
        if (!step.sources.empty()) add(" From {}.", escaped(comma_list(step.sources)));
        html_ += "</p>\n";
        if (step.group) {
            const auto number = std::size_t(step.group - program_.fused.groups.data());
            if (number < groups_.size()) add("<pre>{}</pre>\n", escaped(groups_[number]));
        }
        const auto function = functions.find(step.kernel);
        if (function != functions.end()) add("<pre>{}</pre>\n", escaped(function->second));
        html_ += "</details>\n";
    }

    void write_memory() {
        const std::string chart = memory_chart(program_.plan, report_.dims);
        html_ += "<h2>Memory over time</h2>\n";
        if (chart.empty()) {
            html_ += "<p>The program has no buffers: kernels read inputs and write outputs.</p>\n";
            return;
        }
        add("<p>Buffers lie in one workspace; those that never live together share its memory. The "
            "line is what lives in each phase, between which threads wait for each other.</p>\n"
            "<div class=\"scroll fit\">{}</div>\n",
            chart);
    }

    void write_training() {
        if (report_.trainings.empty()) return;
        add("<h2>Training</h2>\n<div class=\"scroll fit\">{}</div>\n",
            training_chart(report_.trainings));
        html_ +=
            "<div class=\"scroll\"><table>\n<tr><th></th><th>epochs</th><th>last loss</th>"
            "<th>least loss held out</th><th>tokens / s</th></tr>\n";
        for (const LoggedTraining& training : report_.trainings) write_training_row(training);
        html_ += "</table></div>\n";
    }
    void write_training_row(const LoggedTraining& training) {
        const LoggedEpoch& last = training.epochs.back();
        std::string held_out = "–";
        double least = 1e300;
        for (const LoggedEpoch& epoch : training.epochs)
            if (epoch.validation_loss && *epoch.validation_loss < least) {
                least = *epoch.validation_loss;
                held_out = fmt::format("{:.4f} in epoch {:.6g}", least, epoch.epoch);
            }
        add("<tr><td>{}</td><td>{:.6g}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escaped(training.name), last.epoch,
            last.loss ? fmt::format("{:.4f}", *last.loss) : "not finite", held_out,
            last.tokens_per_second ? tick_text(std::round(*last.tokens_per_second)) : "–");
    }
    void write_attention() {
        if (report_.attentions.empty()) return;
        html_ +=
            "<h2>Attention</h2>\n<p>Weights of one input, module by module and head by head; a "
            "cell tells its weight when pointed at.</p>\n";
        for (const AttentionPicture& picture : report_.attentions)
            write_picture(picture.name, picture.svg, true);
    }

    const Report& report_;
    const CompiledProgram& program_;
    double total_ms_ = 0;
    std::vector<std::string> groups_, reasons_;
    std::string html_;
};

}  // namespace

std::string report_page(const Report& report) { return Page(report).text(); }

}  // namespace fovea::tool
