// The main function of a built runner.
#include "../error.h"
#include "../main.h"
#include "runner_main.h"

namespace fovea::runtime {

int runner_program(int argc, char** argv, const char* name, ModelFunction model) {
    return report_errors(argc > 0 ? argv[0] : name,
                         [&] { return runner_main(argc, argv, model()); });
}

}  // namespace fovea::runtime
