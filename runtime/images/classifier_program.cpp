// The main function of a built program that classifies images.
#include "../error.h"
#include "../files/lost_pages.h"
#include "../main.h"
#include "../runner/program_version.h"
#include "../runner/runner_main.h"
#include "classify_command.h"

namespace fovea::runtime {

int classifier_program(int argc, char** argv, const char* name, ModelFunction model,
                       const char* written_by, const char* compiled_by) {
    static constexpr RunnerCommand kClassifierCommands[] = {
        {"classify", "say what images show", classify_command}};
    report_lost_pages(argc > 0 ? argv[0] : name);
    return report_errors(argc > 0 ? argv[0] : name, [&] {
        if (asks_for_version(argc, argv)) return print_version(model(), written_by, compiled_by);
        return runner_main(argc, argv, model(), kClassifierCommands);
    });
}

}  // namespace fovea::runtime
