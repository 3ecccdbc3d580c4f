// The main function of a built program that makes vectors of texts.
#include "../error.h"
#include "../files/lost_pages.h"
#include "../main.h"
#include "../runner/program_version.h"
#include "../runner/runner_main.h"
#include "embed_command.h"

namespace fovea::runtime {

int encoder_program(int argc, char** argv, const char* name, ModelFunction model,
                    const char* written_by, const char* compiled_by) {
    static constexpr RunnerCommand kEncoderCommands[] = {
        {"embed", "make vectors of texts", embed_command}};
    report_lost_pages(argc > 0 ? argv[0] : name);
    return report_errors(argc > 0 ? argv[0] : name, [&] {
        if (asks_for_version(argc, argv)) return print_version(model(), written_by, compiled_by);
        return runner_main(argc, argv, model(), kEncoderCommands);
    });
}

}  // namespace fovea::runtime
