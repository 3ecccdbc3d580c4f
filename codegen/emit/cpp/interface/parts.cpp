// Heads and bodies of the functions of the C interface.
#include "codegen/emit/cpp/interface/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fovea::emit {

namespace {

std::string named(const Interface& interface, std::string_view form) {
    return fmt::format(fmt::runtime(form), fmt::arg("name", interface.name));
}

/// `, {sizes->src_vocab, …}` of the call that draws parameters.
std::string drawn_sizes(const Interface& interface) {
    std::string text;
    for (const InterfaceDim& size : interface.sizes)
        text += (text.empty() ? "" : ", ") + std::string("sizes->") + size.name;
    return interface.sizes.empty() ? "" : "{" + text + "}, ";
}

std::vector<std::string> use_workspace(const Interface& interface) {
    std::vector<std::string> body = {
        "refuse_null(session, \"session\");",
        "const std::span given(static_cast<std::byte*>(memory), memory ? bytes : 0);"};
    for (const InterfaceProgram& program : interface.programs)
        body.push_back("session->" + program.method + "_.use_workspace(given);");
    return body;
}

std::vector<std::string> use_threads(const Interface& interface) {
    std::vector<std::string> body = {"refuse_null(session, \"session\");",
                                     "auto given = threads_of(threads);"};
    for (const InterfaceProgram& program : interface.programs)
        body.push_back("session->" + program.method + "_.use_threads(given.get());");
    body.emplace_back("session->threads = std::move(given);");
    return body;
}

CFunction get_sizes(const Interface& interface) {
    CFunction function{"The sizes that the parameters have.",
                       named(interface,
                             "int {name}_get_sizes(const {name}_weights* weights, "
                             "{name}_sizes* sizes)"),
                       {"refuse_null(weights, \"weights\");", "refuse_null(sizes, \"sizes\");",
                        "const auto& dims = weights->model.parameters()->dims();"}};
    for (const InterfaceDim& size : interface.sizes)
        function.body.push_back(fmt::format("sizes->{} = dims.at(\"{}\");", size.name,
                                            interface.model->dims[std::size_t(size.number)]));
    return function;
}

}  // namespace

CFunction bytes_function(const Interface& interface, const InterfaceProgram& program) {
    CFunction function{
        "The bytes that a call of " + program.method +
            " takes: of a workspace, and of memory of the session's own.",
        fmt::format(
            "int {0}_{1}(const {0}_session* session{2}, size_t* workspace, size_t* own)",
            interface.name, program.bytes,
            interface.dims.empty() ? "" : fmt::format(", const {}_dims* dims", interface.name)),
        {"refuse_null(session, \"session\");"}};
    if (!interface.dims.empty()) function.body.emplace_back("refuse_null(dims, \"dims\");");
    function.body.push_back(fmt::format("const CallBytes bytes = session->{}_.bytes_for({});",
                                        program.method, sizes_of_call(interface, "dims->")));
    function.body.emplace_back("if (workspace) *workspace = bytes.workspace;");
    function.body.emplace_back("if (own) *own = bytes.owned;");
    return function;
}

CNames::CNames(const Interface& interface, const InterfaceProgram& program)
    : function(interface.name + "_" + program.method),
      inputs(function + "_inputs"),
      outputs(function + "_outputs") {}

std::string sizes_of_call(const Interface& interface, const std::string& access) {
    std::vector<std::string> values(interface.model->dims.size(), "0");
    for (const InterfaceDim& dim : interface.dims)
        values[std::size_t(dim.number)] = access + dim.name;
    return fmt::format("std::array<std::int64_t, {}>{{{}}}", values.size(),
                       fmt::join(values, ", "));
}

std::string function_head(const Interface& interface, const InterfaceProgram& program,
                          bool is_training) {
    const CNames names(interface, program);
    const std::string owner = is_training ? "trainer" : "session";
    std::string head = fmt::format("int {0}({1}_{2}* {2}", names.function, interface.name, owner);
    if (!interface.dims.empty()) head += fmt::format(", const {}_dims* dims", interface.name);
    if (!program.inputs.empty()) head += fmt::format(", const {}* inputs", names.inputs);
    if (!program.outputs.empty()) head += fmt::format(", const {}* outputs", names.outputs);
    if (is_training)
        head += ", const fovea_step_rule* rule, uint64_t seed, fovea_step_outcome* outcome";
    else if (program.draws) head += ", uint64_t seed, uint64_t step";
    return head + ")";
}

