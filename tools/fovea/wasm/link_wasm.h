// Linking for WebAssembly, by emscripten: one file of JavaScript that holds the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea::tool {

/// What runs the program: node, which gives it arguments and files as other programs have them; or
/// a page, which calls `functions` of C, and writes the files that it reads.
enum class WasmHost { node, page };

/// Links `objects` in `folder`, and returns the JavaScript. On a page `createFovea()` is a promise
/// of the program, with `ccall` and `FS`.
std::string link_wasm(const std::vector<std::string>& objects, const std::filesystem::path& folder,
                      WasmHost host, const std::vector<std::string>& functions = {});

}  // namespace fovea::tool
