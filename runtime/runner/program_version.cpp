// What a built program says of itself.
#include "program_version.h"

#include <cstdio>
#include <string_view>

#include "../error.h"
#include "../files/weights_format.h"

namespace fovea::runtime {

bool asks_for_version(int argc, const char* const* argv) {
    return argc == 2 && std::string_view(argv[1]) == "--version";
}

int print_version(const Model& model, const char* written_by, const char* compiled_by) {
    std::printf(
        "%s, written by %s\ncompiled by %s; takes %s on this machine\nweights of format %d\n",
        model.name.c_str(), written_by, compiled_by, model.isa.c_str(), kWeightsFormat);
    if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
    return 0;
}

}  // namespace fovea::runtime
