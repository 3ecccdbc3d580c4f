#include "tools/fovea/device/embedded_code.h"

#include <fmt/format.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "runtime/device/code_json.h"
#include "runtime/files/files.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/ptx_resources.h"

namespace fovea::tool {

namespace {

constexpr const char* kSource = R"(#include "fovea/device/code_json.h"
#include "fovea/device/cuda_device.h"
#include "fovea/device/on_device.h"

namespace {{
constexpr const char* tables = R"tables({1})tables";
{2}}}  // namespace

fovea::runtime::Model {0}_on_cuda(const fovea::runtime::Model& model) {{
    using namespace fovea::runtime::device;
    static const auto code = std::make_shared<const Code>(read_code(tables, {{{3}}}));
    return on_device(model, open_cuda(), code);
}}
)";

constexpr const char* kRefusal = R"(#include "fovea/error.h"
#include "fovea/program.h"

fovea::runtime::Model {0}_on_cuda(const fovea::runtime::Model&) {{
    throw fovea::runtime::UserError(R"reason({1})reason");
}}
)";

}  // namespace

std::string embedded_device_code(const plan::Model& model, const std::string& name) {
    runtime::device::Code code;
    try {
        code = compile_for_devices(model, emit::ptx_architectures());
    } catch (const UserError& error) {
        return fmt::format(
            kRefusal, name,
            fmt::format("this program was built without kernels for GPUs: {}", error.what()));
    }
    std::string texts, list;
    for (const runtime::device::Module& module : code.modules) {
        texts += fmt::format("constexpr const char* {0} = R\"ptx({1})ptx\";\n", module.architecture,
                             module.text);
        list += fmt::format("{0}{{\"{1}\", {1}}}", list.empty() ? "" : ", ", module.architecture);
    }
    return fmt::format(kSource, name, runtime::device::launch_tables(code).text(), texts, list);
}

void write_ptx(const plan::Model& model, const std::string& name,
               const std::filesystem::path& folder) {
    const plan::Model whole = with_optimizer(model);
    const std::vector<emit::PtxModule> modules = emit_modules(whole, emit::ptx_architectures());
    for (const emit::PtxModule& module : modules) {
        const auto path = folder / fmt::format("{}.{}.ptx", name, module.architecture);
        runtime::write_file_atomically(path.string(), resource_table(module) + module.text);
    }
    const runtime::device::Code code = device_code(whole, modules);
    runtime::write_file_atomically((folder / (name + ".launches.json")).string(),
                                   runtime::device::launch_tables(code).pretty_text() + "\n");
}

}  // namespace fovea::tool
