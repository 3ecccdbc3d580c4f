#include "tools/fovea/files/write_python.h"

#include "codegen/emit/cpp/interface/python_package.h"
#include "runtime/files/files.h"
#include "runtime/isa.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/files/make_folder.h"
#include "tools/fovea/files/runtime_archive.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

/// The library with the C interface of the model, which shows no other names: several models, of
/// any versions, are in one process.
void write_library(const plan::Model& model, const emit::Interface& interface,
                   const fs::path& library, const std::vector<std::string>& isas) {
    const Home home = find_home();
    TemporaryFolder folder;
    write_generated(model, folder.path(), isas);
    fs::create_directory_symlink(home.sources / "runtime", folder.path() / "fovea");
    const fs::path symbols = folder.path() / "symbols", made = folder.path() / "library.so";
    write_temporary(symbols, emit::exported_symbols(interface));
    std::vector<std::string> link = find_compiler_for(isas.front());
    link.insert(link.end(), {"-shared", "-fopenmp", "-Wl,--gc-sections", "-Wl,-s", "-Wl,-Bsymbolic",
                             "-Wl,--version-script=" + symbols.string(), "-o", made.string()});
    for (std::string& object :
         compile_objects(model, folder.path(), isas, {"-fPIC"}, {interface.name + "_c.cpp"}))
        link.push_back(std::move(object));
    link.push_back(runtime_archive_for(isas.front(), folder.path()).string());
    compile_generated(link);
    const std::vector<std::byte> bytes = runtime::read_file(made.string());
    runtime::write_file_atomically(library.string(),
                                   {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

void write_python(const plan::Model& model, const fs::path& folder,
                  const std::vector<std::string>& isas) {
    const emit::Interface interface = emit::interface_of(model);
    const fs::path package = folder / interface.name;
    make_folder(package);
    write_library(model, interface, package / ("lib" + interface.name + ".so"), isas);
    const std::string machine(runtime::machine_of(isas.front()));
    for (const emit::File& file : emit::python_package(interface, machine))
        runtime::write_file_atomically((folder / file.name).string(), file.text);
    for (const char* module : {"_arrays.py", "_fovea.py", "_jax.py", "_torch.py"})
        fs::copy_file(find_home().sources / "runtime/python" / module, package / module,
                      fs::copy_options::overwrite_existing);
}

}  // namespace fovea::tool
