// The table of tensors: formulas, sizes at sample dims, offsets, totals.
#include "tools/fovea/plan_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "codegen/base/error.h"
#include "codegen/kernel/print.h"
#include "runtime/options.h"
#include "tools/fovea/arguments.h"

namespace fovea::tool {

namespace {

constexpr const char* kRoles[] = {"parameter", "input", "output", "buffer", "prepared", "none"};

std::string shape_text(const plan::Tensor& tensor) {
    std::vector<std::string> parts;
    for (const Dim& dim : tensor.shape) parts.push_back(kernel::text_of(dim));
    return fmt::format("{}[{}]", name_of(tensor.dtype), fmt::join(parts, ", "));
}

/// `4096*batch*src_len`
std::string bytes_formula(const plan::Tensor& tensor) {
    std::int64_t factor = size_of(tensor.dtype);
    std::string symbols;
    for (const Dim& dim : tensor.shape) {
        if (dim.is_static()) {
            factor *= dim.value();
            continue;
        }
        std::string text = kernel::text_of(dim);
        bool sum = text.find_first_of("+-") != std::string::npos;
        symbols += sum ? "*(" + text + ")" : "*" + text;
    }
    return std::to_string(factor) + symbols;
}

struct Totals {
    std::map<plan::Role, std::size_t> bytes;
    std::size_t separate = 0;  // of all buffers, were none to share memory
};

/// A state is an input and an output; the output lies over the old value in a session.
std::string role_of(const plan::Tensor& tensor) {
    if (!tensor.state) return kRoles[int(tensor.role)];
    return tensor.role == plan::Role::output ? "in place" : "state";
}

std::string row(const plan::Tensor& tensor, const SampleDims& dims, const std::string& offset) {
    std::string life =
        tensor.role == plan::Role::buffer ? fmt::format("{}-{}", tensor.first, tensor.last) : "";
    return fmt::format("{:<10}{:<48} {:<34} {:>26} {:>11} {:>9} {:>11}\n", role_of(tensor),
                       tensor.name, shape_text(tensor), bytes_formula(tensor),
                       bytes_of(tensor, dims), life, offset);
}

std::string unknown_dim(const std::string& name, const std::vector<std::string>& dims) {
    if (dims.empty()) return fmt::format("unknown dim '{}'; the model has none", name);
    const std::string nearest = did_you_mean(name, dims);
    return fmt::format("unknown dim '{}'{} dims: {}", name, nearest.empty() ? ";" : nearest,
                       comma_list(dims));
}

std::size_t used_kernels(const plan::Program& program) {
    std::set<int> kernels;
    for (const auto* steps : {&program.prepare, &program.steps})
        for (const plan::Step& step : *steps) kernels.insert(step.kernel);
    return kernels.size();
}

/// " at batch=2 len=3", nothing where all sizes are static.
std::string text_at(const SampleDims& dims) { return dims.empty() ? "" : " at " + text_of(dims); }

}  // namespace

std::string text_of(const SampleDims& dims) {
    std::vector<std::string> parts;
    for (const auto& [name, size] : dims) parts.push_back(fmt::format("{}={}", name, size));
    return fmt::format("{}", fmt::join(parts, " "));
}

SampleDims sample_dims(const plan::Model& model, const std::vector<std::string>& given) {
    SampleDims dims;
    for (const std::string& name : model.dims)
        dims[name] = name.find("batch") != name.npos   ? 64
                     : name.find("vocab") != name.npos ? 200
                                                       : 10;
    for (const std::string& text : given) {
        std::size_t equals = std::min(text.find('='), text.size());
        std::string name = text.substr(0, equals);
        if (!dims.count(name)) throw UserError(unknown_dim(name, model.dims));
        dims[name] = size_in(std::string_view(text).substr(std::min(equals + 1, text.size())),
                             "size", "DIM=N", text);
    }
    return dims;
}

std::int64_t value_of(const Dim& dim, const SampleDims& dims) {
    std::int64_t value = dim.constant();
    bool overflows = false;
    for (const DimTerm& term : dim.terms()) {
        std::int64_t product = term.factor;
        for (Symbol symbol : term.symbols) {
            if (!symbol) continue;
            const std::int64_t size = dims.at(kernel::text_of(Dim(detail::text_of(symbol))));
            overflows |= __builtin_mul_overflow(product, size, &product);
        }
        overflows |= __builtin_add_overflow(value, product, &value);
    }
    if (!overflows) return value;
    throw UserError(fmt::format("{} has more than 63 bits{}", kernel::text_of(dim), text_at(dims)));
}

std::size_t bytes_of(const plan::Tensor& tensor, const SampleDims& dims) {
    if (tensor.role == plan::Role::none) return 0;
    std::int64_t bytes = size_of(tensor.dtype);
    for (const Dim& dim : tensor.shape)
        if (__builtin_mul_overflow(bytes, value_of(dim, dims), &bytes))
            throw UserError(fmt::format("'{}', {}, has more bytes{} than a number of 63 bits",
                                        tensor.name, shape_text(tensor), text_at(dims)));
    return std::size_t(bytes);
}

void check_memory(const plan::Program& program, const SampleDims& dims) {
    double bytes = 0;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role != plan::Role::buffer) bytes += double(bytes_of(tensor, dims));
    const double there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
    if (bytes <= there) return;
    throw UserError(
        fmt::format("inputs, parameters and outputs of {} take {:.3g} GB{}; this "
                    "machine has {:.3g} GB: take smaller sizes",
                    program.name, bytes / 1e9, text_at(dims), there / 1e9));
}

