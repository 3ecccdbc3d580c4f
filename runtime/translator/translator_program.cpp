// The main function of a built translator.
#include "../error.h"
#include "../files/lost_pages.h"
#include "../main.h"
#include "../runner/program_version.h"
#include "translator.h"

namespace fovea::runtime {

int translator_program(int argc, char** argv, const char* name, ModelFunction model,
                       const char* written_by, const char* compiled_by) {
    report_lost_pages(argc > 0 ? argv[0] : name);
    return report_errors(argc > 0 ? argv[0] : name, [&] {
        if (asks_for_version(argc, argv)) return print_version(model(), written_by, compiled_by);
        return translator_main(argc, argv, model());
    });
}

}  // namespace fovea::runtime
