// The main function of a built translator.
#include "../error.h"
#include "../main.h"
#include "translator.h"

namespace fovea::runtime {

int translator_program(int argc, char** argv, const char* name, ModelFunction model) {
    return report_errors(argc > 0 ? argv[0] : name,
                         [&] { return translator_main(argc, argv, model()); });
}

}  // namespace fovea::runtime