std::vector<CFunction> functions_of(const Interface& interface) {
    const auto text = [&](std::string_view form) { return named(interface, form); };
    const std::string sizes = interface.sizes.empty() ? "" : text("const {name}_sizes* sizes, ");
    const std::string check = interface.sizes.empty() ? "" : "refuse_null(sizes, \"sizes\");";
    std::vector<CFunction> functions = {
        {"From a safetensors file, under the names of the parameters.",
         text("int {name}_load(const char* file, {name}_weights** weights)"),
         {"refuse_null(file, \"file\");", "refuse_null(weights, \"weights\");",
          text("*weights = new {name}_weights{{fovea::{name}::Model::load(file)}};")}},
        {"Drawn as PyTorch draws those of such layers, the same on every machine.",
         "int " + interface.name + "_random(" + sizes +
             text("uint64_t seed, {name}_weights** weights)"),
         {"refuse_null(weights, \"weights\");", check,
          text("*weights = new {name}_weights{{fovea::{name}::Model::random(") +
              drawn_sizes(interface) + "seed)};"}},
        {"Writes a safetensors file.",
         text("int {name}_save(const {name}_weights* weights, const char* file)"),
         {"refuse_null(weights, \"weights\");", "refuse_null(file, \"file\");",
          "weights->model.save(file);"}},
        {"The values of a parameter, row-major, until the weights are freed.",
         text("int {name}_parameter(const {name}_weights* weights, const char* parameter, "
              "const float** values, size_t* count)"),
         {"refuse_null(weights, \"weights\");", "refuse_null(parameter, \"parameter\");",
          "const std::span<const float> own = weights->model.parameter(parameter);",
          "if (values) *values = own.data();", "if (count) *count = own.size();"}},
        {"Writes a parameter; no session of these weights may run meanwhile.",
         text("int {name}_set_parameter({name}_weights* weights, const char* parameter, "
              "const float* values, size_t count)"),
         {"refuse_null(weights, \"weights\");", "refuse_null(parameter, \"parameter\");",
          "refuse_null(values, \"values\");",
          "weights->model.set_parameter(parameter, {values, count});"}},
        {"For who has written where the function above points: sessions see it from now on.",
         text("int {name}_parameters_changed({name}_weights* weights)"),
         {"refuse_null(weights, \"weights\");", "weights->model.parameters()->mark_changed();"}},
        {"Sessions and trainers that were made of them keep them.",
         text("void {name}_free_weights({name}_weights* weights)"),
         {"delete weights;"},
         false},
        {"Its calls run on so many threads; 0: as many as OpenMP has.",
         text("int {name}_new_session(const {name}_weights* weights, int threads, "
              "{name}_session** session)"),
         {"refuse_null(weights, \"weights\");", "refuse_null(session, \"session\");",
          text("*session = new {name}_session(weights->model, {{.threads = threads}});")}},
        {"From the next call on, what lives during a call alone lies in this memory of the caller, "
         "which sessions of which one runs at a time may share; null: in the session's own.",
         text("int {name}_use_workspace({name}_session* session, void* memory, size_t bytes)"),
         use_workspace(interface)},
        {"From the next call on, calls run on these threads; null: on OpenMP's.",
         text("int {name}_use_threads({name}_session* session, const fovea_threads* threads)"),
         use_threads(interface)},
        {"Null is nothing to free.",
         text("void {name}_free_session({name}_session* session)"),
         {"delete session;"},
         false}};
    if (!interface.sizes.empty()) functions.push_back(get_sizes(interface));
    if (interface.has_states())
        functions.push_back({"What the session keeps from call to call is zeros again.",
                             text("int {name}_reset({name}_session* session)"),
                             {"refuse_null(session, \"session\");", "session->reset();"}});
    for (CFunction& function : functions) std::erase(function.body, "");
    return functions;
}

std::vector<CFunction> functions_of_trainer(const Interface& interface) {
    const auto text = [&](std::string_view form) { return named(interface, form); };
    return {{"It moves the weights. Null for the optimizer: fovea_default_optimizer().",
             text("int {name}_new_trainer({name}_weights* weights, "
                  "const fovea_optimizer* optimizer, int threads, {name}_trainer** trainer)"),
             {"refuse_null(weights, \"weights\");", "refuse_null(trainer, \"trainer\");",
              text("*trainer = new {name}_trainer(weights->model, settings_of(optimizer), "
                   "{{.threads = threads}});")}},
            {"From the next step on, steps run on these threads; null: on OpenMP's.",
             text("int {name}_trainer_use_threads({name}_trainer* trainer, "
                  "const fovea_threads* threads)"),
             {"refuse_null(trainer, \"trainer\");", "auto given = threads_of(threads);",
              "trainer->" + interface.training[0].method + "_.use_threads(given.get());",
              "trainer->threads = std::move(given);"}},
            {"Null is nothing to free.",
             text("void {name}_free_trainer({name}_trainer* trainer)"),
             {"delete trainer;"},
             false}};
}

}  // namespace fovea::emit
