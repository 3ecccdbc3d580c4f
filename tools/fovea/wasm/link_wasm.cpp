// emscripten's flags, each with its reason.
#include "tools/fovea/wasm/link_wasm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/files/files.h"
#include "tools/fovea/compiler.h"

namespace fovea::tool {

namespace {

constexpr const char* kFlags[] = {
    "-O1",  // JavaScript as it is: more takes modules that not every node finds
    "-fexceptions",               // what is wrong is thrown
    "-sSINGLE_FILE=1",            // pages that lie on a disk may not read other files
    "-sALLOW_MEMORY_GROWTH=1",    // the sizes of a call are not known before
};

constexpr const char* kOfNode[] = {
    "-sENVIRONMENT=node",
    "-sNODERAWFS=1",    // files of the machine
    "-sEXIT_RUNTIME=1",  // main's status is that of the process
};

constexpr const char* kOfPage[] = {
    "-sENVIRONMENT=web",         "-sMODULARIZE=1",
    "-sEXPORT_NAME=createFovea", "-sEXPORTED_RUNTIME_METHODS=ccall,FS",
    "-sFORCE_FILESYSTEM=1",      "--no-entry",
};

}  // namespace

std::string link_wasm(const std::vector<std::string>& objects, const std::filesystem::path& folder,
                      WasmHost host, const std::vector<std::string>& functions) {
    const std::string program = (folder / "program.js").string();
    std::vector<std::string> link = find_compiler_for("wasm");
    link.insert(link.end(), std::begin(kFlags), std::end(kFlags));
    if (host == WasmHost::node) {
        link.insert(link.end(), std::begin(kOfNode), std::end(kOfNode));
    } else {
        link.insert(link.end(), std::begin(kOfPage), std::end(kOfPage));
        link.push_back(fmt::format("-sEXPORTED_FUNCTIONS=_{}", fmt::join(functions, ",_")));
    }
    link.insert(link.end(), {"-o", program});
    link.insert(link.end(), objects.begin(), objects.end());
    compile_generated(link);
    const std::vector<std::byte> bytes = runtime::read_file(program);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace fovea::tool