std::vector<runtime::BufferLife> lives_of(const plan::Program& program, const SampleDims& dims) {
    std::vector<runtime::BufferLife> lives;
    std::vector<int> number_of;  // of tensors, among the buffers
    for (const plan::Tensor& tensor : program.tensors) {
        number_of.push_back(int(lives.size()));
        if (tensor.role != plan::Role::buffer) continue;
        const int over = tensor.over < 0 ? -1 : number_of[std::size_t(tensor.over)];
        lives.push_back({bytes_of(tensor, dims), tensor.first, tensor.last, over});
    }
    return lives;
}

std::string plan_table(const plan::Model& model, const plan::Program& program,
                       const SampleDims& dims) {
    const std::vector<runtime::BufferLife> lives = lives_of(program, dims);
    runtime::WorkspacePlan placed = runtime::plan_workspace(lives);
    std::string text =
        fmt::format("{}: program {}, at {}\n\n", model.name, program.name, text_of(dims));
    text += fmt::format("{:<10}{:<48} {:<34} {:>26} {:>11} {:>9} {:>11}\n", "role", "name", "shape",
                        "bytes", "at sizes", "steps", "offset");
    Totals totals;
    std::size_t buffer = 0;
    for (const plan::Tensor& tensor : program.tensors) {
        bool planned = tensor.role == plan::Role::buffer;
        text += row(tensor, dims, planned ? std::to_string(placed.offsets[buffer++]) : "");
        totals.bytes[tensor.role] += bytes_of(tensor, dims);
        if (planned) totals.separate += bytes_of(tensor, dims);
    }
    text += fmt::format("\nkernels     {} runs of {} kernels, {} runs when parameters change\n",
                        program.steps.size(), used_kernels(program), program.prepare.size());
    text += fmt::format("peak        {} bytes of workspace ({} without sharing, {} at least)\n",
                        placed.peak_bytes, totals.separate, runtime::largest_live_bytes(lives));
    text += fmt::format("shards      {}: {}\n", program.shards.count, program.shards.reason);
    for (plan::Role role :
         {plan::Role::parameter, plan::Role::prepared, plan::Role::input, plan::Role::output})
        text += fmt::format("{:<12}{} bytes\n", kRoles[int(role)], totals.bytes[role]);
    return text;
}

}  // namespace fovea::tool
